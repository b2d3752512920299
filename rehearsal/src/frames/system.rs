//! `system` frames other than `init`, and `command_lifecycle`.
//!
//! Place in the flow: sent by every part of `engine`. No frame here depends on anything but its arguments.

use claude_sdk_bridge::messages::{
    ActivityStatus, ApiErrorKind, ApiRetry, CommandLifecycle, CommandState, Field, Informational, List,
    Message, MessageUuid, PermissionDenied, SessionState, SessionStateChanged, SessionTitleChanged, Status,
    SystemEvent, SystemMessage, ThinkingTokens, ToolUseId,
};
use permission_core::PermissionMode;

use super::outbox::Outbox;

/// Sends a system message with the ids every one of them has.
pub(super) fn send(out: &mut Outbox, event: SystemEvent) {
    let message = SystemMessage {
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        event,
    };
    out.send(&Message::System(Box::new(message)));
}

/// A list of prompts, absent when there are none.
pub(super) fn uuids(prompts: &[MessageUuid]) -> Field<List<MessageUuid>> {
    if prompts.is_empty() {
        Field::Absent
    } else {
        prompts.iter().cloned().collect::<List<_>>().into()
    }
}

pub(crate) fn session_state(out: &mut Outbox, state: SessionState) {
    let changed = SessionStateChanged {
        state,
        sdk_host_only: true.into(),
        ..SessionStateChanged::default()
    };
    send(out, SystemEvent::SessionStateChanged(changed));
}

/// A request to the model starts.
pub(crate) fn requesting(out: &mut Outbox, prompts: &[MessageUuid]) {
    let status = Status {
        status: ActivityStatus::Requesting.into(),
        user_message_uuids: uuids(prompts),
        ..Status::default()
    };
    send(out, SystemEvent::Status(status));
}

pub(crate) fn mode_changed(out: &mut Outbox, mode: PermissionMode) {
    let status = Status {
        status: Field::Null,
        permission_mode: mode.wire_id().into(),
        ..Status::default()
    };
    send(out, SystemEvent::Status(status));
}

pub(crate) fn lifecycle(out: &mut Outbox, prompt: &MessageUuid, state: CommandState) {
    let lifecycle = CommandLifecycle {
        command_uuid: prompt.clone(),
        state,
        uuid: out.uuid().into(),
        session_id: out.session_id.clone().into(),
        ..CommandLifecycle::default()
    };
    out.send(&Message::CommandLifecycle(lifecycle));
}

pub(crate) fn permission_denied(
    out: &mut Outbox,
    tool: &str,
    id: &ToolUseId,
    reason_type: &str,
    message: &str,
) {
    let denied = PermissionDenied {
        tool_use_id: id.clone(),
        tool_name: tool.into(),
        decision_reason_type: reason_type.into(),
        message: message.into(),
        ..PermissionDenied::default()
    };
    send(out, SystemEvent::PermissionDenied(Box::new(denied)));
}

pub(crate) fn api_retry(out: &mut Outbox, attempt: u64, max: u64, status: Option<u64>, error: &str) {
    let retry = ApiRetry {
        attempt: attempt.into(),
        max_retries: max.into(),
        retry_delay_ms: 0.into(),
        error_status: status.map_or(Field::Null, Field::Known),
        error: ApiErrorKind::from(error.to_owned()).into(),
        ..ApiRetry::default()
    };
    send(out, SystemEvent::ApiRetry(retry));
}

pub(crate) fn thinking_tokens(out: &mut Outbox, tokens: u64) {
    let thinking = ThinkingTokens {
        estimated_tokens: tokens.into(),
        estimated_tokens_delta: tokens.into(),
        ..ThinkingTokens::default()
    };
    send(out, SystemEvent::ThinkingTokens(thinking));
}

/// A note for the user.
pub(crate) fn informational(out: &mut Outbox, note: Informational) {
    send(out, SystemEvent::Informational(Box::new(note)));
}

pub(crate) fn title_changed(out: &mut Outbox, title: &str) {
    let changed = SessionTitleChanged {
        title: title.to_owned(),
        ..SessionTitleChanged::default()
    };
    send(out, SystemEvent::SessionTitleChanged(changed));
}
