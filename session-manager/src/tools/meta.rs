//! The `_meta` records of tool-call updates: which tool, whose subagent, why it did not run, and display
//! terminals. Only small facts; a tool's result never goes in here.

use acp_proto::ext::{
    ClaudeCodeMeta, MetaRecord, TerminalExit, TerminalInfo, TerminalOutput, TerminalOutputDelta,
};
use acp_proto::schema::Meta;

use super::{Exit, Presenting, TerminalSupport, ToolCallRef, in_terminal};

/// `_meta.claudeCode` of every update of a call.
pub(crate) fn of_call(name: &str, parent: Option<&str>) -> Meta {
    record(name, parent, None).into_meta()
}

/// The `_meta` of a call's announcement, which also opens its display terminal.
pub(super) fn of_announcement(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> Meta {
    let mut meta = of_call(call.name, call.parent);
    if in_terminal(call.name, ctx) {
        TerminalInfo {
            terminal_id: call.id.to_owned(),
        }
        .merge_into(&mut meta);
    }
    meta
}

/// The `_meta` of the update that ends a call.
pub(super) fn of_end(call: &ToolCallRef<'_>, non_execution: Option<&str>) -> Meta {
    record(call.name, call.parent, non_execution).into_meta()
}

/// Output for a display terminal, if there is any.
pub(super) fn terminal_output(id: &str, output: &str, support: TerminalSupport) -> Option<Meta> {
    if output.is_empty() {
        return None;
    }
    let (terminal_id, data) = (id.to_owned(), output.to_owned());
    match support {
        TerminalSupport::None => None,
        TerminalSupport::Output => Some(TerminalOutput { terminal_id, data }.into_meta()),
        TerminalSupport::Delta => Some(TerminalOutputDelta { terminal_id, data }.into_meta()),
    }
}

/// The end of a display terminal; nothing when its command goes on.
pub(super) fn terminal_exit(id: &str, exit: Exit) -> Meta {
    let exit_code = match exit {
        Exit::Code(code) => Some(code),
        Exit::Unknown => None,
        Exit::Later => return Meta::new(),
    };
    TerminalExit {
        terminal_id: id.to_owned(),
        exit_code,
        signal: None,
    }
    .into_meta()
}

fn record(name: &str, parent: Option<&str>, non_execution: Option<&str>) -> ClaudeCodeMeta {
    ClaudeCodeMeta {
        tool_name: Some(name.to_owned()),
        parent_tool_use_id: parent.map(str::to_owned),
        non_execution_kind: non_execution.map(str::to_owned),
        ..ClaudeCodeMeta::default()
    }
}
