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
use permission_core::pipeline::hooks::PreToolUse;
use permission_core::pipeline::{
    AskReason, DENIAL_THRESHOLD, Decision, Evaluation, Outcome, PermissionContext, Pipeline, Reason, Stage,
    Step, Tool, ToolCall, UserAnswer,
};
use permission_core::rules::{Rule, RuleKind, RuleOrigin, RuleSet};
use permission_core::settings::{SettingsFile, SettingsSource, Sourced, merge};
use permission_core::{LexicalPaths, PermissionBehavior, PermissionMode};
use serde_json::{Map, Value};

use super::by_script::needs_person;
use super::hooks::Verdict;
use super::question;
use super::reply;
use super::{Acceptance, Call, CallState, Refusal};
use crate::engine::core::Core;
use crate::frames::{self, text};

/// The home directory of whoever plays a script.
const HOME: &str = "/home/rehearsal";

/// What the managed settings are called.
const MANAGED: &str = "managed settings";

/// The model's own notes need nobody's permission; nor does the file of its plan.
const UNASKED: [&str; 2] = ["TodoWrite", "TodoRead"];

/// What outlives a call: how many denials in a row there were.
#[derive(Debug)]
pub(crate) struct Decider {
    pipeline: Pipeline,
}

/// A call that is being decided about.
pub(crate) struct Pending {
    evaluation: Evaluation,
}

/// A tool of which the script says what comes out: there is nothing that it would refuse by itself.
struct ScriptedTool;

impl Default for Decider {
    fn default() -> Self {
        Self {
            pipeline: Pipeline::new(PermissionContext::new("/", PermissionMode::Default)),
        }
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.evaluation.call().fmt(f)
    }
}

