//! `result`: the end of one turn, with its counts, and what kind of end it was.
//!
//! Only reads; whose turn it ends is decided by the turn machine with the help of [`ResultMessage::answers`].

use serde_json::{Number, Value};

use super::{ApiErrorKind, ClaudeSessionId, List, MessageUuid, ModelUsage, Origin, Table, ToolUseId, Usage};

wire! {
    /// The end of a turn. Every field is optional on purpose: a result that reads oddly still ends its turn.
    pub struct ResultMessage {
        optional {
            subtype: ResultSubtype,
            is_error: bool,
            /// The answer's text; only with subtype `success`.
            result: String,
            /// Diagnostics; only with an error subtype, not meant for users when the turn was interrupted.
            errors: List<String>,
            stop_reason: String,
            terminal_reason: TerminalReason,
            /// HTTP status of the API error; null when there was none.
            api_error_status: u64,
            api_error: ApiErrorKind,
            duration_ms: u64,
            duration_api_ms: u64,
            num_turns: u64,
            /// Cumulative over the session.
            total_cost_usd: Number,
            /// The main loop of this turn only.
            usage: Usage,
            /// Cumulative over the session, a model each.
            model_usage as "modelUsage": Table<ModelUsage>,
            model_usage_since_last_result: Table<ModelUsage>,
            permission_denials: List<PermissionDenial>,
            /// Name of the slash command that ran here instead of a model turn.
            local_command: String,
            queued_turn_count: u64,
            result_index: u64,
            user_message_uuid: MessageUuid,
            user_message_uuids: List<MessageUuid>,
            /// Absent for turns that our messages started.
            origin: Origin,
            fast_mode_state: String,
            uuid: MessageUuid,
            session_id: ClaudeSessionId,
        }
    }
}

impl ResultMessage {
    /// Whether this is the end of the turn that took in the user message `uuid`.
    pub fn answers(&self, uuid: &MessageUuid) -> bool {
        self.user_message_uuid.get() == Some(uuid)
            || self.user_message_uuids.known().any(|known| known == uuid)
    }

    /// What kind of end this is: by the reason the loop ended, and by the subtype where that says too little.
    pub fn outcome(&self) -> TurnOutcome {
        let Some(reason) = self.terminal_reason.get() else {
            return self.outcome_by_subtype();
        };
        match reason {
            TerminalReason::AbortedStreaming => TurnOutcome::Cancelled(Abort::Streaming),
            TerminalReason::AbortedTools => TurnOutcome::Cancelled(Abort::Tools),
            TerminalReason::Other(reason) if reason.starts_with("aborted_") => {
                TurnOutcome::Cancelled(Abort::Other(reason.clone()))
            }
            TerminalReason::MaxTurns => TurnOutcome::MaxTurns,
            TerminalReason::BudgetExhausted => TurnOutcome::MaxBudget,
            TerminalReason::StructuredOutputRetryExhausted => TurnOutcome::StructuredOutputFailed,
            TerminalReason::PromptTooLong => TurnOutcome::PromptTooLong { text: self.text() },
            TerminalReason::HookStopped => TurnOutcome::HookStopped,
            TerminalReason::ToolDeferred => TurnOutcome::ToolDeferred,
            TerminalReason::Completed
            | TerminalReason::ApiError
            | TerminalReason::BlockingLimit
            | TerminalReason::RapidRefillBreaker
            | TerminalReason::ImageError
            | TerminalReason::ModelError
            | TerminalReason::MalformedToolUseExhausted
            | TerminalReason::StopHookPrevented
            | TerminalReason::BackgroundRequested
            | TerminalReason::ToolDeferredUnavailable
            | TerminalReason::TurnSetupFailed
            | TerminalReason::Other(_) => self.outcome_by_subtype(),
        }
    }

    /// The text to show for this result: the answer, or the errors, one a line.
    pub fn text(&self) -> String {
        match self.result.as_str() {
            Some(text) => text.to_owned(),
            None => {
                let lines: Vec<&str> = self.errors.known().map(String::as_str).collect();
                lines.join("\n")
            }
        }
    }

