//! Cases 55 to 61: leaving plan mode. The hand-off itself (60, 62) is the session's.

use serde_json::{Value, json};

use crate::testing::{Scene, listing, m};
use crate::{Answer, FollowUp, PermissionMode, PreparedRequest};

const EVERY_MODE: &[PermissionMode] = &PermissionMode::ALL;
const WITH_BYPASS: &[PermissionMode] = &[PermissionMode::Default, PermissionMode::BypassPermissions];
const PLAIN: &[PermissionMode] = &[
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
];

fn exit(input: Value, modes: &'static [PermissionMode]) -> PreparedRequest {
    Scene::new("ExitPlanMode", input).prepare_with(|ask| ask.plan.offered_modes = modes)
}

fn planned(modes: &'static [PermissionMode]) -> PreparedRequest {
    exit(json!({ "plan": " 1. do it\n" }), modes)
}

fn answer(request: &PreparedRequest, answer: &Answer) -> (Value, FollowUp) {
    let settled = request.settle(answer).unwrap();
    (serde_json::to_value(settled.result).unwrap(), settled.follow_up)
}

#[test]
fn a_mode_that_only_a_fresh_process_can_have_is_offered_with_a_cleared_context() {
    let request = Scene::new("ExitPlanMode", json!({ "plan": "p" })).prepare_with(|ask| {
        ask.plan.offered_modes = PLAIN;
        ask.plan.fresh_modes = WITH_BYPASS;
    });
    assert_eq!(
        listing(&request),
        [
            "exit-plan-default: Yes, manually approve edits",
            "exit-plan-clear-bypass: Yes, clear context and bypass permissions",
            "exit-plan-accept-edits: Yes, auto-accept edits",
            "reject: No, keep planning",
        ]
    );
}

#[test]
fn cases_55_to_57_one_elevated_mode_is_offered_with_and_without_the_context() {
    assert_eq!(
        listing(&planned(EVERY_MODE)),
        [
            "exit-plan-default: Yes, manually approve edits",
            "exit-plan-clear-auto: Yes, clear context and use auto mode",
            "exit-plan-auto: Yes, and use auto mode",
            "reject: No, keep planning",
        ],
        "case 55"
    );
    assert_eq!(
        listing(&planned(WITH_BYPASS)),
        [
            "exit-plan-default: Yes, manually approve edits",
            "exit-plan-clear-bypass: Yes, clear context and bypass permissions",
            "exit-plan-bypass: Yes, and bypass permissions",
            "reject: No, keep planning",
        ],
        "case 56"
    );
    assert_eq!(
        listing(&planned(PLAIN)),
        [
            "exit-plan-default: Yes, manually approve edits",
            "exit-plan-clear-accept-edits: Yes, clear context and auto-accept edits",
            "exit-plan-accept-edits: Yes, auto-accept edits",
            "reject: No, keep planning",
        ],
        "case 57"
    );
    assert_eq!(
        planned(EVERY_MODE).presentation().title,
        "Ready to code?",
        "case 55"
    );
}

#[test]
fn case_58_without_a_plan_there_is_no_cleared_context() {
    for input in [json!({}), json!({ "plan": " \n" }), json!({ "plan": 5 })] {
        let offered = listing(&exit(input, PLAIN));
        assert!(
            offered.iter().all(|option| !option.contains("clear")),
            "case 58: {offered:?}"
        );
    }
    let found = Scene::new("ExitPlanMode", json!({ "plan": " " })).prepare_with(|ask| {
        ask.plan.text = Some("found elsewhere");
        ask.plan.context_used_percent = Some(0);
    });
    let clear = "exit-plan-clear-accept-edits: Yes, clear context (0% used) and auto-accept edits";
    assert_eq!(listing(&found)[1], clear, "case 58: the host found a plan");
    let (_, follow_up) = answer(&found, &Answer::selected("exit-plan-clear-accept-edits"));
    let plan = "found elsewhere".to_owned();
    assert_eq!(
        follow_up,
        FollowUp::ClearContext {
            mode: PermissionMode::AcceptEdits,
            plan
        }
    );
}

