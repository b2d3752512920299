//! The guard of one session: permission-core's decisions about Claude's tool calls, with what they need of the machine.
//!
//! Place in the flow: Claude calls back before every tool → [`SessionGuard::takes`] → hooks of the policy, as long as there are
//! any → the reply; later, before and after the client's question, [`SessionGuard::refuses_to_ask`] and
//! [`SessionGuard::settled`]. Every decision is logged, and written down where an audit is wanted; one that cannot be
//! written down denies. What is decided is permission-core's; nothing here loosens it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use claude_sdk_bridge::messages::control::{CanUseTool, HookCallback};
use claude_sdk_bridge::messages::{ContentBlock, ControlId, TaskId, ToolUseId, UserMessage};
use permission_core::decide::hooks::{HookCommand, HookEvent, PostToolUse};
use permission_core::decide::{Authority, Authorizer, Decision, Evaluation, Step};
use permission_core::policy::Policy;
use permission_core::{PermissionMode, PermissionResult, Settlement, ToolCall};
use serde_json::{Value, json};

use super::call::{Places, SeenCall};
use super::callbacks::{AFTER, AFTER_FAILURE, BEFORE, BEFORE_TOOL};
use super::hints::Hints;
use super::record::{Audit, DecisionRecord, Whose};
use super::running::{After, HookEnded, RunningHooks, State};

/// What a session's guard is made from.
pub(crate) struct GuardFacts {
    pub(crate) policy: Option<Arc<Policy>>,
    pub(crate) audit: Option<Arc<dyn Audit>>,
    pub(crate) whose: Whose,
    pub(crate) home: Option<PathBuf>,
    /// The directory of Claude's own configuration.
    pub(crate) claude: Option<PathBuf>,
    /// Working directories beside `cwd`.
    pub(crate) additional: Vec<PathBuf>,
}

/// The guard of one session.
pub(crate) struct SessionGuard {
    authorizer: Authorizer,
    policy: Option<Arc<Policy>>,
    audit: Option<Arc<dyn Audit>>,
    whose: Whose,
    places: Places,
    /// Where the shell of each agent is, as Claude told last.
    shells: HashMap<Option<TaskId>, String>,
    /// What the servers of MCP tools say about them.
    hints: Hints,
    /// The calls that Claude has asked the guard about and has not told the end of.
    asked: HashSet<ToolUseId>,
    running: RunningHooks,
}

/// What becomes of a callback.
pub(crate) enum GuardReply {
    /// This is the reply.
    Now(Value),
    /// The reply follows when hooks have run.
    Later,
    /// Ask Claude for the state of its MCP servers, have that learned, and take it again.
    NeedsHints,
}

/// A question to the client, as far as the guard is concerned.
pub(crate) struct Guarded(SeenCall);

impl Guarded {
    /// The tool's input.
    pub(crate) fn input(&self) -> &Value {
        &self.0.input
    }
}

impl SessionGuard {
    pub(crate) fn new(facts: GuardFacts) -> Self {
        Self {
            authorizer: Authorizer::new(Authority::OverClaude(facts.policy.clone())),
            places: Places::new(&facts),
            policy: facts.policy,
            audit: facts.audit,
            whose: facts.whose,
            shells: HashMap::new(),
            hints: Hints::default(),
            asked: HashSet::new(),
            running: RunningHooks::default(),
        }
    }

    /// What Claude's settings come to, as it tells. Under a policy a project does not say where plans may be written.
    pub(crate) fn settings_told(&mut self, settings: &Value) {
        let plans = settings
            .pointer("/effective/plansDirectory")
            .and_then(Value::as_str);
        if let Some(plans) = plans.filter(|_| self.policy.is_none()) {
            self.places.keep_plans_in(plans);
        }
    }

    /// Takes a callback of Claude's. `mode` is the session's.
    pub(crate) fn takes(
        &mut self,
        control: &ControlId,
        callback: &HookCallback,
        mode: PermissionMode,
    ) -> GuardReply {
        let agent = callback.input.agent_id.get().cloned();
        let event = callback.input.hook_event_name.as_str().unwrap_or(BEFORE_TOOL);
        match callback.callback_id.as_str() {
            AFTER_FAILURE => {
                self.authorizer.note(agent.as_ref().map(TaskId::as_str), true);
                return GuardReply::Now(json!({}));
            }
            AFTER | BEFORE => {}
            _ => return GuardReply::Now(Decision::failed(NOT_OURS).to_reply(event)),
        }
        if let Some(cwd) = callback.input.cwd.as_str().filter(|cwd| cwd.starts_with('/')) {
            self.shells.insert(agent, cwd.to_owned());
        }
        let Some(mut call) = SeenCall::of_callback(callback, mode, &self.places) else {
            return GuardReply::Now(Decision::failed(NO_CALL).to_reply(event));
        };
        if callback.callback_id == AFTER {
            return self.after(control, call, callback);
        }
        self.asked.extend(callback.tool_use_id.get().cloned());
        call.read_only_hint = self.hints.of(&call.tool);
        if call.wants_hint() {
            return GuardReply::NeedsHints;
        }
        let (evaluation, step) = self.authorizer.begin(&call.borrowed(&self.places));
        self.go_on(control, call, evaluation, step)
    }