    fn outcome_by_subtype(&self) -> TurnOutcome {
        match self.subtype.get() {
            Some(ResultSubtype::ErrorMaxTurns) => TurnOutcome::MaxTurns,
            Some(ResultSubtype::ErrorMaxBudgetUsd) => TurnOutcome::MaxBudget,
            Some(ResultSubtype::ErrorMaxStructuredOutputRetries) => TurnOutcome::StructuredOutputFailed,
            Some(ResultSubtype::Success) if !self.is_error.is_true() && !self.is_refusal() => {
                TurnOutcome::Completed
            }
            Some(ResultSubtype::Success | ResultSubtype::ErrorDuringExecution | ResultSubtype::Other(_))
            | None => self.failure(),
        }
    }

    fn failure(&self) -> TurnOutcome {
        let text = self.text();
        let reason = self.terminal_reason.get().cloned();
        if self.is_refusal() {
            TurnOutcome::Refusal { text }
        } else if self.api_error.get() == Some(&ApiErrorKind::MaxOutputTokens) {
            TurnOutcome::MaxTokens
        } else if self.subtype.get() == Some(&ResultSubtype::Success)
            || reason == Some(TerminalReason::ApiError)
        {
            let (kind, status) = (self.api_error.get().cloned(), self.api_error_status.copied());
            TurnOutcome::ApiError { kind, status, text }
        } else {
            TurnOutcome::Failed { reason, text }
        }
    }

    fn is_refusal(&self) -> bool {
        self.stop_reason.as_str() == Some("refusal")
    }
}

/// What kind of end a turn had.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnOutcome {
    /// Ended by itself; also local commands and prompts that a hook blocked.
    Completed,
    /// Interrupted by us, by a denial that interrupts, or pushed aside by an urgent message.
    Cancelled(Abort),
    /// The API failed after the CLI's retries. The kind stands in the `assistant` message before it, if not here.
    ApiError {
        /// What the result itself says about the kind.
        kind: Option<ApiErrorKind>,
        /// HTTP status.
        status: Option<u64>,
        /// Text for the user; the synthetic assistant message before it has the same.
        text: String,
    },
    /// The conversation no longer fits the model.
    PromptTooLong {
        /// Text for the user.
        text: String,
    },
    /// The model refused.
    Refusal {
        /// Text for the user.
        text: String,
    },
    /// The output limit was reached and continuing did not help.
    MaxTokens,
    /// The limit of rounds a turn was reached; the session goes on.
    MaxTurns,
    /// The cost limit was reached.
    MaxBudget,
    /// The model did not produce output of the asked schema.
    StructuredOutputFailed,
    /// A hook ended the turn.
    HookStopped,
    /// A hook put the tool call off; it was not run.
    ToolDeferred,
    /// Anything else, such as a session that cannot be resumed.
    Failed {
        /// Why, as far as the CLI says.
        reason: Option<TerminalReason>,
        /// Diagnostics.
        text: String,
    },
}

/// Where an interrupt found the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abort {
    /// While the model was speaking.
    Streaming,
    /// While a tool ran or waited for permission.
    Tools,
    /// Somewhere this version does not know.
    Other(String),
}

open_enum! {
    /// `subtype` of a result.
    pub enum ResultSubtype {
        Success = "success",
        ErrorDuringExecution = "error_during_execution",
        ErrorMaxTurns = "error_max_turns",
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

open_enum! {
    /// Why the turn's loop ended.
    pub enum TerminalReason {
        Completed = "completed",
        ApiError = "api_error",
        PromptTooLong = "prompt_too_long",
        AbortedStreaming = "aborted_streaming",
        AbortedTools = "aborted_tools",
        MaxTurns = "max_turns",
        BudgetExhausted = "budget_exhausted",
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        HookStopped = "hook_stopped",
        ToolDeferred = "tool_deferred",
        BlockingLimit = "blocking_limit",
        RapidRefillBreaker = "rapid_refill_breaker",
        ImageError = "image_error",
        ModelError = "model_error",
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        StopHookPrevented = "stop_hook_prevented",
        BackgroundRequested = "background_requested",
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        TurnSetupFailed = "turn_setup_failed",
    }
}

wire! {
    /// A tool call that was denied during the turn.
    pub struct PermissionDenial {
        optional {
            tool_name: String,
            tool_use_id: ToolUseId,
            tool_input: Value,
        }
    }
}

#[cfg(test)]
mod tests;
