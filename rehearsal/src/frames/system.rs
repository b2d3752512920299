//! `system` frames other than `init`, and `command_lifecycle`.
//!
//! Place in the flow: sent by every part of `engine`. No frame here depends on anything but its arguments.

use claude_sdk_bridge::messages::{CommandState, Informational, MessageUuid, SessionState, ToolUseId};
use permission_core::PermissionMode;
use serde_json::{Value, json};

use super::outbox::Outbox;
use super::recorded::{RECORDED, add};

/// Adds the prompts that a frame is about; nothing when there are none.
pub(super) fn add_prompts(frame: &mut Value, prompts: &[MessageUuid]) {
    add(
        frame,
        "user_message_uuids",
        (!prompts.is_empty()).then_some(prompts),
    );
}

pub(crate) fn session_state(out: &mut Outbox, state: SessionState) {
    out.send_recorded(&RECORDED.session_state, json!({ "state": state }));
}

/// A request to the model starts.
pub(crate) fn requesting(out: &mut Outbox, prompts: &[MessageUuid]) {
    let mut facts = json!({});
    add_prompts(&mut facts, prompts);
    out.send_recorded(&RECORDED.requesting, facts);
}

pub(crate) fn mode_changed(out: &mut Outbox, mode: PermissionMode) {
    out.send_recorded(
        &RECORDED.mode_changed,
        json!({ "permissionMode": mode.wire_id() }),
    );
}

pub(crate) fn lifecycle(out: &mut Outbox, prompt: &MessageUuid, state: CommandState) {
    out.send_recorded(
        &RECORDED.lifecycle,
        json!({ "command_uuid": prompt, "state": state }),
    );
}

pub(crate) fn permission_denied(
    out: &mut Outbox,
    tool: &str,
    id: &ToolUseId,
    reason_type: &str,
    message: &str,
) {
    let facts = json!({
        "tool_use_id": id, "tool_name": tool, "decision_reason_type": reason_type, "message": message,
    });
    out.send_recorded(&RECORDED.permission_denied, facts);
}

pub(crate) fn api_retry(out: &mut Outbox, attempt: u64, max: u64, status: Option<u64>, error: &str) {
    let facts = json!({ "attempt": attempt, "max_retries": max, "error_status": status, "error": error });
    out.send_recorded(&RECORDED.api_retry, facts);
}

pub(crate) fn thinking_tokens(out: &mut Outbox, tokens: u64) {
    let facts = json!({ "estimated_tokens": tokens, "estimated_tokens_delta": tokens });
    out.send_recorded(&RECORDED.thinking_tokens, facts);
}

/// A note for the user.
pub(crate) fn informational(out: &mut Outbox, note: &Informational) {
    out.send_recorded(&RECORDED.informational, json!(note));
}

pub(crate) fn title_changed(out: &mut Outbox, title: &str) {
    out.send_recorded(&RECORDED.title_changed, json!({ "title": title }));
}