    /// What Claude says about its MCP servers, asked for the sake of this callback's tool.
    pub(crate) fn learn_hints(&mut self, servers: &Value, callback: &HookCallback) {
        self.hints.learn(servers);
        if let Some(tool) = callback.input.tool_name.as_str() {
            self.hints.settle(tool);
        }
    }

    /// The next hook that ends; `None` when none is running.
    pub(crate) async fn next(&mut self) -> Option<HookEnded> {
        self.running.next().await
    }

    /// Goes on after a hook; the reply, once there is one. `mode` is the session's by now.
    pub(crate) fn hook_ended(
        &mut self,
        HookEnded { control, run }: HookEnded,
        mode: PermissionMode,
    ) -> Option<(ControlId, Value)> {
        let (mut call, state) = self.running.take(&control)?;
        call.goes_on_in(mode);
        let reply = match state {
            State::Before(mut evaluation) => {
                let step = self
                    .authorizer
                    .hook_ended(&mut evaluation, &call.borrowed(&self.places), &run);
                self.go_on(&control, call, evaluation, step)
            }
            State::After(mut after) => {
                let PostToolUse { feedback, note } = PostToolUse::read(&run);
                if let Some(note) = note {
                    tracing::warn!(tool = call.tool, note, "a hook after a tool");
                }
                after.feedback.extend(feedback);
                self.go_on_after(&control, call, after)
            }
        };
        match reply {
            GuardReply::Now(reply) => Some((control, reply)),
            GuardReply::Later | GuardReply::NeedsHints => None,
        }
    }

    /// Claude does not wait for a reply any more.
    pub(crate) fn withdraw(&mut self, control: &ControlId) {
        self.running.abort(control);
    }

    /// Whether these are results of tools that Claude ran without asking the guard of a policy. Then it must not go on.
    pub(crate) fn was_passed_over(&mut self, user: &UserMessage) -> bool {
        let mut passed_over = false;
        for block in user.message.content.blocks() {
            if let ContentBlock::ToolResult(result) = block {
                let asked = self.asked.remove(&result.tool_use_id);
                passed_over |= !asked && !result.is_error.is_true();
            }
        }
        passed_over && self.policy.is_some()
    }

    /// Claude's process is gone.
    pub(crate) fn forget_process(&mut self) {
        self.shells.clear();
        self.asked.clear();
        self.hints = Hints::default();
        self.running.abort_all();
    }

    /// A call that Claude's own rules denied.
    pub(crate) fn denied_by_claude(&mut self, agent: Option<&TaskId>) {
        self.authorizer.note(agent.map(TaskId::as_str), false);
    }

    /// A question of Claude's, as it is asked.
    pub(crate) fn question(&self, question: &CanUseTool, mode: PermissionMode) -> Guarded {
        let agent = question.agent_id.get();
        let current = self.shells.get(&agent.cloned()).cloned();
        let mut call = SeenCall::of_question(question, mode, current, &self.places);
        call.read_only_hint = self.hints.of(&call.tool);
        Guarded(call)
    }

    /// The call of a question.
    pub(crate) fn call<'a>(&'a self, Guarded(call): &'a Guarded) -> ToolCall<'a> {
        call.borrowed(&self.places)
    }

    /// Before the client is asked: what Claude is told instead where nobody may be.
    pub(crate) fn refuses_to_ask(&mut self, Guarded(call): &Guarded) -> Option<String> {
        let denial = self.authorizer.refuses_to_ask(&call.borrowed(&self.places))?;
        self.decided(call, denial).why()
    }

