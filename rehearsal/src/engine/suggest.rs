//! What a question about a real call suggests for longer: rules for a command, a mode for edits, a directory.
//!
//! Place in the flow: `question` adds it where no rule matched. As in the CLI, nothing durable is suggested where a rule or a
//! hook wants the question, because it would come again all the same.

use claude_sdk_bridge::messages::List;
use claude_sdk_bridge::messages::control::CanUseTool;
use permission_core::pipeline::PermissionContext;
use permission_core::rules::Call as RuleCall;
use permission_core::{
    PermissionBehavior, PermissionDestination, PermissionMode, PermissionRule, PermissionUpdate,
};
use serde_json::{Value, json};

use super::call::Call;
use super::core::Core;
use super::effects::rule_of;
use super::ground::{Ground, Places};
use crate::frames::text;

/// A question with what may be suggested.
pub(super) fn with_suggestions(mut question: CanUseTool, call: &Call, core: &Core) -> CanUseTool {
    let Some(trial) = &call.trial else { return question };
    let ground = &*trial.ground;
    let context = trial.evaluation.context();
    let updates = match call.step.name.as_str() {
        "Bash" => Some(for_command(call, context, ground)),
        "Edit" | "Write" => for_edit(&mut question, call, core.mode, context, ground),
        "Read" | "Glob" | "Grep" => for_reading(&mut question, call, ground),
        _ => None,
    };
    if let Some(updates) = updates {
        question.permission_suggestions = updates
            .iter()
            .map(|update| json!(update))
            .collect::<List<Value>>()
            .into();
    }
    question
}

/// The rules that are enough for a command; for a single plain one, with whatever follows its second word.
fn for_command(call: &Call, context: &PermissionContext, ground: &dyn Ground) -> Vec<PermissionUpdate> {
    let input = Value::Object(call.input.clone());
    let directories = context.directories();
    let workspace = context.workspace(&directories, ground);
    let rules = RuleCall::new(&call.step.name, &input, workspace).allow_rules();
    let rules: Vec<PermissionRule> = match rules.as_slice() {
        [] => return Vec::new(),
        [only] => vec![widened(rule_of(only))],
        several => several.iter().map(|rule| rule_of(rule)).collect(),
    };
    vec![allow(rules, PermissionDestination::LocalSettings)]
}

fn widened(rule: PermissionRule) -> PermissionRule {
    let plain = |word: &str, also: &str| {
        let letters =
            |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter) || also.contains(letter);
        !word.is_empty() && !word.starts_with('-') && word.chars().all(letters)
    };
    let words = rule.rule_content.as_deref().unwrap_or_default();
    let mut words = words.split(' ');
    match (words.next(), words.next()) {
        (Some(program), Some(task)) if plain(program, "./") && plain(task, "") => {
            PermissionRule::with_content(rule.tool_name, format!("{program} {task} *"))
        }
        _ => rule,
    }
}

fn for_edit(
    question: &mut CanUseTool,
    call: &Call,
    mode: PermissionMode,
    context: &PermissionContext,
    ground: &dyn Ground,
) -> Option<Vec<PermissionUpdate>> {
    let places = ground.places();
    let file = file_of(call, places)?;
    if let Some(root) = settings_root(&file, places) {
        question.decision_reason = text::SETTINGS_ARE_SENSITIVE.into();
        question.decision_reason_type = "safetyCheck".into();
        let rule = PermissionRule::with_content("Edit", format!("/{root}/**"));
        return Some(vec![allow(vec![rule], PermissionDestination::Session)]);
    }
    let directories = context.directories();
    let inside = std::iter::once(&places.project)
        .chain(&directories)
        .any(|directory| below(directory, &file));
    let mut updates = Vec::new();
    if !inside {
        outside(question, &file);
        updates.push(PermissionUpdate::AddDirectories {
            directories: vec![parent(&file)],
            destination: PermissionDestination::Session,
        });
    }
    if mode == PermissionMode::Default {
        updates.push(PermissionUpdate::SetMode {
            mode: PermissionMode::AcceptEdits,
            destination: PermissionDestination::Session,
        });
    }
    (!updates.is_empty()).then_some(updates)
}

fn for_reading(question: &mut CanUseTool, call: &Call, ground: &dyn Ground) -> Option<Vec<PermissionUpdate>> {
    let places = ground.places();
    let searches = call.step.name != "Read";
    let file = file_of(call, places)?;
    outside(question, &file);
    let directory = if searches { file } else { parent(&file) };
    let rule = PermissionRule::with_content("Read", format!("/{directory}/**"));
    Some(vec![allow(vec![rule], PermissionDestination::Session)])
}

fn outside(question: &mut CanUseTool, file: &str) {
    question.blocked_path = file.into();
    question.decision_reason = text::OUTSIDE.into();
    question.decision_reason_type = "workingDir".into();
}

fn allow(rules: Vec<PermissionRule>, destination: PermissionDestination) -> PermissionUpdate {
    PermissionUpdate::AddRules {
        rules,
        behavior: PermissionBehavior::Allow,
        destination,
    }
}

/// The file or directory of a call, absolute.
fn file_of(call: &Call, places: &Places) -> Option<String> {
    let field = |key: &str| call.input.get(key).and_then(Value::as_str);
    let path = field("file_path").or_else(|| field("path"))?;
    Some(places.absolute(path))
}

/// Where the settings of Claude are that a file is among.
fn settings_root(file: &str, places: &Places) -> Option<String> {
    let roots = [&places.project, &places.home].map(|root| format!("{root}/.claude"));
    roots.into_iter().find(|root| below(root, file))
}

fn below(directory: &str, file: &str) -> bool {
    file.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

fn parent(file: &str) -> String {
    file.rsplit_once('/').map_or("/", |(parent, _)| parent).to_owned()
}
