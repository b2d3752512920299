//! The question about a tool call, as the CLI puts it.
//!
//! Place in the flow: `engine::tool` sends it. What the script leaves out is taken from the call; about a real call the
//! pipeline's reason is told, and `suggest` adds what an "always" could be.

use std::sync::Arc;

use claude_sdk_bridge::messages::control::{CanUseTool, MatchedAskRule};
use claude_sdk_bridge::messages::{Field, List, TaskId};
use permission_core::PermissionRule;
use permission_core::pipeline::{AskReason, Question};
use permission_core::rules::{Rule, RuleOrigin};
use permission_core::settings::SettingsSource;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::core::Core;
use super::effects::rule_of;
use super::{suggest, toolbox};
use crate::frames::{self, text};

/// The question about a scripted call.
pub(super) fn scripted(call: &Call, core: &Core) -> CanUseTool {
    let ask = call.step.ask.clone().unwrap_or_default();
    if let Some(reason) = &call.verdict.ask {
        return CanUseTool {
            permission_suggestions: Field::Absent,
            ..by_hook(plain(call, core), reason)
        };
    }
    let changed = call.input != call.step.input;
    let question = plain(call, core);
    CanUseTool {
        input: ask.input.filter(|_| !changed).unwrap_or(question.input),
        display_name: ask.display_name.map_or(question.display_name, Field::Known),
        title: ask.title.into(),
        description: ask.description.map_or(question.description, Field::Known),
        permission_suggestions: ask.suggestions.map(List::from_iter).into(),
        blocked_path: ask.blocked_path.into(),
        decision_reason: ask.decision_reason.into(),
        decision_reason_type: ask.decision_reason_type.into(),
        requires_user_interaction: ask
            .requires_user_interaction
            .map_or(question.requires_user_interaction, Field::Known),
        extra: ask.extra,
        ..CanUseTool {
            tool_name: question.tool_name,
            tool_use_id: question.tool_use_id,
            ..CanUseTool::default()
        }
    }
}

/// The question about a real call, as the pipeline wants it put.
pub(super) fn real(call: &Call, asked: &Question, core: &mut Core) -> CanUseTool {
    let question = CanUseTool {
        agent_id: call.agent().map(TaskId::from).into(),
        ..plain(call, core)
    };
    match &asked.reason {
        AskReason::Rule(rule) => by_rule(question, rule),
        // The session's own tools are nothing without an answer; nobody needs a reason for that.
        AskReason::Hook(reason) if reason.is_empty() || toolbox::needs_person(&call.step.name) => question,
        AskReason::Hook(reason) => by_hook(question, reason),
        AskReason::Denials(_) => CanUseTool {
            decision_reason: asked.reason.to_string().into(),
            decision_reason_type: "other".into(),
            ..question
        },
        AskReason::NothingMatched => suggest::with_suggestions(question, call, core),
        AskReason::Unanalysable(why) => CanUseTool {
            decision_reason: text::unanalysable(why).into(),
            decision_reason_type: "other".into(),
            permission_suggestions: List::default().into(),
            ..question
        },
    }
}

/// What every question about a call has.
fn plain(call: &Call, core: &Core) -> CanUseTool {
    let name = call.step.name.as_str();
    CanUseTool {
        tool_name: name.to_owned(),
        input: normalised_input(call, core),
        tool_use_id: call.id.clone(),
        display_name: frames::display_name(name).into(),
        description: description(call, core).into(),
        requires_user_interaction: toolbox::needs_person(name).then_some(true).into(),
        ..CanUseTool::default()
    }
}

fn by_hook(question: CanUseTool, reason: &str) -> CanUseTool {
    CanUseTool {
        decision_reason: reason.into(),
        decision_reason_type: "hook".into(),
        decision_reason_hook_event: "PreToolUse".into(),
        decision_reason_hook_source: "settings".into(),
        ..question
    }
}

fn by_rule(question: CanUseTool, rule: &Arc<Rule>) -> CanUseTool {
    let source = source_name(rule.origin());
    let PermissionRule {
        tool_name,
        rule_content,
    } = rule_of(rule.text());
    let matched = MatchedAskRule {
        source: source.into(),
        tool_name: tool_name.into(),
        rule_content: rule_content.into(),
        ..MatchedAskRule::default()
    };
    CanUseTool {
        decision_reason: AskReason::Rule(Arc::clone(rule)).to_string().into(),
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

/// The input as a question shows it: that of `ExitPlanMode` is the plan file, whatever the model wrote.
fn normalised_input(call: &Call, core: &Core) -> Map<String, Value> {
    if call.step.name == "ExitPlanMode" {
        let own = if call.step.real {
            call.input.clone()
        } else {
            Map::new()
        };
        plan(core).unwrap_or(own)
    } else {
        call.input.clone()
    }
}

/// The input as the call's own frame shows it: that of `ExitPlanMode` is the plan file, if there is one.
pub(super) fn written_input(call: &Call, core: &Core) -> Map<String, Value> {
    let plan = if call.step.name == "ExitPlanMode" {
        plan(core)
    } else {
        None
    };
    plan.unwrap_or_else(|| call.step.input.clone())
}

fn plan(core: &Core) -> Option<Map<String, Value>> {
    let plan = core.plan()?;
    let fields = [("plan", &plan.content), ("planFilePath", &plan.path)];
    Some(
        fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect(),
    )
}

/// What a call is about, in the words of its input.
fn description(call: &Call, core: &Core) -> Option<String> {
    let field = |key: &str| call.input.get(key).and_then(Value::as_str).map(str::to_owned);
    match call.step.name.as_str() {
        "Bash" => field("description"),
        "WebFetch" => field("url"),
        "Edit" | "Write" | "NotebookEdit" | "Read" => {
            let path = field("file_path").or_else(|| field("notebook_path"))?;
            let ground = core.authority.ground().filter(|_| call.step.real);
            let cwd = ground.map_or(&core.setup.cwd, |ground| &ground.places().project);
            let inside = path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
            Some(inside.map_or_else(|| path.clone(), str::to_owned))
        }
        _ => None,
    }
}
