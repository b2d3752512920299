//! The tables of the extension document: a test for every row, which names it.

use serde_json::{Value, json};

use super::result_of;
use crate::testing::{Scene, d, durable_label, l, listing, m, r};
use crate::{Answer, OptionId, OptionKind, PermissionMode, PrepareError, SettleError};

const OPTION_IDS: [(&str, OptionId, OptionKind); 13] = [
    ("allow-once", OptionId::AllowOnce, OptionKind::AllowOnce),
    (
        "allow-with-updates",
        OptionId::AllowWithUpdates,
        OptionKind::AllowAlways,
    ),
    (
        "allow-with-fewer-updates",
        OptionId::AllowWithFewerUpdates,
        OptionKind::AllowAlways,
    ),
    (
        "allow-skill-exact",
        OptionId::AllowSkillExact,
        OptionKind::AllowAlways,
    ),
    (
        "allow-skill-prefix",
        OptionId::AllowSkillPrefix,
        OptionKind::AllowAlways,
    ),
    ("exit-plan-auto", OptionId::ExitPlanAuto, OptionKind::AllowAlways),
    (
        "exit-plan-bypass",
        OptionId::ExitPlanBypass,
        OptionKind::AllowAlways,
    ),
    (
        "exit-plan-accept-edits",
        OptionId::ExitPlanAcceptEdits,
        OptionKind::AllowAlways,
    ),
    (
        "exit-plan-default",
        OptionId::ExitPlanDefault,
        OptionKind::AllowOnce,
    ),
    (
        "exit-plan-clear-auto",
        OptionId::ExitPlanClearAuto,
        OptionKind::AllowAlways,
    ),
    (
        "exit-plan-clear-bypass",
        OptionId::ExitPlanClearBypass,
        OptionKind::AllowAlways,
    ),
    (
        "exit-plan-clear-accept-edits",
        OptionId::ExitPlanClearAcceptEdits,
        OptionKind::AllowAlways,
    ),
    ("reject", OptionId::Reject, OptionKind::RejectOnce),
];

#[test]
fn option_ids_table_every_id_has_its_spelling_and_kind() {
    let plan = |modes: &'static [PermissionMode]| {
        Scene::new("ExitPlanMode", json!({ "plan": "p" })).prepare_with(|ask| ask.plan.offered_modes = modes)
    };
    let requests = [
        Scene::running("touch x", [l("Bash", "touch x *"), m("acceptEdits")]).prepare(),
        Scene::new("Skill", json!({ "skill": "a b" })).prepare(),
        plan(&[PermissionMode::Auto]),
        plan(&[PermissionMode::BypassPermissions]),
        plan(&[]),
    ];
    for (wire_id, id, kind) in OPTION_IDS {
        assert_eq!(id.as_str(), wire_id);
        assert_eq!(serde_json::to_value(id).unwrap(), json!(wire_id));
        let offered = requests
            .iter()
            .flat_map(|request| request.options())
            .find(|option| option.id == id);
        assert_eq!(offered.map(|option| option.kind), Some(kind), "{wire_id}");
    }
    let kinds = [
        OptionKind::AllowOnce,
        OptionKind::AllowAlways,
        OptionKind::RejectOnce,
    ];
    let on_the_wire = kinds.map(|kind| serde_json::to_value(kind).unwrap());
    assert_eq!(
        on_the_wire,
        [json!("allow_once"), json!("allow_always"), json!("reject_once")]
    );
}

#[test]
fn presentation_table_version_is_1() {
    assert_eq!(Scene::bash().prepare().presentation().version, 1);
}

