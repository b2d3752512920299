//! Hooks around a tool: the callbacks that the host has registered, what their answers mean, and what the script's own say.
//!
//! Place in the flow: `initialize` registers them; `callbacks` sends them for every call before anything else decides. What of
//! several verdicts counts: a denial before a question before an allow, as in the CLI.

use std::time::Duration;

use claude_sdk_bridge::messages::control::{
    HookCallback, HookInput, HookMatcher as Registration, IncomingControl, IncomingRequest, InitializeRequest,
};
use claude_sdk_bridge::messages::{ControlId, Informational, List, Message, ToolUseId};
use permission_core::decide::hooks::{HOOK_TIMEOUT, HookMatcher};
use serde_json::{Map, Value, json};

use crate::engine::core::Core;
use crate::frames::{self, text};
use crate::script::{Hook, HookDecision};

/// When a callback is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
    AfterFailure,
}

/// The registered hooks.
#[derive(Debug, Default)]
pub(crate) struct HostHooks {
    hooks: Vec<HostHook>,
}

#[derive(Debug)]
struct HostHook {
    moment: Moment,
    matcher: HookMatcher,
    callbacks: Vec<String>,
    timeout: Duration,
    /// A callback that fails denies.
    blocks: bool,
}

/// Callbacks that have been called about a call, and what they say.
#[derive(Debug)]
pub(crate) struct Callbacks {
    pub(crate) moment: Moment,
    pending: Vec<Pending>,
    pub(crate) verdict: Verdict,
}

#[derive(Debug)]
struct Pending {
    id: ControlId,
    callback: String,
    deadline: Duration,
    blocks: bool,
}

/// What hooks say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Verdict {
    /// Why the call is denied.
    pub(crate) deny: Option<String>,
    /// What the model reads about that, if it is not the reason.
    pub(crate) deny_text: Option<String>,
    /// Why there is to be a question.
    pub(crate) ask: Option<String>,
    pub(crate) allow: bool,
    pub(crate) input: Option<Map<String, Value>>,
    /// What the model is to read after the result.
    pub(crate) feedback: Vec<String>,
}

/// What a callback is told about.
pub(crate) struct CallFacts<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Map<String, Value>,
    pub(crate) id: &'a ToolUseId,
    pub(crate) agent: Option<&'a str>,
    /// The structured result, or the text of the failure.
    pub(crate) response: Option<&'a Value>,
}

impl Moment {
    pub(crate) fn event(self) -> &'static str {
        match self {
            Self::Before => "PreToolUse",
            Self::After => "PostToolUse",
            Self::AfterFailure => "PostToolUseFailure",
        }
    }
}

impl HostHooks {
    /// Takes the hooks of an `initialize` request.
    pub(crate) fn of(request: &InitializeRequest) -> Self {
        let mut hooks = Vec::new();
        let table = request.hooks.get();
        for moment in [Moment::Before, Moment::After, Moment::AfterFailure] {
            let registered = table
                .and_then(|table| table.get(moment.event()))
                .and_then(|list| list.get());
            let registered = registered.into_iter().flat_map(List::known);
            hooks.extend(registered.map(|registration| HostHook::of(moment, registration)));
        }
        Self { hooks }
    }

    /// Whether a hook is to be called before this tool.
    pub(crate) fn are_for(&self, tool: &str) -> bool {
        let before = |hook: &HostHook| hook.moment == Moment::Before && hook.matcher.matches(tool);
        self.hooks.iter().any(before)
    }

    /// Whether the host has registered any hook.
    pub(crate) fn are_there(&self) -> bool {
        !self.hooks.is_empty()
    }
}

impl HostHook {
    fn of(moment: Moment, registration: &Registration) -> Self {
        let seconds = registration.timeout.get().and_then(serde_json::Number::as_f64);
        let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self {
            moment,
            matcher: HookMatcher::of_claude(registration.matcher.as_str()).0,
            callbacks: registration.hook_callback_ids.known().cloned().collect(),
            timeout: timeout.unwrap_or(HOOK_TIMEOUT),
            blocks: registration.on_failure.as_str() == Some("block"),
        }
    }
}

impl Core {
    /// Calls the host's hooks for a tool; `None` where there is none.
    pub(crate) fn call_hooks(&mut self, moment: Moment, facts: &CallFacts<'_>) -> Option<Callbacks> {
        let now = self.now();
        let mut pending = Vec::new();
        let wanted = |hook: &&HostHook| hook.moment == moment && hook.matcher.matches(facts.tool);
        for hook in self.host_hooks.hooks.iter().filter(wanted) {
            for callback in &hook.callbacks {
                pending.push(Pending {
                    id: ControlId::from(self.out.uuid().into_string()),
                    callback: callback.clone(),
                    deadline: now.saturating_add(hook.timeout),
                    blocks: hook.blocks,
                });
            }
        }
        for Pending { id, callback, .. } in &pending {
            let callback = HookCallback {
                callback_id: callback.clone(),
                input: self.hook_input(moment, facts),
                tool_use_id: facts.id.clone().into(),
                extra: Map::new(),
            };
            let request = IncomingControl {
                request_id: id.clone(),
                request: IncomingRequest::HookCallback(Box::new(callback)),
                extra: Map::new(),
            };
            self.out.send(&Message::ControlRequest(Box::new(request)));
        }
        (!pending.is_empty()).then(|| Callbacks {
            moment,
            pending,
            verdict: Verdict::default(),
        })
    }

