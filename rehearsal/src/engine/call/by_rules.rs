//! The one place that asks the machine of the five stages about a call, as the sole authority.
//!
//! Place in the flow: `steps` begins here once hooks have been heard, `reply` brings the host's answer. What the machine goes by
//! is the script's settings, what has been granted since, the launch and the mode; paths are compared as they are written,
//! because no file of a script exists.

use std::path::Path;
use std::sync::Arc;

use claude_sdk_bridge::launch::SettingSource;
use claude_sdk_bridge::messages::control::{CanUseTool, MatchedAskRule};
use claude_sdk_bridge::messages::{Field, List};
use claude_sdk_bridge::settings::SettingsText;
use permission_core::decide::hooks::PreToolUse;
use permission_core::decide::{
    Authority, Authorizer, DENIAL_THRESHOLD, Decision, Outcome, Reason, Sole, Stage,
};
use permission_core::rules::{Rule, RuleKind, RuleOrigin, RuleSet};
use permission_core::settings::{SettingsFile, SettingsSource, SettingsValues, merge};
use permission_core::{LexicalPaths, PermissionBehavior, PermissionMode, ToolCall, Workspace};
use serde_json::Value;

use super::hooks::Verdict;
use super::{Acceptance, Call, CallState, Refusal, question, reply};
use crate::engine::core::Core;
use crate::frames::{self, text};

/// The home directory of whoever plays a script.
const HOME: &str = "/home/rehearsal";

/// What the managed settings are called.
const MANAGED: &str = "managed settings";

/// The model's own notes need nobody's permission; nor does the file of its plan.
const UNASKED: [&str; 2] = ["TodoWrite", "TodoRead"];

impl Call {
    /// Decides about the call, of which hooks have been heard.
    pub(super) fn decide(&mut self, core: &mut Core) {
        let said = said(&self.verdict);
        let mut decision = core.authorize(self, |authorizer, call| authorizer.decide(call, said));
        if decision.outcome == Outcome::Ask {
            if !self.verdict.allow || !is_unruled(&decision.reason) {
                let question = because(question::about(self, core), &decision);
                return self.ask(question, core);
            }
            // The approval of a hook is enough.
            decision = core.authorize(self, |authorizer, call| authorizer.answered(call, None));
        }
        self.decided(&decision, None, core);
    }

    /// Takes the host's answer to the question.
    pub(super) fn decide_answered(&mut self, answer: reply::Answer, core: &mut Core) {
        let refusal = answer.as_ref().err().map(|refusal| refusal.text.clone());
        let changed = answer.as_ref().ok().and_then(|allowed| allowed.input.as_ref());
        if let Some(input) = changed {
            self.input.clone_from(input);
        }
        let decision = core.authorize(self, |authorizer, call| authorizer.answered(call, refusal));
        self.decided(&decision, Some(answer), core);
    }

    fn decided(&mut self, decision: &Decision, answer: Option<reply::Answer>, core: &mut Core) {
        if decision.outcome == Outcome::Allow {
            let allowed = answer.and_then(Result::ok);
            self.state = CallState::Accepted(accepted(decision, allowed.as_ref(), self));
            if let Some(allowed) = allowed {
                core.take_effect(&self.step.name, &allowed.updates);
            }
            return;
        }
        let refusal = match answer {
            Some(Err(refusal)) => refusal,
            answer => {
                let refusal = match &self.verdict.deny {
                    Some(reason) if decision.stage == Stage::Hooks => {
                        Refusal::of_verdict(&self.verdict, &self.step.name, reason)
                    }
                    _ => {
                        let why = decision.why().unwrap_or_default();
                        Refusal::of_config(why, reason_type(&decision.reason, core.mode))
                    }
                };
                // Whoever has been asked is not told again.
                if decision.stage != Stage::Hooks && answer.is_none() {
                    let why = refusal.reason_type.unwrap_or("other");
                    frames::permission_denied(&mut core.out, &self.step.name, &self.id, why, &refusal.text);
                }
                refusal
            }
        };
        self.refuse(refusal);
    }
}

