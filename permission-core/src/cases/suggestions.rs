//! Cases 16 to 24, 79 and 80: which bundles count, and what suppresses them.

use serde_json::{Value, json};

use super::{check, once, result_of};
use crate::testing::{Scene, d, l, listing, m, r, rules};
use crate::{AskContext, PermissionMode, Snapshot};

fn accepted(updates: Vec<Value>) -> bool {
    Snapshot::take(Some(&Value::Array(updates))).is_some()
}

fn with(mut update: Value, field: &str, value: Value) -> Value {
    update[field] = value;
    update
}

type Adjust = fn(&mut AskContext<'_>);

/// Everything that says that a rule or a hook made Claude ask.
fn asked_by_rule() -> [(&'static str, Adjust); 5] {
    [
        ("16", |ask| ask.matched_ask_rule = true),
        ("79, suppressed", |ask| ask.suppress_always_allow_rule = true),
        ("79, rule source", |ask| {
            ask.decision_reason_rule_source = Some("projectSettings")
        }),
        ("79, rule", |ask| ask.decision_reason_type = Some("rule")),
        ("79, hook", |ask| ask.decision_reason_type = Some("hook")),
    ]
}

#[test]
fn cases_16_and_79_a_question_asked_by_a_rule_has_no_durable_option() {
    let scenes = [
        Scene::bash().suggesting([l("Bash", "npm test:*")]),
        Scene::new("Read", json!({ "file_path": "/repo/a" })).suggesting([r("Read", "")]),
        Scene::new("Edit", json!({ "file_path": "/repo/a" })).suggesting([m("acceptEdits")]),
        Scene::new("WebFetch", json!({ "url": "https://a.b/" })),
        Scene::new("Skill", json!({ "skill": "review", "args": "12" })),
        Scene::new("SandboxNetworkAccess", json!({ "host": "h" }))
            .suggesting([l("SandboxNetworkAccess", "h")]),
        Scene::new("mcp__computer-use__a", json!({})).suggesting([l("mcp__computer-use__a", "")]),
        Scene::new("mcp__srv__tool", json!({})).suggesting([l("mcp__srv__tool", "")]),
        Scene::new("WebSearch", json!({})),
    ];
    for scene in scenes {
        assert!(scene.offers().len() > 2, "durable without a rule: {}", scene.tool);
        for (number, adjust) in asked_by_rule() {
            let offered = listing(&scene.prepare_with(adjust));
            assert_eq!(offered, ["allow-once", "reject"], "case {number}: {}", scene.tool);
        }
        let other = scene.prepare_with(|ask| ask.decision_reason_type = Some("workingDir"));
        assert_eq!(
            listing(&other),
            scene.offers(),
            "another reason changes nothing: {}",
            scene.tool
        );
    }
}

#[test]
fn case_16_the_mode_choices_of_a_plan_stay() {
    let scene = Scene::new("ExitPlanMode", json!({ "plan": "p" }));
    let asked = scene.prepare_with(|ask| ask.matched_ask_rule = true);
    assert_eq!(listing(&asked), scene.offers(), "case 16");
}

#[test]
fn cases_17_to_19_the_whole_bundle_counts_or_nothing() {
    let rule = || r("Bash", "x");
    let many_rules = |count| rules("session", "allow", &vec![("Bash", "x"); count]);
    let many_directories = |count| d(&vec!["/a"; count]);
    let replace = |update: Value| with(update, "type", json!("replaceRules"));
    let remove = |update: Value, kind: &str| with(update, "type", json!(kind));
    let rows = [
        ("17, 100", vec![rule(); 100], true),
        ("17, 101", vec![rule(); 101], false),
        ("17, none", vec![], false),
        ("18, 100 rules", vec![many_rules(100)], true),
        ("18, 101 rules", vec![many_rules(101)], false),
        ("18, 100 directories", vec![many_directories(100)], true),
        ("18, 101 directories", vec![many_directories(101)], false),
        ("18, no directories", vec![d(&[])], false),
        ("18, addRules []", vec![many_rules(0)], false),
        (
            "18, removeRules []",
            vec![remove(many_rules(0), "removeRules")],
            false,
        ),
        (
            "18, removeDirectories []",
            vec![remove(d(&[]), "removeDirectories")],
            false,
        ),
        ("19", vec![replace(many_rules(0))], true),
        ("19, 101", vec![replace(many_rules(101))], false),
        ("removeRules", vec![remove(many_rules(1), "removeRules")], true),
        (
            "removeDirectories",
            vec![remove(d(&["/a"]), "removeDirectories")],
            true,
        ),
    ];
    for (number, updates, expected) in rows {
        assert_eq!(accepted(updates), expected, "case {number}");
    }
    check([once(
        "19, not offered",
        Scene::bash().suggesting([replace(many_rules(0))]),
    )]);
    for no_list in [Value::Null, json!({}), json!("x"), rule()] {
        assert_eq!(Snapshot::take(Some(&no_list)), None);
    }
}

#[test]
fn cases_20_and_21_texts_are_bounded_in_utf16_units_and_free_of_controls() {
    let tool = |name: &str| vec![r(name, "x")];
    let content = |content: &str| vec![r("Bash", content)];
    let rows = [
        ("20, 512", tool(&"t".repeat(512)), true),
        ("20, 513", tool(&"t".repeat(513)), false),
        ("20, 512 units", tool(&"\u{1f600}".repeat(256)), true),
        ("20, 514 units", tool(&"\u{1f600}".repeat(257)), false),
        ("20, 10000", content(&"c".repeat(10_000)), true),
        ("20, 10001", content(&"c".repeat(10_001)), false),
        ("20, 4096", vec![d(&[&"d".repeat(4_096)])], true),
        ("20, 4097", vec![d(&[&"d".repeat(4_097)])], false),
        (
            "20, blanks count",
            content(&format!("{}x", " ".repeat(10_000))),
            false,
        ),
        ("21, ESC", content("a\u{1b}b"), false),
        ("21, BEL", content("a\u{7}b"), false),
        ("21, DEL", content("a\u{7f}b"), false),
        ("21, TAB", content("a\tb"), true),
        ("21, LF", content("a\nb"), true),
        ("21, C1", content("a\u{85}b"), true),
        ("21, VT inside", content("a\u{b}b"), false),
        ("21, VT at the end", content("a\u{b}"), true),
        ("blank", content(" "), false),
    ];
    for (number, updates, expected) in rows {
        assert_eq!(accepted(updates), expected, "case {number}");
    }
    check([once("21, TAB", Scene::bash().suggesting([l("Bash", "a\tb:*")]))]);
}

#[test]
fn case_22_one_unknown_value_drops_the_bundle() {
    let good = || l("Bash", "npm test:*");
    let bad = [
        with(good(), "destination", json!("somewhere")),
        with(m("plan"), "mode", json!("manual")),
        with(good(), "behavior", json!("yes")),
        with(good(), "type", json!("growRules")),
        with(good(), "rules", json!([["Bash", "x"]])),
        with(
            good(),
            "rules",
            json!([{ "toolName": "Bash", "ruleContent": null }]),
        ),
        with(
            good(),
            "rules",
            json!([{ "toolName": "Bash", "ruleContent": "" }]),
        ),
        with(good(), "rules", json!([{ "ruleContent": "x" }])),
        with(d(&["/a"]), "directories", json!("/a")),
        json!(["addRules", [], "allow", "session"]),
        json!({ "type": "setMode", "mode": "plan" }),
        json!(null),
    ];
    for bad in bad {
        assert!(!accepted(vec![bad.clone()]), "case 22: {bad}");
        check([once("22", Scene::bash().suggesting([good(), bad]))]);
    }
    for destination in [
        "session",
        "cliArg",
        "userSettings",
        "projectSettings",
        "localSettings",
    ] {
        assert!(
            accepted(vec![with(good(), "destination", json!(destination))]),
            "{destination}"
        );
    }
    for behavior in ["allow", "deny", "ask"] {
        assert!(
            accepted(vec![with(good(), "behavior", json!(behavior))]),
            "{behavior}"
        );
    }
    for mode in PermissionMode::ALL {
        assert!(accepted(vec![m(mode.wire_id())]), "{mode}");
    }
}

#[test]
fn cases_23_and_24_the_answer_echoes_the_bundle_as_it_was_when_it_was_asked() {
    let mut extra = l("Bash", "npm test:*");
    extra["note"] = json!({ "kept": [1, 2] });
    extra["rules"][0]["why"] = json!("kept too");
    let mut scene = Scene::bash().suggesting([extra.clone()]);
    let result = result_of(&scene, "allow-with-updates");
    assert_eq!(result["updatedPermissions"], json!([extra]), "case 23");
    let request = scene.prepare();
    scene.suggestions = Some(json!([l("Bash", "rm:*")]));
    scene.input = json!({ "command": "rm -rf /" });
    let settled = request
        .settle(&crate::Answer::selected("allow-with-updates"))
        .unwrap();
    let result = serde_json::to_value(settled.result).unwrap();
    assert_eq!(result["updatedPermissions"], json!([extra]), "case 24");
    assert_eq!(
        result["updatedInput"],
        json!({ "command": "npm test" }),
        "case 24"
    );
}

#[test]
fn case_80_a_request_that_leans_to_no_shows_the_refusal_first() {
    let scene = Scene::bash().suggesting([l("Bash", "npm test:*")]);
    let request = scene.prepare_with(|ask| ask.default_to_no = true);
    let durable = "allow-with-updates: Yes, and don't ask again for npm test commands";
    assert_eq!(listing(&request), ["reject", "allow-once", durable], "case 80");
    let presentation = serde_json::to_value(request.presentation()).unwrap();
    assert_eq!(presentation["defaultToNo"], true, "case 80");
    let usual = serde_json::to_value(scene.prepare().presentation()).unwrap();
    assert_eq!(usual.get("defaultToNo"), None, "case 80");
}