    fn hook_input(&self, moment: Moment, facts: &CallFacts<'_>) -> HookInput {
        let session = &self.out.session_id;
        let mut input = HookInput {
            session_id: session.clone().into(),
            transcript_path: text::transcript(session.as_str()).into(),
            cwd: self.setup.cwd().into(),
            prompt_id: self.prompt_id.clone().into(),
            permission_mode: self.mode.wire_id().into(),
            hook_event_name: moment.event().into(),
            tool_name: facts.tool.into(),
            tool_input: Value::Object(facts.input.clone()).into(),
            tool_use_id: facts.id.clone().into(),
            ..HookInput::default()
        };
        if let Some(agent) = facts.agent {
            input.agent_id = claude_sdk_bridge::messages::TaskId::from(agent.to_owned()).into();
            input.agent_type = text::AGENT_TYPE.into();
        }
        match (moment, facts.response) {
            (Moment::After, Some(response)) => input.tool_response = response.clone().into(),
            (Moment::AfterFailure, Some(response)) => {
                input.error = response.as_str().unwrap_or_default().into();
                input.is_interrupt = false.into();
            }
            (Moment::Before | Moment::After | Moment::AfterFailure, _) => {}
        }
        input
    }
}

impl Callbacks {
    pub(crate) fn waits_for(&self, id: &ControlId) -> bool {
        self.pending.iter().any(|pending| pending.id == *id)
    }

    /// Whether nothing is waited for any more.
    pub(crate) fn is_over(&self) -> bool {
        self.pending.is_empty()
    }

    /// When the first callback has had its time.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.pending.iter().map(|pending| pending.deadline).min()
    }

    /// Takes an answer; an error is what the host gives instead of one.
    pub(crate) fn answered(&mut self, id: &ControlId, answer: Result<Value, String>, core: &mut Core) {
        let Some(place) = self.pending.iter().position(|pending| pending.id == *id) else {
            return;
        };
        let pending = self.pending.swap_remove(place);
        let answer = answer.and_then(|answer| {
            let invalid = || text::INVALID_ANSWER.to_owned();
            is_valid(&answer).then_some(answer).ok_or_else(invalid)
        });
        match answer {
            Ok(answer) => self.verdict.take(self.moment, &answer),
            Err(error) if self.moment == Moment::Before && pending.blocks => {
                self.verdict.deny.get_or_insert(error);
            }
            Err(_) => {
                let said = text::callback_failed(self.moment.event(), &pending.callback);
                let told = Informational {
                    content: said.as_str().into(),
                    level: "warning".into(),
                    extra: Map::from_iter([("tag".to_owned(), json!("hook_callback_failed"))]),
                    ..Informational::default()
                };
                frames::informational(&mut core.out, &told);
            }
        }
    }

    /// Gives up on callbacks that have had their time.
    pub(crate) fn expire(&mut self, core: &mut Core) {
        let now = core.now();
        let (late, pending) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|pending| pending.deadline <= now);
        self.pending = pending;
        let late: Vec<Pending> = late;
        let decides = self.moment == Moment::Before && self.verdict.deny.is_none();
        if !late.is_empty() && decides {
            self.verdict.deny = Some(text::HOOK_LATE.to_owned());
            self.verdict.deny_text = Some(text::HOOK_LATE.to_owned());
        }
        late.iter().for_each(|late| core.cancel(&late.id));
    }

    /// Takes back what is still asked, because nobody waits for it any more.
    pub(crate) fn withdraw(&mut self, core: &mut Core) {
        for pending in std::mem::take(&mut self.pending) {
            core.cancel(&pending.id);
        }
    }
}

impl Verdict {
    /// What a script's hook says before its call.
    pub(crate) fn of_script(hook: &Hook) -> Self {
        let decides = |decision| hook.decision == Some(decision);
        let reason = |decision| decides(decision).then(|| hook.reason.clone());
        Self {
            deny: reason(HookDecision::Deny),
            ask: reason(HookDecision::Ask),
            allow: decides(HookDecision::Allow),
            input: hook.updated_input.clone(),
            ..Self::default()
        }
    }

    fn take(&mut self, moment: Moment, answer: &Value) {
        let specific = answer.get("hookSpecificOutput");
        let words = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let decides = answer.get("decision").and_then(Value::as_str);
        let blocks = decides == Some("block");
        let reason = words(answer.get("reason"));
        if moment != Moment::Before {
            let reason = reason.unwrap_or_default();
            self.feedback.extend(blocks.then_some(reason));
            let context = specific.and_then(|specific| specific.get("additionalContext"));
            self.feedback.extend(words(context));
            return;
        }
        let why = words(specific.and_then(|specific| specific.get("permissionDecisionReason")));
        let decision = specific
            .and_then(|specific| specific.get("permissionDecision"))
            .and_then(Value::as_str);
        if blocks {
            self.deny.get_or_insert(reason.unwrap_or_default());
        }
        self.allow |= decides == Some("approve");
        match decision {
            Some("deny") => {
                self.deny.get_or_insert(why.unwrap_or_default());
            }
            Some("ask") => {
                self.ask.get_or_insert(why.unwrap_or_default());
            }
            Some("allow") => self.allow = true,
            Some(_) | None => {}
        }
        let input = specific.and_then(|specific| specific.get("updatedInput"));
        if let Some(input) = input.and_then(Value::as_object) {
            self.input = Some(input.clone());
        }
    }
}

/// Whether an answer has the shape of one. What has not may be a denial that got lost.
fn is_valid(answer: &Value) -> bool {
    let specific = answer.get("hookSpecificOutput");
    let field = |key: &str| specific.and_then(|specific| specific.get(key));
    let known = |decision: &Value| matches!(decision.as_str(), Some("allow" | "deny" | "ask" | "defer"));
    answer.is_object()
        && specific.is_none_or(Value::is_object)
        && field("permissionDecision").is_none_or(known)
        && field("updatedInput").is_none_or(Value::is_object)
}