#[test]
fn case_59_manual_approval_sets_the_default_mode_for_now() {
    let (result, follow_up) = answer(&planned(PLAIN), &Answer::selected("exit-plan-default"));
    assert_eq!(
        result,
        json!({
            "behavior": "allow",
            "updatedInput": { "plan": " 1. do it\n" },
            "updatedPermissions": [m("default")],
            "toolUseID": "toolu_1",
            "decisionClassification": "user_temporary",
        }),
        "case 59"
    );
    assert_eq!(
        follow_up,
        FollowUp::ModeChanges(PermissionMode::Default),
        "case 59"
    );
    let kept = [
        ("exit-plan-auto", EVERY_MODE, "auto", PermissionMode::Auto),
        (
            "exit-plan-bypass",
            WITH_BYPASS,
            "bypassPermissions",
            PermissionMode::BypassPermissions,
        ),
        (
            "exit-plan-accept-edits",
            PLAIN,
            "acceptEdits",
            PermissionMode::AcceptEdits,
        ),
    ];
    for (id, modes, wire_id, mode) in kept {
        let (result, follow_up) = answer(&planned(modes), &Answer::selected(id));
        assert_eq!(result["updatedPermissions"], json!([m(wire_id)]), "{id}");
        assert_eq!(result["decisionClassification"], "user_permanent", "{id}");
        assert_eq!(follow_up, FollowUp::ModeChanges(mode), "{id}");
    }
}

#[test]
fn case_60_a_cleared_context_is_a_refusal_inside_claude_that_carries_mode_and_plan() {
    let cleared = [
        ("exit-plan-clear-auto", EVERY_MODE, PermissionMode::Auto),
        (
            "exit-plan-clear-bypass",
            WITH_BYPASS,
            PermissionMode::BypassPermissions,
        ),
        ("exit-plan-clear-accept-edits", PLAIN, PermissionMode::AcceptEdits),
    ];
    for (id, modes, mode) in cleared {
        let (result, follow_up) = answer(&planned(modes), &Answer::selected(id));
        assert_eq!(result["behavior"], "deny", "case 60: {id}");
        assert_eq!(result["interrupt"], true, "case 60: {id}");
        assert_eq!(result["decisionClassification"], "user_reject", "case 60: {id}");
        assert_eq!(
            follow_up,
            FollowUp::ClearContext {
                mode,
                plan: "1. do it".to_owned()
            },
            "case 60: {id}"
        );
    }
}

#[test]
fn case_61_a_rejected_plan_ends_the_turn_unless_the_user_says_something() {
    let (result, follow_up) = answer(&planned(PLAIN), &Answer::selected("reject"));
    assert_eq!(
        result,
        json!({
            "behavior": "deny",
            "message": "User chose to keep planning",
            "interrupt": true,
            "toolUseID": "toolu_1",
            "decisionClassification": "user_reject",
        }),
        "case 61"
    );
    assert_eq!(follow_up, FollowUp::EndTurn, "case 61");
    let said = Answer::Selected {
        option_id: "reject".to_owned(),
        feedback: Some("smaller steps".to_owned()),
    };
    let (result, follow_up) = answer(&planned(PLAIN), &said);
    assert_eq!(result.get("interrupt"), None, "case 61, feedback");
    assert_eq!(
        result["message"], "User chose to keep planning\n\nThe user said: smaller steps",
        "case 61, feedback"
    );
    assert_eq!(follow_up, FollowUp::None, "case 61, feedback");
}

#[test]
fn a_model_that_lost_auto_gets_accept_edits_in_result_and_follow_up() {
    let mut kept = planned(EVERY_MODE)
        .settle(&Answer::selected("exit-plan-auto"))
        .unwrap();
    assert!(kept.degrade_auto());
    assert_eq!(
        serde_json::to_value(&kept.result).unwrap()["updatedPermissions"],
        json!([m("acceptEdits")])
    );
    assert_eq!(kept.follow_up, FollowUp::ModeChanges(PermissionMode::AcceptEdits));
    assert!(!kept.degrade_auto(), "only once");
    let mut cleared = planned(EVERY_MODE)
        .settle(&Answer::selected("exit-plan-clear-auto"))
        .unwrap();
    assert!(cleared.degrade_auto());
    let plan = "1. do it".to_owned();
    assert_eq!(
        cleared.follow_up,
        FollowUp::ClearContext {
            mode: PermissionMode::AcceptEdits,
            plan
        }
    );
    let mut rejected = planned(EVERY_MODE).settle(&Answer::selected("reject")).unwrap();
    assert!(!rejected.degrade_auto());
}

#[test]
fn a_host_that_cannot_clear_the_context_does_not_offer_it() {
    let request =
        Scene::new("ExitPlanMode", json!({ "plan": "p" })).prepare_with(|ask| ask.plan.clear_context = false);
    let ids: Vec<_> = request
        .options()
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    assert_eq!(ids, ["exit-plan-default", "exit-plan-accept-edits", "reject"]);
}
