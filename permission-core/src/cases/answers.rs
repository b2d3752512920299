//! Cases 63 to 69, 72, 73, 74, 75 and 81: modes, odd answers, paths and reasons, questions, feedback.

use std::path::Path;

use serde_json::{Value, json};

use super::result_of;
use crate::settings::{
    Departure, EffectiveSettings, HostFacts, SettingsFile, SettingsSource, initial_mode, may_bypass, merge,
    offered_modes, requested_mode,
};
use crate::testing::{Scene, call};
use crate::{
    Answer, AskContext, LexicalPaths, PermissionMode, PrepareError, QuestionForm, SettleError, prepare,
};

/// The settings of a user who says this about the mode.
fn default_mode(setting: &Value) -> EffectiveSettings {
    let text = json!({ "permissions": { "defaultMode": setting } }).to_string();
    merge([SettingsFile::parse(
        SettingsSource::User,
        Path::new("/s.json"),
        &text,
    )])
}

#[test]
fn case_63_root_outside_a_sandbox_has_no_bypass() {
    let root = HostFacts {
        root: true,
        ..HostFacts::default()
    };
    let settings = default_mode(&json!("bypass"));
    assert!(
        !offered_modes(&settings, &root).contains(&PermissionMode::BypassPermissions),
        "case 63"
    );
    let initial = initial_mode(&settings, &root);
    assert_eq!(
        (initial.mode, initial.departure),
        (PermissionMode::Default, Some(Departure::BypassNotAllowed))
    );
    let sandboxed = HostFacts {
        sandboxed: true,
        ..root
    };
    assert!(may_bypass(&settings, &sandboxed), "case 63: IS_SANDBOX");
}

#[test]
fn case_64_settings_may_spell_a_mode_in_several_ways() {
    let rows = [
        (json!("Manual"), PermissionMode::Default, None),
        (json!(" AUTO "), PermissionMode::Auto, None),
        (json!("bypass"), PermissionMode::BypassPermissions, None),
        (json!(5), PermissionMode::Default, Some(Departure::UnknownSetting)),
        (
            json!("weird"),
            PermissionMode::Default,
            Some(Departure::UnknownSetting),
        ),
    ];
    for (setting, mode, departure) in rows {
        let initial = initial_mode(&default_mode(&setting), &HostFacts::default());
        assert_eq!(
            (initial.mode, initial.departure),
            (mode, departure),
            "case 64: {setting}"
        );
    }
}

#[test]
fn case_65_a_question_in_bypass_mode_is_still_a_question() {
    let request = Scene::bash().prepare_with(|ask| ask.plan.offered_modes = &PermissionMode::ALL);
    let offered: Vec<&str> = request
        .options()
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    assert_eq!(offered, ["allow-once", "reject"], "case 65");
}

#[test]
fn cases_66_to_68_no_answer_is_no_permission() {
    let request = Scene::bash()
        .suggesting([crate::testing::l("Bash", "x:*")])
        .prepare();
    for gone in [Answer::Cancelled, Answer::Unknown] {
        assert_eq!(
            request.settle(&gone),
            Err(SettleError::Aborted),
            "cases 66 to 68: {gone:?}"
        );
    }
}

#[test]
fn case_69_an_answer_that_was_not_offered_allows_nothing() {
    let settle = |response: Value| Scene::bash().prepare().settle(&Answer::from_response(&response));
    let selected = |id: Value| json!({ "outcome": { "outcome": "selected", "optionId": id } });
    let not_offered = |id: &str| Err(SettleError::NotOffered(id.to_owned()));
    for id in ["bogus", "allow-with-updates", "exit-plan-auto", "Allow-Once", ""] {
        assert_eq!(settle(selected(json!(id))), not_offered(id), "case 69: {id}");
    }
    assert_eq!(settle(selected(json!(5))), not_offered("5"), "case 69");
    assert_eq!(
        settle(json!({ "outcome": { "outcome": "selected" } })),
        not_offered(""),
        "case 69"
    );
    let aborted = [
        json!({ "outcome": null }),
        json!({}),
        json!(null),
        json!("selected"),
        json!([]),
        json!({ "outcome": "selected", "optionId": "allow-once" }),
        json!({ "outcome": { "outcome": "cancelled" } }),
        json!({ "outcome": { "outcome": "cancelled", "optionId": "allow-once" } }),
        json!({ "outcome": { "outcome": "approved", "optionId": "allow-once" } }),
        json!({ "outcome": { "optionId": "allow-once" } }),
        json!({ "outcome": [{ "outcome": "selected", "optionId": "allow-once" }] }),
    ];
    for response in aborted {
        assert_eq!(
            settle(response.clone()),
            Err(SettleError::Aborted),
            "case 69: {response}"
        );
    }
    assert_eq!(SettleError::Aborted.to_string(), "Tool use aborted");
    let not_offered = SettleError::NotOffered("bogus".to_owned()).to_string();
    assert_eq!(not_offered, "Permission option was not offered: bogus");
    assert!(settle(selected(json!("allow-once"))).unwrap().result.is_allow());
}

