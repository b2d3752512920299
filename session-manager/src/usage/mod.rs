//! How full Claude's context is and what the session has cost, as `usage_update`s.
//!
//! Place in the flow: the session shows the meter every message of Claude's that is no text delta. Only the main thread
//! fills the context; subagents have contexts of their own. An API call makes at most one update, when its counts are
//! final, and a turn one more, with the cost. Pure: sends nothing, asks nobody.

mod cost;
#[cfg(test)]
mod tests;
mod turn;
mod window;

use acp_proto::schema::{Cost, Meta, SessionUpdate, UsageUpdate};
use claude_sdk_bridge::messages::{
    ApiEvent, ApiMessage, ApiMessageId, AssistantMessage, CompactBoundary, Field, Message, Origin,
    RateLimitInfo, ResultMessage, SYNTHETIC_MODEL, StreamEvent, SystemEvent, SystemMessage, ToolUseId, Usage,
};
use serde_json::Value;

pub(crate) use turn::TurnUsage;

use cost::Account;
use window::Windows;

const CURRENCY: &str = "USD";

/// The meter of one session, over all its processes and conversations.
#[derive(Debug, Default)]
pub(crate) struct UsageMeter {
    call: ApiCall,
    /// The tokens in the context; `None` until Claude says.
    used: Option<u64>,
    windows: Windows,
    account: Account,
    /// Reported, and not yet passed on.
    rate_limit: Option<RateLimitInfo>,
    reported: Reported,
}

/// The last API message of the main thread.
#[derive(Debug, Default)]
struct ApiCall {
    id: Option<ApiMessageId>,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

/// What the client was told last.
#[derive(Debug, Default)]
struct Reported {
    context: Option<(u64, u64)>,
    cost: Option<f64>,
}

impl UsageMeter {
    /// The meter of a session, new or loaded: what Claude has counted before is taken over at the first result.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes note of a message, and says what the client should be told.
    pub(crate) fn message(&mut self, message: &Message) -> Option<SessionUpdate> {
        match message {
            Message::StreamEvent(event) => self.stream_event(event),
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::System(system) => self.system(system),
            Message::Result(result) => self.result(result),
            Message::ConversationReset(_) => self.empty_context(),
            Message::RateLimit(event) => {
                self.rate_limit = event.rate_limit_info.get().cloned().or(self.rate_limit.take());
                None
            }
            _ => None,
        }
    }

    /// Whether Claude is to be asked for the window of the model that speaks, in a way that asks no model
    /// (`get_context_usage` with the detail `summary`). Until it is told, nothing is said of the context.
    pub(crate) fn wants_window(&mut self) -> bool {
        self.windows.ask()
    }

    /// Takes Claude's answer to that, or that it has none.
    pub(crate) fn window_told(&mut self, answer: Option<&Value>) -> Option<SessionUpdate> {
        self.windows.answered(answer);
        self.context_update()
    }

    /// The session goes on as a fresh conversation in a new process, whose cost counts on top.
    pub(crate) fn reset_context(&mut self) -> Option<SessionUpdate> {
        self.account.close();
        self.empty_context()
    }

    /// How full the context is; `None` until Claude says.
    pub(crate) fn context_used_percent(&self) -> Option<u8> {
        if self.windows.is_open() {
            return None;
        }
        let size = u128::from(self.windows.size());
        let rounded = (u128::from(self.used?) * 100 + size / 2).checked_div(size)?;
        Some(u8::try_from(rounded).unwrap_or(u8::MAX).min(100))
    }

    fn stream_event(&mut self, event: &StreamEvent) -> Option<SessionUpdate> {
        if !is_main(&event.parent_tool_use_id) {
            return None;
        }
        match &event.event {
            // What the model reads is known now, what it writes is not: the update waits for the final counts.
            ApiEvent::MessageStart(start) => {
                self.begin(&start.message);
                None
            }
            ApiEvent::MessageDelta(delta) => {
                self.count(delta.usage.get()?);
                self.context_update()
            }
            ApiEvent::BlockStart(_)
            | ApiEvent::BlockDelta(_)
            | ApiEvent::BlockStop(_)
            | ApiEvent::MessageStop(_)
            | ApiEvent::Unknown(_) => None,
        }
    }

    /// A message that was not streamed, which is what Claude falls back to when a stream fails.
    fn assistant(&mut self, assistant: &AssistantMessage) -> Option<SessionUpdate> {
        let id = assistant.message.id.get();
        if !is_main(&assistant.parent_tool_use_id) || assistant.is_synthetic() || id == self.call.id.as_ref()
        {
            return None;
        }
        self.begin(&assistant.message);
        self.context_update()
    }