impl Tool for ScriptedTool {
    fn validate_input(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn check_permissions(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

impl Call {
    /// Decides about the call, of which hooks have been heard.
    pub(super) fn decide(&mut self, core: &mut Core) {
        let tool_call = ToolCall {
            name: self.step.name.clone(),
            input: Value::Object(self.input.clone()),
            tool_use_id: self.id.as_str().to_owned(),
            agent: self.agent(),
        };
        let said = said(&self.verdict, &self.step.name);
        let context = core.context();
        let pipeline = &mut core.decider.pipeline;
        pipeline.begin_turn(context);
        let (evaluation, step) =
            pipeline.start_after_hooks(tool_call, Some(Arc::new(ScriptedTool)), said, &LexicalPaths);
        self.pending = Some(Box::new(Pending { evaluation }));
        self.proceed(step, core);
    }

    /// Takes the host's answer to the question.
    pub(super) fn decide_answered(&mut self, answer: reply::Answer, core: &mut Core) {
        let told = match &answer {
            Ok(allowed) => UserAnswer::Allow {
                updated_input: allowed.input.clone().map(Value::Object),
            },
            Err(refusal) => UserAnswer::Deny {
                message: refusal.text.clone(),
            },
        };
        self.answer = Some(answer);
        self.user_answered(told, core);
    }

    fn user_answered(&mut self, answer: UserAnswer, core: &mut Core) {
        if let Some(pending) = &mut self.pending {
            let pipeline = &mut core.decider.pipeline;
            let step = pipeline.answered(&mut pending.evaluation, answer, &LexicalPaths);
            self.proceed(step, core);
        }
    }

    /// Does what the machine wants next.
    fn proceed(&mut self, step: Step, core: &mut Core) {
        match step {
            // The context has none: hooks have been heard before.
            Step::Hook(_) => self.refuse(Refusal::failed(text::MALFORMED_ANSWER)),
            Step::Ask(asked) if self.verdict.allow && no_rule_asks(&asked.reason) => {
                self.user_answered(UserAnswer::Allow { updated_input: None }, core);
            }
            Step::Ask(asked) => {
                let question = because(question::about(self, core), &asked.reason, &self.step.name);
                self.ask(question, core);
            }
            Step::Done(decision) => self.decided(&decision, core),
        }
    }

    fn decided(&mut self, decision: &Decision, core: &mut Core) {
        self.pending = None;
        let answer = self.answer.take();
        let refusal = match (&decision.outcome, answer) {
            (Outcome::Allow { input }, answer) => {
                let input = input.as_object().cloned().unwrap_or_default();
                let allowed = answer.and_then(Result::ok);
                let acceptance = accepted(decision, allowed.as_ref(), self.verdict.allow, input);
                self.state = CallState::Accepted(acceptance);
                if let Some(allowed) = allowed {
                    core.take_effect(&self.step.name, &allowed.updates);
                }
                return;
            }
            (Outcome::Deny { .. }, Some(Err(refusal))) => refusal,
            (Outcome::Deny { message }, answer) => {
                let refusal = match &self.verdict.deny {
                    Some(reason) if decision.stage == Stage::Hooks => {
                        Refusal::of_verdict(&self.verdict, &self.step.name, reason)
                    }
                    _ => Refusal::of_config(message.clone(), reason_type(&decision.reason, core.mode)),
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
    /// What decides about a call that is made now.
    fn context(&self) -> PermissionContext {
        let managed = self.setup.managed_settings.as_ref().map(Value::to_string);
        let managed =
            managed.map(|text| SettingsFile::parse(SettingsSource::Managed, Path::new(MANAGED), &text));
        let own = self
            .selected
            .script
            .settings()
            .filter(|_| self.reads_local_settings());
        let settings = merge(own.iter().map(SettingsText::parse).chain(managed)).values;
        let mut context = PermissionContext::new(&*self.setup.cwd, self.mode);
        context.home = Some(HOME.to_owned());
        context.plan_file = self.plan().map(|plan| plan.path.clone());
        let launched_for_it = self.setup.allow_bypass || self.setup.mode == PermissionMode::BypassPermissions;
        context.bypass_available = launched_for_it && settings.bypass_disabled.is_none();
        context.auto_available = settings.auto_disabled.is_none();
        context.avoid_prompts = !self.setup.asks;
        let threshold = self.selected.script.session.denial_threshold;
        context.denial_threshold = threshold.unwrap_or(DENIAL_THRESHOLD);
        context.rules = RuleSet::read(&settings.rules).0;
        self.add_rules(&mut context.rules);
        let of_settings = settings
            .additional_directories
            .into_iter()
            .map(|Sourced { value, origin }| (value, RuleOrigin::File(origin)));
        let of_launch = self.setup.additional_directories.iter();
        let of_launch = of_launch.map(|directory| (directory.clone(), RuleOrigin::Arguments));
        let granted = self.state.granted.directories.iter();
        let granted = granted.map(|(_, directory)| (directory.clone(), RuleOrigin::Session));
        let all = of_settings.chain(of_launch).chain(granted);
        context
            .additional_working_directories
            .extend(all.map(|(directory, origin)| (self.absolute(&directory), origin)));
        context
    }

    /// Rules that stand in no settings.
    fn add_rules(&self, rules: &mut RuleSet) {
        let with_content = |rule: &&String| rule.contains('(');
        for text in self.setup.disallowed_tools.iter().filter(with_content) {
            rules.add(RuleKind::Deny, text, RuleOrigin::Arguments);
        }
        let plan = self.plan().map(|plan| format!("Edit(/{})", plan.path));
        let allowed = self.setup.allowed_tools.iter().map(String::as_str);
        for text in allowed.chain(UNASKED).chain(plan.as_deref()) {
            rules.add(RuleKind::Allow, text, RuleOrigin::Arguments);
        }
        for granted in &self.state.granted.rules {
            let kind = match granted.behavior {
                PermissionBehavior::Allow => RuleKind::Allow,
                PermissionBehavior::Deny => RuleKind::Deny,
                PermissionBehavior::Ask => RuleKind::Ask,
            };
            rules.add(kind, &granted.rule.to_string(), RuleOrigin::Session);
        }
    }

    fn reads_local_settings(&self) -> bool {
        let sources = self.setup.setting_sources.as_ref();
        sources.is_none_or(|sources| sources.contains(&SettingSource::Local))
    }

    fn absolute(&self, path: &str) -> String {
        match path.strip_prefix("~/") {
            Some(rest) => format!("{HOME}/{rest}"),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.setup.cwd),
        }
    }
}

/// What hooks say, for the machine. A tool that is nothing without somebody's answer is asked about in every mode.
fn said(verdict: &Verdict, tool: &str) -> PreToolUse {
    if let Some(reason) = &verdict.deny {
        return PreToolUse::Deny {
            reason: reason.clone(),
        };
    }
    let nothing = || needs_person(tool).then(String::new);
    PreToolUse::Change {
        input: None,
        ask: verdict.ask.clone().or_else(nothing),
    }
}

/// Whether a hook's approval is enough.
fn no_rule_asks(reason: &AskReason) -> bool {
    match reason {
        AskReason::NothingMatched | AskReason::Unanalysable(_) => true,
        AskReason::Rule(_) | AskReason::Hook(_) | AskReason::Denials(_) => false,
    }
}

/// The question with the machine's reason. As in the CLI, nothing is suggested for longer where it would come again all the same.
fn because(question: CanUseTool, reason: &AskReason, tool: &str) -> CanUseTool {
    let other = |suggestions, reason: String| CanUseTool {
        permission_suggestions: suggestions,
        decision_reason: reason.into(),
        decision_reason_type: "other".into(),
        ..question.clone()
    };
    match reason {
        AskReason::NothingMatched => question,
        AskReason::Hook(_) if needs_person(tool) => question,
        AskReason::Hook(reason) => question::by_hook(question, reason),
        AskReason::Rule(rule) => by_rule(question, rule, reason.to_string()),
        AskReason::Denials(_) => other(Field::Absent, reason.to_string()),
        AskReason::Unanalysable(why) => other(List::default().into(), text::unanalysable(why)),
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

fn accepted(
    decision: &Decision,
    allowed: Option<&reply::Allowed>,
    by_hook: bool,
    input: Map<String, Value>,
) -> Acceptance {
    let (source, reason_type) = match (allowed, &decision.reason) {
        (Some(allowed), _) => (allowed.source, None),
        (None, _) if by_hook => ("hook", Some("hook")),
        (None, Reason::Rule) => ("config", Some("rule")),
        (None, _) => ("config", Some("mode")),
    };
    Acceptance {
        input,
        source,
        reason_type,
    }
}

fn reason_type(reason: &Reason, mode: PermissionMode) -> &'static str {
    match reason {
        Reason::Plan => "mode",
        Reason::NoPrompt(_) if mode == PermissionMode::DontAsk => "mode",
        Reason::Rule | Reason::NoPrompt(AskReason::Rule(_)) => "rule",
        Reason::NoPrompt(_) => "asyncAgent",
        Reason::UnknownTool
        | Reason::InvalidInput(_)
        | Reason::Hook(_)
        | Reason::ReadOnly
        | Reason::AcceptedEdit
        | Reason::Bypass
        | Reason::User(_)
        | Reason::Check(_) => "other",
    }
}