#[test]
fn case_72_a_blocked_path_is_an_extra_location_once_and_unchanged() {
    let extra = |blocked: &'static str, rendered: &[&str]| {
        let request = Scene::bash().prepare_with(|ask| ask.blocked_path = Some(blocked));
        request
            .extra_location(rendered.iter().copied())
            .map(str::to_owned)
    };
    assert_eq!(
        extra("/etc/x", &["/repo/a"]).as_deref(),
        Some("/etc/x"),
        "case 72, new"
    );
    assert_eq!(
        extra(" /etc/x ", &[]).as_deref(),
        Some("/etc/x"),
        "case 72, trimmed"
    );
    assert_eq!(
        extra("/etc/x", &["/repo/a", "/etc/x"]),
        None,
        "case 72, duplicate"
    );
    assert_eq!(
        extra(Box::leak("x".repeat(4_097).into_boxed_str()), &[]),
        None,
        "case 72, 4097 characters"
    );
    assert_eq!(extra("/etc/two  blanks", &[]), None, "cleaning would change it");
    assert_eq!(extra("/etc/\u{1b}x", &[]), None, "cleaning would change it");
    assert_eq!(extra(" ", &[]), None);
}

#[test]
fn case_73_the_reason_is_shown_in_full_or_not_at_all() {
    let description = |reason: &'static str| {
        Scene::bash()
            .prepare_with(|ask| ask.decision_reason = Some(reason))
            .presentation()
            .description
            .clone()
    };
    assert_eq!(description(" \n "), None, "case 73, blank");
    assert_eq!(
        description(Box::leak("x".repeat(4_001).into_boxed_str())),
        None,
        "case 73, 4001 characters"
    );
    assert_eq!(
        description(" a\nb\u{1b}\n").as_deref(),
        Some("Reason: a\nb"),
        "case 73, with newline"
    );
    let longest = description(Box::leak("x".repeat(4_000).into_boxed_str())).unwrap();
    assert_eq!(
        longest.len(),
        "Reason: ".len() + 4_000,
        "case 73, 4000 characters"
    );
}

#[test]
fn case_74_a_question_is_no_permission_request() {
    let input = json!({ "questions": [{ "question": "Which?", "options": [{ "label": "A" }] }] });
    let call = call("AskUserQuestion", &input, &LexicalPaths);
    let ask = AskContext::new(&call, "toolu_1");
    assert_eq!(
        prepare(&ask),
        Err(PrepareError::MustBeElicited),
        "case 74, without form elicitation"
    );
    assert_eq!(
        QuestionForm::build(&input).unwrap().message(),
        "Which?",
        "case 74, with form elicitation"
    );
}

#[test]
fn case_75_dont_ask_cannot_be_chosen() {
    let offered = offered_modes(&EffectiveSettings::default(), &HostFacts::default());
    let refusal = requested_mode("dontAsk", &offered, PermissionMode::Default).unwrap_err();
    assert!(
        refusal.to_string().starts_with("Mode `dontAsk` is not available"),
        "case 75"
    );
    let kept = requested_mode("dontAsk", &offered, PermissionMode::DontAsk);
    assert_eq!(kept, Ok(PermissionMode::DontAsk), "the current mode stays valid");
}

#[test]
fn case_81_feedback_reaches_claude_with_a_refusal_only() {
    let settle = |option: &str, feedback: Value| {
        let response = json!({
            "outcome": { "outcome": "selected", "optionId": option },
            "_meta": { "permission": { "feedback": feedback } },
        });
        let settled = Scene::bash()
            .prepare()
            .settle(&Answer::from_response(&response))
            .unwrap();
        serde_json::to_value(settled.result).unwrap()
    };
    let refusal = settle("reject", json!("use cargo"));
    assert_eq!(
        refusal["message"], "User refused permission to run tool\n\nThe user said: use cargo",
        "case 81"
    );
    assert_eq!(refusal.get("interrupt"), None, "case 81: the turn goes on");
    assert_eq!(
        settle("reject", json!(" a\nb\u{7} "))["message"]
            .as_str()
            .unwrap()
            .lines()
            .count(),
        4,
        "case 81"
    );
    let plain = result_of(&Scene::bash(), "reject");
    for nothing in [json!(" "), json!(5), json!(null), json!("x".repeat(4_001))] {
        assert_eq!(settle("reject", nothing), plain, "case 81: no feedback");
    }
    assert_eq!(
        settle("allow-once", json!("use cargo")),
        result_of(&Scene::bash(), "allow-once"),
        "case 81"
    );
}