    /// The client's decision, before it leaves: a refusal, or an approval, perhaps with another input.
    ///
    /// # Errors
    /// With what Claude is told where an approval does not count.
    pub(crate) fn settled(
        &mut self,
        Guarded(mut call): Guarded,
        mode: PermissionMode,
        decision: &Settlement,
    ) -> Result<(), String> {
        if let PermissionResult::Allow { updated_input, .. } = &decision.result {
            call.approved_with(updated_input.as_ref(), mode, &self.places);
        }
        let approved = decision.approves();
        let refusal = (!approved).then(|| refusal(&decision.result).to_owned());
        let decision = self.authorizer.answered(&call.borrowed(&self.places), refusal);
        let decision = self.decided(&call, decision);
        if approved && decision.is_deny() {
            return Err(decision.why().unwrap_or_default());
        }
        Ok(())
    }

    /// A question that has no decision: nobody answered it as it was asked, or it was taken back.
    pub(crate) fn unanswered(&mut self, Guarded(call): &Guarded, why: &str) {
        self.decided(call, Decision::of_user(Some(why.to_owned())));
    }

    fn go_on(
        &mut self,
        control: &ControlId,
        call: SeenCall,
        evaluation: Evaluation,
        step: Step,
    ) -> GuardReply {
        match step {
            Step::Decided(decision) => {
                let decision = if call.stood_in_for {
                    decision.unasked(&call.tool)
                } else {
                    *decision
                };
                GuardReply::Now(self.decided(&call, decision).to_reply(&call.event))
            }
            Step::Hook(hook) => self.run(control, call, hook, State::Before(evaluation)),
        }
    }

    fn after(&mut self, control: &ControlId, call: SeenCall, callback: &HookCallback) -> GuardReply {
        self.authorizer
            .note(call.agent.as_ref().map(TaskId::as_str), true);
        let hooks = self
            .policy
            .as_ref()
            .map(|policy| policy.hooks.matching(HookEvent::PostToolUse, &call.tool));
        let mut rest = hooks.unwrap_or_default();
        rest.reverse();
        let after = After {
            rest,
            response: callback.input.tool_response.get().cloned().unwrap_or(Value::Null),
            feedback: Vec::new(),
        };
        self.go_on_after(control, call, after)
    }

    fn go_on_after(&mut self, control: &ControlId, call: SeenCall, mut after: After) -> GuardReply {
        match after.rest.pop() {
            Some(hook) => self.run(control, call, hook, State::After(after)),
            None => GuardReply::Now(told_after(&after.feedback)),
        }
    }

    fn run(
        &mut self,
        control: &ControlId,
        call: SeenCall,
        hook: Arc<HookCommand>,
        state: State,
    ) -> GuardReply {
        self.running
            .start(control, hook, &self.places.root, (call, state));
        GuardReply::Later
    }

    /// Logs a decision and writes it down; what cannot be written down is denied.
    fn decided(&self, call: &SeenCall, decision: Decision) -> Decision {
        let record = DecisionRecord::of(&self.whose, call, &decision);
        tracing::info!(
            connection = record.connection,
            session = record.session,
            tool = record.tool,
            stage = record.stage,
            rule = decision.rule().map(tracing::field::display),
            outcome = ?record.outcome,
            ms = record.ms,
            "a tool call was looked at"
        );
        let Some(audit) = &self.audit else {
            return decision;
        };
        match audit.record(&record) {
            Ok(()) => decision,
            Err(error) => {
                tracing::error!(%error, "a decision could not be written to the audit file; the call is denied");
                if decision.is_deny() {
                    decision
                } else {
                    Decision::failed(UNAUDITED)
                }
            }
        }
    }
}

const NOT_OURS: &str = "Claude called back for a hook that nobody registered";
const NO_CALL: &str = "Claude did not say which tool it calls, or with which input";
const BY_USER: &str = "the user refused";
const UNAUDITED: &str = "the decision could not be written to the operator's audit file";

/// Why a call is denied by what came back from the client: the user, or a client that could not ask one.
fn refusal(result: &PermissionResult) -> &str {
    match result {
        PermissionResult::Deny {
            message,
            decision_classification: None,
            ..
        } => message,
        PermissionResult::Deny { .. } | PermissionResult::Allow { .. } => BY_USER,
    }
}

/// What hooks after a tool have to say to the model.
fn told_after(feedback: &[String]) -> Value {
    if feedback.is_empty() {
        return json!({});
    }
    let output = json!({ "hookEventName": "PostToolUse", "additionalContext": feedback.join("\n") });
    json!({ "hookSpecificOutput": output })
}

#[cfg(test)]
mod tests {
    use claude_sdk_bridge::messages::control::HookInput;

    use super::*;