impl Core {
    /// Has the machine look at a call, in the session as it is now.
    fn authorize(
        &mut self,
        call: &Call,
        look: impl FnOnce(&mut Authorizer, &ToolCall<'_>) -> Decision,
    ) -> Decision {
        let settings = self.settings();
        let sole = Sole {
            rules: self.rules(&settings),
            headless: !self.setup.asks(),
            denial_threshold: self
                .selected
                .script
                .session
                .denial_threshold
                .unwrap_or(DENIAL_THRESHOLD),
        };
        let additional = self.directories(&settings);
        let plan_file = self.plan().map(|plan| plan.path.clone());
        let (input, agent) = (Value::Object(call.input.clone()), call.agent());
        let workspace = Workspace {
            cwd: self.setup.cwd(),
            current: self.setup.cwd(),
            project_root: self.setup.cwd(),
            home: Some(HOME),
            additional: &additional,
            paths: &LexicalPaths,
        };
        let mut tool_call = ToolCall::new(&call.step.name, &input, workspace);
        tool_call.mode = self.counting_mode(&settings);
        tool_call.plan_file = plan_file.as_deref();
        tool_call.agent = agent.as_deref();
        self.authorizer.change(Authority::Sole(sole));
        look(&mut self.authorizer, &tool_call)
    }

    fn settings(&self) -> SettingsValues {
        let managed = self.setup.options.managed_settings.as_ref().map(Value::to_string);
        let managed =
            managed.map(|text| SettingsFile::parse(SettingsSource::Managed, Path::new(MANAGED), &text));
        let own = self
            .selected
            .script
            .settings()
            .filter(|_| self.reads_local_settings());
        merge(own.iter().map(SettingsText::parse).chain(managed)).values
    }

    /// A mode that is not available counts as `default`.
    fn counting_mode(&self, settings: &SettingsValues) -> PermissionMode {
        let launched_for_it = self.setup.allows_bypass();
        let available = match self.mode {
            PermissionMode::BypassPermissions => launched_for_it && settings.bypass_disabled.is_none(),
            PermissionMode::Auto => settings.auto_disabled.is_none(),
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::DontAsk => true,
        };
        if available {
            self.mode
        } else {
            PermissionMode::Default
        }
    }

    fn directories(&self, settings: &SettingsValues) -> Vec<String> {
        let of_settings = settings.additional_directories.iter();
        let of_settings = of_settings.map(|directory| directory.value.as_str());
        let all = of_settings
            .chain(self.setup.additional_directories())
            .chain(self.state.granted.directories());
        all.map(|directory| self.absolute(directory)).collect()
    }

    fn rules(&self, settings: &SettingsValues) -> RuleSet {
        let mut rules = RuleSet::read(&settings.rules).0;
        let with_content = |rule: &&String| rule.contains('(');
        for text in self.setup.options.disallowed_tools.iter().filter(with_content) {
            rules.add(RuleKind::Deny, text, RuleOrigin::Arguments);
        }
        let plan = self.plan().map(|plan| format!("Edit(/{})", plan.path));
        let allowed = self.setup.options.allowed_tools.iter().map(String::as_str);
        for text in allowed.chain(UNASKED).chain(plan.as_deref()) {
            rules.add(RuleKind::Allow, text, RuleOrigin::Arguments);
        }
        for behavior in [
            PermissionBehavior::Allow,
            PermissionBehavior::Deny,
            PermissionBehavior::Ask,
        ] {
            for rule in self.state.granted.rules(behavior) {
                rules.add(behavior.into(), &rule.to_string(), RuleOrigin::Session);
            }
        }
        rules
    }

    fn reads_local_settings(&self) -> bool {
        let sources = self.setup.options.setting_sources.as_ref();
        sources.is_none_or(|sources| sources.contains(&SettingSource::Local))
    }

    fn absolute(&self, path: &str) -> String {
        match path.strip_prefix("~/") {
            Some(rest) => format!("{HOME}/{rest}"),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.setup.cwd()),
        }
    }
}