#[test]
fn presentation_table_title_is_the_tool_calls_title_and_never_empty() {
    let title = |tool: &str, title: &'static str| {
        Scene::new(tool, json!({}))
            .prepare_with(|ask| ask.tool_title = title)
            .presentation()
            .title
            .clone()
    };
    let command = "curl -s  x |\n\tsh";
    assert_eq!(title("Bash", command), command, "a command stands as it is");
    assert_eq!(title("PowerShell", command), command, "a command stands as it is");
    let long: &'static str = Box::leak("x".repeat(6_000).into_boxed_str());
    assert_eq!(title("Bash", long), long, "a command is never cut");
    assert_eq!(
        title("Read", "Read  a\nb\u{7}.txt"),
        "Read a b.txt",
        "one clean line"
    );
    assert_eq!(title("Read", long), "Use tool?", "too long");
    assert_eq!(title("Read", " "), "Use tool?", "blank");
    assert_eq!(title("Bash", " "), "Use tool?", "blank");
    assert_eq!(title("ExitPlanMode", "Approve Plan"), "Ready to code?");
}

#[test]
fn presentation_table_description_is_the_decision_reason_only() {
    let request = Scene::new("Bash", json!({ "description": "harmless" }))
        .prepare_with(|ask| ask.decision_reason = Some("Needed to verify the change."));
    let description = request.presentation().description.as_deref();
    assert_eq!(description, Some("Reason: Needed to verify the change."));
}

/// The offered ids of a family, and whether a fitting suggestion makes a durable option.
fn family(tool: &str, input: Value, suggestion: Option<Value>, ids: &[&str]) {
    let offered: Vec<String> = Scene::new(tool, input)
        .suggesting(suggestion)
        .offers()
        .iter()
        .map(|option| option.split(':').next().unwrap().to_owned())
        .collect();
    assert_eq!(offered, ids, "{tool}");
}

const DURABLE: &[&str] = &["allow-once", "allow-with-updates", "reject"];
const ONCE: &[&str] = &["allow-once", "reject"];

#[test]
fn family_bash_and_powershell_offer_the_exact_bundle() {
    for tool in ["Bash", "PowerShell"] {
        let input = json!({ "command": "x" });
        family(tool, input.clone(), Some(l(tool, "x:*")), DURABLE);
        family(tool, input, None, ONCE);
    }
}

#[test]
fn family_read_glob_and_grep_offer_a_matching_session_grant() {
    for tool in ["Read", "Glob", "Grep"] {
        let input = json!({ "file_path": "/repo/a", "pattern": "a" });
        family(tool, input.clone(), Some(r("Read", "//repo/**")), DURABLE);
        family(tool, input, Some(l("Read", "//repo/**")), ONCE);
    }
}

#[test]
fn family_edit_write_and_notebook_edit_offer_a_matching_session_grant() {
    for tool in ["Edit", "Write", "NotebookEdit"] {
        let input = |path: &str| json!({ "file_path": path, "notebook_path": path });
        family(tool, input("/repo/a"), Some(m("acceptEdits")), DURABLE);
        family(tool, input("/repo/.claude/a"), Some(m("acceptEdits")), ONCE);
        family(
            tool,
            input("/repo/.claude/a"),
            Some(r("Edit", ".claude/**")),
            DURABLE,
        );
    }
}

#[test]
fn family_web_fetch_offers_a_generated_host_rule() {
    family("WebFetch", json!({ "url": "https://a.b/c" }), None, DURABLE);
}

#[test]
fn family_skill_offers_exact_and_prefix_rules() {
    let both = &["allow-once", "allow-skill-exact", "allow-skill-prefix", "reject"];
    family("Skill", json!({ "skill": "a b" }), None, both);
    let exact = &["allow-once", "allow-skill-exact", "reject"];
    family("Skill", json!({ "skill": "a" }), None, exact);
    let prefix = &["allow-once", "allow-skill-prefix", "reject"];
    family("Skill", json!({ "skill": "a", "args": "b" }), None, prefix);
}

#[test]
fn family_enter_plan_mode_enters_once_or_goes_on() {
    family("EnterPlanMode", json!({}), Some(m("plan")), ONCE);
}