    /// A guard whose session's settings keep plans in this directory.
    fn guard(policy: Option<Policy>, plans: &str) -> SessionGuard {
        let mut guard = SessionGuard::new(GuardFacts {
            policy: policy.map(Arc::new),
            audit: None,
            whose: Whose {
                connection: "stdio #1".to_owned(),
                session: "s".to_owned(),
                cwd: "/repo".into(),
            },
            home: Some("/home/u".into()),
            claude: Some("/home/u/.claude".into()),
            additional: Vec::new(),
        });
        guard.settings_told(&json!({"effective": {"plansDirectory": plans}}));
        guard
    }

    /// Whether the guard has nothing against writing a file.
    fn passes(guard: &mut SessionGuard, file: &str, session: PermissionMode, facts: HookInput) -> bool {
        let callback = HookCallback {
            callback_id: BEFORE.to_owned(),
            input: HookInput {
                tool_name: "Write".to_owned().into(),
                tool_input: json!({"file_path": file, "content": ""}).into(),
                ..facts
            },
            ..HookCallback::default()
        };
        let reply = guard.takes(&"c".into(), &callback, session);
        matches!(reply, GuardReply::Now(reply) if reply == json!({}))
    }

    fn may_write(policy: Option<Policy>, plans: &str, file: &str) -> bool {
        let facts = HookInput::default();
        passes(&mut guard(policy, plans), file, PermissionMode::Plan, facts)
    }

    #[test]
    fn whoever_says_plan_plans() {
        let (plan, other) = (PermissionMode::Plan, PermissionMode::BypassPermissions);
        for (session, claimed, expected) in [
            (other, other, true),
            (other, plan, false),
            (plan, other, false),
            (plan, plan, false),
        ] {
            for agent in [None, Some("agent")] {
                let facts = HookInput {
                    permission_mode: claimed.wire_id().to_owned().into(),
                    agent_id: agent.map(TaskId::from).into(),
                    ..HookInput::default()
                };
                let passed = passes(&mut guard(None, "docs"), "/repo/a", session, facts);
                assert_eq!(passed, expected, "{session:?}, {claimed:?}, {agent:?}");
            }
        }
    }

    #[test]
    fn in_bypass_a_claude_that_cannot_asks_nothing_that_is_not_for_a_person() {
        use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
        let reply = |session, claimed: PermissionMode, tool: &str| {
            let callback = HookCallback {
                callback_id: BEFORE.to_owned(),
                input: HookInput {
                    tool_name: tool.to_owned().into(),
                    tool_input: json!({"command": "npm test"}).into(),
                    permission_mode: claimed.wire_id().to_owned().into(),
                    ..HookInput::default()
                },
                ..HookCallback::default()
            };
            match guard(None, "docs").takes(&"c".into(), &callback, session) {
                GuardReply::Now(reply) => {
                    let decision = &reply["hookSpecificOutput"]["permissionDecision"];
                    decision.as_str().unwrap_or("none").to_owned()
                }
                GuardReply::Later | GuardReply::NeedsHints => "later".to_owned(),
            }
        };
        for (session, claimed, tool, expected) in [
            (BypassPermissions, Default, "Bash", "allow"),
            (BypassPermissions, AcceptEdits, "Bash", "allow"),
            (BypassPermissions, Auto, "mcp__a__b", "allow"),
            (BypassPermissions, BypassPermissions, "Bash", "none"),
            (BypassPermissions, DontAsk, "Bash", "none"),
            (BypassPermissions, Plan, "Bash", "ask"),
            (BypassPermissions, Default, "AskUserQuestion", "none"),
            (BypassPermissions, Default, "ExitPlanMode", "none"),
            (Default, Default, "Bash", "none"),
            (Default, BypassPermissions, "Bash", "none"),
            (AcceptEdits, Default, "Bash", "none"),
            (Plan, Default, "Bash", "ask"),
        ] {
            assert_eq!(
                reply(session, claimed, tool),
                expected,
                "{session:?}, {claimed:?}, {tool}"
            );
        }
    }

    #[test]
    fn plans_are_written_where_settings_keep_them_and_under_a_policy_where_claude_does() {
        let (home, docs) = ("/home/u/.claude/plans/p.md", "/repo/docs/p.md");
        for (plans, file, expected) in [
            ("docs", docs, true),
            ("./docs/", docs, true),
            ("docs", home, false),
            ("docs", "/repo/docs/p.rs", false),
            ("docs", "/repo/docs/sub/p.md", false),
            ("../docs", "/docs/p.md", false),
            ("../docs", home, true),
            ("/etc", "/etc/p.md", false),
        ] {
            assert_eq!(may_write(None, plans, file), expected, "{plans}: {file}");
        }
        assert!(may_write(Some(Policy::default()), "docs", home));
        assert!(!may_write(Some(Policy::default()), "docs", docs));
    }
}