    fn system(&mut self, system: &SystemMessage) -> Option<SessionUpdate> {
        match &system.event {
            SystemEvent::Init(init) => {
                self.windows.configured(init.model.as_str()?);
                None
            }
            SystemEvent::CompactBoundary(boundary) => self.compacted(boundary),
            _ => None,
        }
    }

    fn compacted(&mut self, boundary: &CompactBoundary) -> Option<SessionUpdate> {
        let after = boundary.compact_metadata.get();
        self.used = after.and_then(|after| after.post_tokens.copied());
        self.call.forget_counts();
        self.context_update()
    }

    fn empty_context(&mut self) -> Option<SessionUpdate> {
        self.used = Some(0);
        self.call.forget_counts();
        self.context_update()
    }

    fn result(&mut self, result: &ResultMessage) -> Option<SessionUpdate> {
        self.windows.reported(result);
        self.account.result(result);
        let context = (self.used?, self.windows.size());
        let cost = self.account.total().map(rounded);
        let news =
            self.reported.context != Some(context) || self.reported.cost != cost || self.rate_limit.is_some();
        if !news {
            return None;
        }
        self.reported = Reported {
            context: Some(context),
            cost,
        };
        let mut meta = self.meta();
        insert(
            &mut meta,
            "_claude/origin",
            result.origin.get().unwrap_or(&Origin::human()),
        );
        if let Some(limit) = self.rate_limit.take() {
            insert(&mut meta, "_claude/rateLimit", &limit);
        }
        let cost = cost.map(|amount| Cost::new(amount, CURRENCY));
        Some(update(context, meta, cost))
    }

    fn begin(&mut self, message: &ApiMessage) {
        self.call = ApiCall {
            id: message.id.get().cloned(),
            ..ApiCall::default()
        };
        if let Some(model) = message.model.as_str().filter(|model| *model != SYNTHETIC_MODEL) {
            self.windows.speaking(model);
        }
        if let Some(usage) = message.usage.get() {
            self.count(usage);
        }
    }

    fn count(&mut self, usage: &Usage) {
        self.call.count(usage);
        self.used = self.call.total().or(self.used);
    }

    fn context_update(&mut self) -> Option<SessionUpdate> {
        let context = (self.used?, self.windows.size());
        if self.reported.context == Some(context) || self.windows.is_open() {
            return None;
        }
        self.reported.context = Some(context);
        Some(update(context, self.meta(), None))
    }

    fn meta(&self) -> Meta {
        let mut meta = Meta::new();
        if let Some(model) = self.windows.model() {
            meta.insert("_claude/model".to_owned(), Value::from(model));
        }
        meta
    }
}

impl ApiCall {
    /// Counts only grow while a message is streamed, and a part that does not repeat one leaves it out or sends zero.
    fn count(&mut self, usage: &Usage) {
        let parts = [
            (&mut self.input, &usage.input_tokens),
            (&mut self.cache_read, &usage.cache_read_input_tokens),
            (&mut self.cache_write, &usage.cache_creation_input_tokens),
            (&mut self.output, &usage.output_tokens),
        ];
        for (known, said) in parts {
            *known = said.copied().unwrap_or(0).max(*known);
        }
    }

    /// The counts no longer say what is in the context. The message stays known, so that a late part of it is nothing
    /// new.
    fn forget_counts(&mut self) {
        *self = Self {
            id: self.id.take(),
            ..Self::default()
        };
    }

    /// What the message leaves in the context; `None` when nothing was counted that the model read, as behind some
    /// gateways.
    fn total(&self) -> Option<u64> {
        let read = [self.input, self.cache_read, self.cache_write];
        let read = read.into_iter().fold(0, u64::saturating_add);
        (read > 0).then(|| read.saturating_add(self.output))
    }
}

/// To the millionth of a dollar: what is below it comes from adding up fractions.
fn rounded(amount: f64) -> f64 {
    (amount * 1_000_000.0).round() / 1_000_000.0
}

/// Whether a message is the main thread's; one with an odd parent is not taken for it.
fn is_main(parent: &Field<ToolUseId>) -> bool {
    matches!(parent, Field::Absent | Field::Null)
}

fn update((used, size): (u64, u64), meta: Meta, cost: Option<Cost>) -> SessionUpdate {
    let meta = (!meta.is_empty()).then_some(meta);
    SessionUpdate::UsageUpdate(UsageUpdate::new(used, size).cost(cost).meta(meta))
}

fn insert(meta: &mut Meta, key: &str, value: &impl serde::Serialize) {
    // Both values came out of JSON, so they go back into it.
    if let Ok(value) = serde_json::to_value(value) {
        meta.insert(key.to_owned(), value);
    }
}
