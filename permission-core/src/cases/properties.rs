//! The invariant of settling: nothing but selecting an offered option that allows ever allows.
//!
//! Place in the flow: tests only. Random questions, random answers; the expectation is written from the offered
//! list alone.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::testing::{Scene, d, l, m, properties, r};
use crate::{Answer, Effect, PermissionMode, PermissionResult};

const TOOLS: [&str; 12] = [
    "Bash",
    "PowerShell",
    "Read",
    "Edit",
    "WebFetch",
    "Skill",
    "EnterPlanMode",
    "ExitPlanMode",
    "SandboxNetworkAccess",
    "mcp__srv__tool",
    "WebSearch",
    "Unknown",
];

const IDS: [&str; 16] = [
    "allow-once",
    "allow-with-updates",
    "allow-with-fewer-updates",
    "allow-skill-exact",
    "allow-skill-prefix",
    "exit-plan-auto",
    "exit-plan-bypass",
    "exit-plan-accept-edits",
    "exit-plan-default",
    "exit-plan-clear-auto",
    "exit-plan-clear-bypass",
    "exit-plan-clear-accept-edits",
    "reject",
    "allow_once",
    "Yes",
    "",
];

fn scene() -> impl Strategy<Value = (Scene, bool)> {
    let updates = prop::collection::vec(
        select(vec![
            l("Bash", "x:*"),
            r("Read", ""),
            m("acceptEdits"),
            m("bypassPermissions"),
            d(&["/repo"]),
            l("mcp__srv__tool", ""),
            l("SandboxNetworkAccess", "a.b"),
            json!(null),
        ]),
        0..3,
    );
    (select(&TOOLS[..]), updates, any::<bool>()).prop_map(|(tool, updates, asked_by_rule)| {
        let input = json!({ "command": "x", "url": "https://a.b", "skill": "s t", "host": "a.b", "plan": "p", "file_path": "/repo/a" });
        (Scene::new(tool, input).suggesting(updates), asked_by_rule)
    })
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        select(&IDS[..]).prop_map(Value::from),
        select(&["selected", "cancelled", "approved"][..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(
                (select(&["outcome", "optionId", "_meta", "permission"][..]), inner),
                0..3
            )
            .prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

fn response() -> impl Strategy<Value = Value> {
    let selected =
        select(&IDS[..]).prop_map(|id| json!({ "outcome": { "outcome": "selected", "optionId": id } }));
    let outcome = any_json().prop_map(|outcome| json!({ "outcome": outcome }));
    prop_oneof![2 => selected, 1 => outcome, 1 => any_json()]
}

proptest! {
    #![proptest_config(properties(2_000))]

    #[test]
    fn only_the_selected_offered_allow_option_allows(
        (scene, asked_by_rule) in scene(),
        response in response(),
    ) {
        let request = scene.prepare_with(|ask| {
            ask.matched_ask_rule = asked_by_rule;
            ask.plan.offered_modes = &PermissionMode::ALL;
        });
        let selected = response
            .pointer("/outcome/outcome")
            .filter(|outcome| *outcome == "selected")
            .and_then(|_| response.pointer("/outcome/optionId")?.as_str());
        let option = request.options().iter().find(|option| Some(option.id.as_str()) == selected);
        let may_allow = option.is_some_and(|option| match &option.effect {
            Effect::AllowOnce | Effect::AllowWithUpdates { .. } => true,
            Effect::Reject | Effect::KeepPlanning | Effect::ClearContext { .. } => false,
        });
        let settled = request.settle(&Answer::from_response(&response));
        prop_assert_eq!(settled.is_ok(), option.is_some(), "{:?}", response);
        prop_assert_eq!(settled.as_ref().is_ok_and(|settled| settled.result.is_allow()), may_allow);
        if let Ok(PermissionResult::Allow { updated_permissions, updated_input, .. }) = settled.map(|s| s.result) {
            let offered = match option.map(|option| &option.effect) {
                Some(Effect::AllowWithUpdates { updates, .. }) => Some(updates.original().to_vec()),
                _ => None,
            };
            prop_assert_eq!(updated_permissions, offered, "exactly the offered effect");
            prop_assert_eq!(updated_input, Some(scene.input), "exactly the input that was asked about");
        }
    }

    #[test]
    fn two_ids_of_one_request_are_never_the_same((scene, _) in scene()) {
        let request = scene.prepare();
        let mut ids: Vec<&str> = request.options().iter().map(|option| option.id.as_str()).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), all);
    }
}