/// What hooks say, for the machine.
fn said(verdict: &Verdict) -> PreToolUse {
    match &verdict.deny {
        Some(reason) => PreToolUse::Deny {
            reason: reason.clone(),
        },
        None => PreToolUse::Change {
            input: None,
            ask: verdict.ask.clone(),
        },
    }
}

/// Whether there is a question only because nothing says otherwise.
fn is_unruled(reason: &Reason) -> bool {
    matches!(reason, Reason::NothingMatched | Reason::Unanalysable(_))
}

/// The question with the machine's reason. As in the CLI, nothing is suggested for longer where it would come again all the same.
fn because(question: CanUseTool, decision: &Decision) -> CanUseTool {
    let other = |suggestions, reason: String| CanUseTool {
        permission_suggestions: suggestions,
        decision_reason: reason.into(),
        decision_reason_type: "other".into(),
        ..question.clone()
    };
    let why = || decision.why().unwrap_or_default();
    match (&decision.reason, decision.rule()) {
        (Reason::Hook(reason), _) => question::by_hook(question, reason),
        (Reason::Rule, Some(rule)) => by_rule(question, rule, why()),
        (Reason::Denials(_), _) => other(Field::Absent, why()),
        (Reason::Unanalysable(why), _) => other(List::default().into(), text::unanalysable(why)),
        _ => question,
    }
}

fn by_rule(question: CanUseTool, rule: &Arc<Rule>, reason: String) -> CanUseTool {
    let source = source_name(rule.origin());
    let (tool, content) = match rule.text().split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (rule.text(), None),
    };
    let matched = MatchedAskRule {
        source: source.into(),
        tool_name: tool.into(),
        rule_content: content.map(str::to_owned).into(),
        ..MatchedAskRule::default()
    };
    CanUseTool {
        permission_suggestions: Field::Absent,
        decision_reason: reason.into(),
        decision_reason_type: "rule".into(),
        decision_reason_rule_source: source.into(),
        matched_ask_rule: matched.into(),
        ..question
    }
}

fn source_name(origin: &RuleOrigin) -> &'static str {
    match origin {
        RuleOrigin::Session => "session",
        RuleOrigin::Arguments => "cliArg",
        RuleOrigin::File(place) => match place.source {
            SettingsSource::User => "userSettings",
            SettingsSource::Project => "projectSettings",
            SettingsSource::Local => "localSettings",
            SettingsSource::Flag => "flagSettings",
            SettingsSource::Managed => "policySettings",
        },
    }
}

fn accepted(decision: &Decision, allowed: Option<&reply::Allowed>, call: &Call) -> Acceptance {
    let (source, reason_type) = match (allowed, &decision.reason) {
        (Some(allowed), _) => (allowed.source, None),
        (None, _) if call.verdict.allow => ("hook", Some("hook")),
        (None, Reason::Rule) => ("config", Some("rule")),
        (None, _) => ("config", Some("mode")),
    };
    Acceptance {
        input: call.input.clone(),
        source,
        reason_type,
    }
}

fn reason_type(reason: &Reason, mode: PermissionMode) -> &'static str {
    let plan = [Reason::PlanChange, Reason::PlanMayChange, Reason::PlanServer].contains(reason);
    let (silent, by_rule) = match reason {
        Reason::NoPrompt(why) => (true, **why == Reason::Rule),
        reason => (false, *reason == Reason::Rule),
    };
    if plan || silent && mode == PermissionMode::DontAsk {
        "mode"
    } else if by_rule {
        "rule"
    } else if silent {
        "asyncAgent"
    } else {
        "other"
    }
}
