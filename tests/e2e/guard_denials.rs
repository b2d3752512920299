//! Denials over the real CLI: what a hook's answer that is none does, whom a denial is put down to, and where it leads.

use e2e_tests::harness::{Answer, World, allow_once, no_questions, reject_once};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::write_settings;
use crate::policy_support::{asked, bash, open_audited, open_under, run_calls, script_calls, status, told};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_hook_whose_answer_is_none_denies_and_says_why,
        after_three_refusals_without_a_policy_what_a_rule_allows_is_asked_about,
        nobody_was_asked_is_not_the_user_refused,
    ]
}

fn a_hook_whose_answer_is_none_denies_and_says_why(world: &mut World) {
    let hook = |command: &str| {
        let command = format!("grep -q {command}");
        json!({"matcher": "Bash", "hooks": [{"command": command}]})
    };
    let hooks = json!([
        hook("one && echo deny: not this; true"),
        hook("two && echo '{\"allowed\": false}'; true"),
        hook("three && { echo not today >&2; exit 1; }; true"),
    ]);
    let policy = json!({"hooks": {"PreToolUse": hooks}});
    let (_agent, mut client, session) = open_under(world, &policy, "bypassPermissions");
    let calls = [
        bash("mkdir one"),
        bash("mkdir two"),
        bash("mkdir three"),
        bash("ls"),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    let reasons = [
        "nor JSON: `deny: not this`",
        "has the field `allowed`, which decides nothing",
        "a hook ended with exit code 1: not today",
    ];
    for (number, reason) in reasons.iter().enumerate() {
        assert_eq!(status(&mut turn, number), "failed", "{number}");
        assert!(told(world, number).contains(reason), "{}", told(world, number));
    }
    assert_eq!(status(&mut turn, 3), "completed");
    for made in ["one", "two", "three"] {
        assert!(!world.project().join(made).exists(), "{made}");
    }
}

/// A call that a rule of the user's own allows.
fn after_three_refusals_without_a_policy_what_a_rule_allows_is_asked_about(world: &mut World) {
    let permissions =
        json!({"defaultMode": "default", "disableAutoMode": "disable", "allow": ["Bash(mkdir *)"]});
    let settings = json!({ "permissions": permissions }).to_string();
    write_settings(world, "home/.claude/settings.json", &settings);
    let (_agent, mut client, session) = open(world);
    let mut calls = vec![bash("mkdir zero")];
    calls.extend(["one", "two", "three", "four"].map(|name| bash(&format!("touch {name}"))));
    calls.extend([bash("mkdir five"), bash("mkdir six")]);
    let answer = |request: &Value| match request["toolCall"]["toolCallId"].as_str() {
        Some("toolu_5") => allow_once(request),
        _ => reject_once(request),
    };
    let mut turn = run_calls(world, &mut client, &session, &calls, answer);
    assert_eq!(
        asked(&turn),
        ["toolu_1", "toolu_2", "toolu_3", "toolu_4", "toolu_5"]
    );
    for number in [0, 5, 6] {
        assert_eq!(status(&mut turn, number), "completed", "{number}");
    }
    turn.ignore_rest();
}

fn nobody_was_asked_is_not_the_user_refused(world: &mut World) {
    let file = world.path("audit.jsonl");
    let args = ["--audit", file.to_str().unwrap()];
    let (_agent, mut client, session) = open_audited(world, &json!({}), "default", &args);
    let calls = [bash("mkdir made"), bash("mkdir made")];
    let answer = |request: &Value| match request["toolCall"]["toolCallId"].as_str() {
        Some("toolu_0") => Answer::Error,
        _ => reject_once(request),
    };
    script_calls(world, &calls);
    client.prompt(&session, "go", answer).ignore_rest();
    let (unasked, refused) = (told(world, 0), told(world, 1));
    assert!(!unasked.to_lowercase().contains("user"), "{unasked}");
    assert!(unasked.contains("Nobody was asked"), "{unasked}");
    assert!(refused.contains("User refused permission"), "{refused}");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let reasons: Vec<String> = lines
        .filter_map(|line| Some(line["reason"].as_str()?.to_owned()))
        .collect();
    assert!(reasons[0].starts_with("Nobody was asked"), "{reasons:?}");
    assert_eq!(reasons[1..], ["the user refused"]);
}
