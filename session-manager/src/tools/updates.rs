//! The updates a tool call goes through: announced, refined, ended. Built from a family's view and from what its
//! result adds; which of them is due is the translator's business.

use acp_proto::schema::{ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields};

use serde_json::Value;

use super::blocks::{raw_output, text_content};
use super::meta::{of_announcement, of_call, of_end, terminal_exit, terminal_output};
use super::{
    Exit, Presenting, TerminalSupport, ToolCallRef, ToolResultRef, ToolView, in_terminal, rendered, view,
};

/// The announcement of a call: everything known about it, pending.
pub(crate) fn tool_call(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolCall {
    let view = view(call, ctx);
    ToolCall::new(call.id.to_owned(), view.title)
        .name(call.name.to_owned())
        .kind(view.kind)
        .status(ToolCallStatus::Pending)
        .content(view.content)
        .locations(view.locations.unwrap_or_default())
        .raw_input(raw_input(call))
        .meta(of_announcement(call, ctx))
}

/// A call in a permission request: what its announcement says. Only a subagent's call carries `_meta`.
pub(crate) fn for_permission(call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> ToolCallUpdate {
    let view = view(call, ctx);
    let fields = ToolCallUpdateFields::new()
        .title(view.title)
        .name(call.name.to_owned())
        .kind(view.kind)
        .status(ToolCallStatus::Pending)
        .content(view.content)
        .locations(view.locations)
        .raw_input(raw_input(call));
    let update = ToolCallUpdate::new(call.id.to_owned(), fields);
    match call.parent {
        Some(parent) => update.meta(of_call(call.name, Some(parent))),
        None => update,
    }
}

/// More of a call's input is known than when it looked like `before`: what looks different now.
pub(crate) fn refinement(call: &ToolCallRef<'_>, before: ToolView, ctx: &Presenting<'_>) -> ToolCallUpdate {
    let fields = changes(call, before, ctx).raw_input(raw_input(call));
    ToolCallUpdate::new(call.id.to_owned(), fields).meta(of_call(call.name, call.parent))
}

/// The same while the model still writes the input, which is no input yet. `None` where nothing looks different.
pub(crate) fn growth(
    call: &ToolCallRef<'_>,
    before: ToolView,
    ctx: &Presenting<'_>,
) -> Option<ToolCallUpdate> {
    let fields = changes(call, before, ctx);
    (fields != ToolCallUpdateFields::new())
        .then(|| ToolCallUpdate::new(call.id.to_owned(), fields).meta(of_call(call.name, call.parent)))
}

fn changes(call: &ToolCallRef<'_>, before: ToolView, ctx: &Presenting<'_>) -> ToolCallUpdateFields {
    let after = view(call, ctx);
    let mut fields = ToolCallUpdateFields::new();
    if after.title != before.title {
        fields = fields.title(after.title);
    }
    if after.kind != before.kind {
        fields = fields.kind(after.kind);
    }
    if after.content != before.content {
        fields = fields.content(after.content);
    }
    if after.locations != before.locations {
        fields = fields.locations(after.locations);
    }
    fields
}

/// The updates that end a call: completed or failed, with what the result adds to its appearance.
pub(crate) fn outcome(
    call: &ToolCallRef<'_>,
    result: &ToolResultRef<'_>,
    ctx: &Presenting<'_>,
) -> Vec<ToolCallUpdate> {
    let rendered = rendered(call, result, ctx);
    let mut fields = ToolCallUpdateFields::new()
        .status(if result.is_error {
            ToolCallStatus::Failed
        } else {
            ToolCallStatus::Completed
        })
        .title(rendered.title)
        .content(rendered.content)
        .locations(rendered.locations);
    let mut meta = of_end(call, result.non_execution);
    let mut updates = Vec::new();
    match rendered.terminal {
        Some(end) => {
            if let Some(output) = terminal_output(call.id, &end.output, ctx.terminal) {
                updates
                    .push(ToolCallUpdate::new(call.id.to_owned(), ToolCallUpdateFields::new()).meta(output));
            }
            meta.extend(terminal_exit(call.id, end.exit));
        }
        None => fields = fields.raw_output(raw_output(result.content)),
    }
    updates.push(ToolCallUpdate::new(call.id.to_owned(), fields).meta(meta));
    updates
}

/// A call that ends without a result of its own: failed, with `text` below what it showed.
pub(crate) fn unfinished(
    call: &ToolCallRef<'_>,
    text: &str,
    non_execution: Option<&str>,
    ctx: &Presenting<'_>,
) -> ToolCallUpdate {
    let mut content = view(call, ctx).content;
    content.push(text_content(text));
    let mut meta = of_end(call, non_execution);
    if in_terminal(call.name, ctx) {
        meta.extend(terminal_exit(call.id, Exit::Unknown));
    }
    let fields = ToolCallUpdateFields::new()
        .status(ToolCallStatus::Failed)
        .content(content);
    ToolCallUpdate::new(call.id.to_owned(), fields).meta(meta)
}

/// The result of a call whose end the client knows already.
pub(crate) fn late_result(call: &ToolCallRef<'_>, result: &ToolResultRef<'_>) -> ToolCallUpdate {
    let fields = ToolCallUpdateFields::new().raw_output(raw_output(result.content));
    ToolCallUpdate::new(call.id.to_owned(), fields).meta(of_end(call, result.non_execution))
}

/// A background command ended: its display terminal is closed, if the client shows one.
pub(crate) fn background_end(id: &str, ctx: &Presenting<'_>) -> Option<ToolCallUpdate> {
    let shown = ctx.terminal != TerminalSupport::None;
    shown.then(|| {
        ToolCallUpdate::new(id.to_owned(), ToolCallUpdateFields::new()).meta(terminal_exit(id, Exit::Unknown))
    })
}

/// Nothing rather than null, which is no input.
fn raw_input(call: &ToolCallRef<'_>) -> Option<Value> {
    (!call.input.is_null()).then(|| call.input.clone())
}
