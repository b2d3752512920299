//! How Claude's tool calls look to a client: title, kind, content and locations of a call, and what its result
//! adds. One file a tool family; live updates, permission requests and history all go through `view` and
//! `outcome`. Pure functions: they never fail (any JSON is a possible input) and never touch the file system.

mod agent;
pub(crate) mod blocks;
mod edit;
mod family;
mod generic;
mod input;
pub(crate) mod markdown;
mod meta;
mod notebook;
mod paths;
mod plan_mode;
mod question;
mod read;
mod search;
mod seen;
mod server;
mod shell;
mod skill;
pub(crate) mod todo;
mod updates;
mod web;
pub(crate) mod wording;
mod write;

use std::path::Path;

use acp_proto::schema::{ToolCallContent, ToolCallLocation, ToolKind};
use claude_sdk_bridge::messages::Content;
use serde_json::Value;

/// What the client can show of a shell command.
pub(crate) use acp_proto::ext::TerminalDisplay as TerminalSupport;
pub(crate) use family::Family;
pub(crate) use generic::own_part;
pub(crate) use meta::of_call as call_meta;
pub(crate) use seen::SeenFiles;
pub(crate) use server::{server_call, server_result};
pub(crate) use updates::{
    background_end, for_permission, growth, late_result, outcome, refinement, tool_call, unfinished,
};

/// For whom a call is shown, and what is known besides the call.
#[derive(Clone, Copy)]
pub(crate) struct Presenting<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) terminal: TerminalSupport,
    pub(crate) seen: Option<&'a SeenFiles>,
}

/// A tool call as Claude names it. The input may still be empty.
#[derive(Clone, Copy)]
pub(crate) struct ToolCallRef<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
    /// The call of the subagent that makes this one.
    pub(crate) parent: Option<&'a str>,
}

/// What came back for a call.
#[derive(Clone, Copy)]
pub(crate) struct ToolResultRef<'a> {
    /// What the model gets.
    pub(crate) content: &'a Content,
    pub(crate) is_error: bool,
    /// The structured result of the tool, when Claude sent one.
    pub(crate) structured: Option<&'a Value>,
    /// Why the call did not run, in Claude's words (`user-rejected`, `permission-rule`, …).
    pub(crate) non_execution: Option<&'a str>,
}

/// The appearance of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolView {
    pub(crate) title: String,
    pub(crate) kind: ToolKind,
    pub(crate) content: Vec<ToolCallContent>,
    /// `None` when the tool has no notion of files.
    pub(crate) locations: Option<Vec<ToolCallLocation>>,
}

/// What a result changes in the appearance of its call. `None` leaves a field as it is.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    title: Option<String>,
    content: Option<Vec<ToolCallContent>>,
    locations: Option<Vec<ToolCallLocation>>,
    terminal: Option<TerminalEnd>,
}

#[derive(Debug)]
struct TerminalEnd {
    output: String,
    exit: Exit,
}

/// How a command in a display terminal ended.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Code(i32),
    Unknown,
    /// The command goes on in the background; its exit is reported when the task ends.
    Later,
}

impl ToolView {
    fn new(title: impl Into<String>, kind: ToolKind) -> Self {
        Self {
            title: title.into(),
            kind,
            content: Vec::new(),
            locations: None,
        }
    }

    fn content(mut self, content: Vec<ToolCallContent>) -> Self {
        self.content = content;
        self
    }

    fn locations(mut self, locations: Vec<ToolCallLocation>) -> Self {
        self.locations = Some(locations);
        self
    }
}

/// How the call looks before it has a result.
pub(crate) fn view(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolView {
    match Family::of(call.name) {
        Family::Shell => shell::view(call, ctx),
        Family::Monitor => shell::watched(call),
        Family::Read => read::view(call, ctx),
        Family::Write => write::view(call, ctx),
        Family::Edit => edit::view(call, ctx),
        Family::Notebook => notebook::view(call, ctx),
        Family::Glob => search::glob(call, ctx),
        Family::Grep => search::grep(call),
        Family::List => search::list(call, ctx),
        Family::WebFetch => web::fetch(call),
        Family::WebSearch => web::search(call),
        Family::Agent => agent::view(call),
        Family::Skill => skill::view(call),
        Family::Todo => todo::view(call),
        Family::EnterPlan => plan_mode::enter(call),
        Family::ExitPlan => plan_mode::exit(call),
        Family::Question => question::view(call),
        Family::Findings => generic::findings(call),
        Family::Other => generic::view(call),
    }
}

/// Whether Claude only asks about a call of this tool: it is no tool of the model's and never has a result.
pub(crate) fn is_question_only(name: &str) -> bool {
    name == "SandboxNetworkAccess"
}

/// Whether the work of a call goes on after this successful result: a background command, a background agent.
pub(crate) fn goes_on(name: &str, result: &ToolResultRef<'_>) -> bool {
    let family = Family::of(name);
    (family == Family::Shell && shell::in_background(result))
        || (family == Family::Agent && agent::in_background(result))
}

fn in_terminal(name: &str, ctx: &Presenting<'_>) -> bool {
    Family::of(name) == Family::Shell && ctx.terminal != TerminalSupport::None
}

/// What a result adds to the appearance of its call.
fn rendered(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    if result.is_error {
        failure(call, result, ctx)
    } else {
        success(call, result, ctx)
    }
}

fn success(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    match Family::of(call.name) {
        Family::Shell => shell::success(call, result, ctx),
        Family::Read => read::success(call, result),
        Family::Write => write::success(call, result, ctx),
        Family::Edit => edit::success(call, result, ctx),
        Family::Notebook | Family::Skill | Family::Todo => Rendered::default(),
        Family::Monitor
        | Family::Glob
        | Family::Grep
        | Family::List
        | Family::WebFetch
        | Family::Findings
        | Family::Other => generic::success(result),
        Family::WebSearch => web::search_success(result),
        Family::Agent => agent::success(result),
        Family::EnterPlan => plan_mode::entered(),
        Family::ExitPlan => plan_mode::exited(result),
        Family::Question => question::success(result),
    }
}

fn failure(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>, ctx: &Presenting<'_>) -> Rendered {
    match Family::of(call.name) {
        Family::Shell => shell::failure(result, ctx),
        // What was proposed stays visible: a rejected change is what the user wants to look at.
        Family::Write | Family::Edit | Family::Notebook | Family::ExitPlan => {
            let mut content = view(call, ctx).content;
            content.extend(generic::failure(result).content.unwrap_or_default());
            Rendered {
                content: Some(content),
                ..Rendered::default()
            }
        }
        Family::Todo => Rendered::default(),
        Family::Monitor
        | Family::Read
        | Family::Glob
        | Family::Grep
        | Family::List
        | Family::WebFetch
        | Family::WebSearch
        | Family::Agent
        | Family::Skill
        | Family::EnterPlan
        | Family::Question
        | Family::Findings
        | Family::Other => generic::failure(result),
    }
}

#[cfg(test)]
mod tests;
