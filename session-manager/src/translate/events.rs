//! What happens around Claude's words: results of tool calls, what the CLI tells, and the end of a turn.

use acp_proto::schema::{SessionInfoUpdate, SessionUpdate};
use claude_sdk_bridge::messages::{
    Content, ContentBlock, PermissionDenied, ResultMessage, SystemEvent, SystemMessage, ToolResultBlock,
    UserMessage,
};
use serde_json::Value;

use super::stream::BlockKind;
use super::{Translator, compaction, notices};
use crate::tools::{self, ToolResultRef, wording};

impl Translator {
    /// Of messages in the user's place only the results of tool calls are news: the rest is what the user wrote, or
    /// what the CLI writes to the model.
    pub(super) fn user(&mut self, user: &UserMessage) -> Vec<SessionUpdate> {
        let blocks = user.message.content.blocks().iter();
        let results: Vec<_> = blocks
            .filter_map(|block| {
                if let ContentBlock::ToolResult(result) = block {
                    Some(result)
                } else {
                    None
                }
            })
            .collect();
        // The structured result does not say which call it is of.
        let structured = user.tool_use_result.get().filter(|_| results.len() == 1);
        let mut updates = Vec::new();
        for result in results {
            let kind = user
                .result_meta(&result.tool_use_id)
                .and_then(|meta| meta.non_execution_kind.get());
            updates.extend(self.tool_result(result, structured, kind.map(|kind| kind.as_str())));
        }
        updates
    }

    pub(super) fn tool_result(
        &mut self,
        block: &ToolResultBlock,
        structured: Option<&Value>,
        non_execution: Option<&str>,
    ) -> Vec<SessionUpdate> {
        static NOTHING: Content = Content::Blocks(Vec::new());
        let result = ToolResultRef {
            content: block.content.get().unwrap_or(&NOTHING),
            is_error: block.is_error.is_true(),
            structured,
            non_execution,
        };
        let id = block.tool_use_id.as_str();
        let Some((mut updates, call)) = self.calls.finish(id, &result, &self.surroundings.presenting())
        else {
            tracing::debug!(id, "result of a call that is not open is not shown");
            return Vec::new();
        };
        if !result.is_error {
            let call = call.by_ref();
            if call.parent.is_none() {
                updates.extend(self.plan.succeeded(&call, &result));
            }
            if let Some(structured) = structured {
                self.surroundings.seen.learn(&call, structured);
            }
        }
        updates
    }

    pub(super) fn system(&mut self, system: &SystemMessage) -> Vec<SessionUpdate> {
        let uuid = system.uuid.get();
        let update = match &system.event {
            SystemEvent::Status(status) => self.compaction.status(status, uuid),
            SystemEvent::CompactBoundary(boundary) => {
                self.preserved = compaction::preserved(boundary);
                self.compaction.boundary(boundary, uuid)
            }
            SystemEvent::PermissionDenied(denied) => self.permission_denied(denied),
            SystemEvent::Informational(message) => {
                // It says what the result will repeat.
                self.spoke |= message.prevent_continuation.is_true();
                notices::informational(message)
            }
            SystemEvent::ApiRetry(retry) => notices::retry(retry),
            SystemEvent::LocalCommandOutput(output) => {
                let text = notices::command_output(output.content.as_str().unwrap_or_default());
                (!text.is_empty()).then(|| self.chunk(BlockKind::Text, text, None))
            }
            SystemEvent::SessionTitleChanged(changed) => {
                let info = SessionInfoUpdate::new().title(changed.title.clone());
                Some(SessionUpdate::SessionInfoUpdate(info))
            }
            SystemEvent::ModelRefusalFallback(refusal) => refusal
                .content
                .as_str()
                .filter(|text| !text.is_empty())
                .map(|text| notices::notice("notice", text)),
            SystemEvent::TaskStarted(task) => task
                .tool_use_id
                .get()
                .and_then(|id| self.calls.running(id.as_str())),
            SystemEvent::TaskNotification(task) => {
                let id = task.tool_use_id.get();
                return id
                    .map(|id| {
                        self.calls
                            .task_ended(id.as_str(), &self.surroundings.presenting())
                    })
                    .unwrap_or_default();
            }
            SystemEvent::Init(_)
            | SystemEvent::SessionStateChanged(_)
            | SystemEvent::BackgroundTasksChanged(_)
            | SystemEvent::ThinkingTokens(_)
            | SystemEvent::CommandsChanged(_) => None,
            SystemEvent::Unknown(_) => {
                tracing::debug!(
                    kind = system.event.kind(),
                    "system message of an unknown kind is not shown"
                );
                None
            }
        };
        update.into_iter().collect()
    }

    /// The end of a turn. Its text is shown only if nothing was: a local command's answer, a turn that a hook ended.
    pub(super) fn result(&mut self, result: &ResultMessage) -> Option<SessionUpdate> {
        let spoke = std::mem::take(&mut self.spoke);
        if spoke || result.is_error.is_true() {
            return None;
        }
        let text = result.result.as_str().filter(|text| !text.trim().is_empty())?;
        Some(notices::text(text, result.uuid.get().map(|uuid| uuid.as_str())))
    }

    fn permission_denied(&mut self, denied: &PermissionDenied) -> Option<SessionUpdate> {
        let given = [&denied.decision_reason, &denied.message];
        let reason = given
            .into_iter()
            .find_map(|text| text.as_str().filter(|text| !text.trim().is_empty()));
        let text = wording::permission_denied(tools::own_part(reason.unwrap_or(wording::NO_REASON)));
        self.calls.denied(
            denied.tool_use_id.as_str(),
            &text,
            &self.surroundings.presenting(),
        )
    }
}