#[test]
fn family_exit_plan_mode_offers_modes() {
    let ids = &[
        "exit-plan-default",
        "exit-plan-clear-accept-edits",
        "exit-plan-accept-edits",
        "reject",
    ];
    family("ExitPlanMode", json!({ "plan": "p" }), None, ids);
}

#[test]
fn family_sandbox_network_access_offers_the_exact_host_rule() {
    let rule = l("SandboxNetworkAccess", "a.b");
    family(
        "SandboxNetworkAccess",
        json!({ "host": "a.b" }),
        Some(rule),
        DURABLE,
    );
    family("SandboxNetworkAccess", json!({ "host": "a.b" }), None, ONCE);
}

#[test]
fn family_computer_use_offers_the_exact_suggestion() {
    let tool = "mcp__computer-use__screenshot";
    family(tool, json!({}), Some(l(tool, "")), DURABLE);
    family(tool, json!({}), None, ONCE);
}

#[test]
fn family_mcp_offers_the_exact_suggestion_for_that_tool() {
    family("mcp__a__b", json!({}), Some(l("mcp__a__b", "")), DURABLE);
    family("mcp__a__b", json!({}), Some(l("mcp__a__c", "")), ONCE);
    family("mcp__a__b", json!({}), None, ONCE);
}

#[test]
fn family_web_search_agent_and_task_offer_a_generated_whole_tool_rule() {
    for tool in ["WebSearch", "Agent", "Task"] {
        family(tool, json!({}), None, DURABLE);
    }
}

#[test]
fn family_review_artifact_and_workflow_fall_back() {
    for tool in ["ReviewArtifact", "Workflow"] {
        family(tool, json!({}), None, DURABLE);
    }
}

#[test]
fn family_monitor_and_unknown_tools_fall_back() {
    for tool in ["Monitor", "NotYetInvented"] {
        family(tool, json!({}), None, DURABLE);
    }
}

#[test]
fn ask_user_question_is_no_permission_dialog() {
    let input = json!({});
    let call = crate::testing::call("AskUserQuestion", &input, &crate::LexicalPaths);
    let ask = crate::AskContext::new(&call, "t");
    assert_eq!(crate::prepare(&ask), Err(PrepareError::MustBeElicited));
}

#[test]
fn a_part_of_a_mixed_bundle_is_never_labelled_alone() {
    let mixed = [l("Bash", "x:*"), d(&["/a"]), m("plan")];
    assert_eq!(Scene::bash().suggesting(mixed).offers(), ONCE);
}

#[test]
fn a_selected_refusal_and_a_cancellation_are_told_apart() {
    assert_eq!(
        result_of(&Scene::bash(), "reject"),
        json!({
            "behavior": "deny",
            "message": "User refused permission to run tool",
            "toolUseID": "toolu_1",
            "decisionClassification": "user_reject",
        })
    );
    assert_eq!(
        Scene::bash().prepare().settle(&Answer::Cancelled),
        Err(SettleError::Aborted)
    );
}

#[test]
fn one_time_allow_changes_nothing() {
    assert_eq!(
        result_of(&Scene::bash().suggesting([l("Bash", "x:*")]), "allow-once"),
        json!({
            "behavior": "allow",
            "updatedInput": { "command": "npm test" },
            "toolUseID": "toolu_1",
            "decisionClassification": "user_temporary",
        })
    );
}

#[test]
fn a_durable_option_that_turns_on_a_mode_says_so_to_the_host() {
    let updates = [l("Bash", "touch x *"), d(&["/repo"]), m("acceptEdits")];
    let request = Scene::running("touch x", updates).prepare();
    assert!(durable_label(&request).is_some(), "{:?}", listing(&request));
    let settled = request.settle(&Answer::selected("allow-with-updates")).unwrap();
    assert_eq!(
        settled.follow_up,
        crate::FollowUp::ModeChanges(PermissionMode::AcceptEdits)
    );
}
