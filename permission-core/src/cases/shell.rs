//! Cases 1 to 15, 76 to 78, 83 and 84: Bash and PowerShell.

use serde_json::{Value, json};

use super::{check, once, result_of, row};
use crate::testing::{Scene, d, l, m, r, rules};

fn bash(updates: impl IntoIterator<Item = Value>) -> Scene {
    Scene::bash().suggesting(updates)
}

fn rules_for(contents: &[&str]) -> Value {
    rules(
        "localSettings",
        "allow",
        &contents
            .iter()
            .map(|content| ("Bash", *content))
            .collect::<Vec<_>>(),
    )
}

#[test]
fn case_1_a_command_without_suggestions_is_allowed_once() {
    check([once("1", Scene::bash())]);
    let request = Scene::bash().prepare_with(|ask| ask.tool_title = "npm test");
    let presentation = serde_json::to_value(request.presentation()).unwrap();
    assert_eq!(presentation, json!({ "version": 1, "title": "npm test" }));
}

#[test]
fn case_2_both_spellings_of_a_prefix_are_one_label_and_come_back_verbatim() {
    for content in ["npm test:*", "npm test *"] {
        let scene = bash([l("Bash", content)]);
        check([row(
            "2",
            bash([l("Bash", content)]),
            "Yes, and don't ask again for npm test commands",
        )]);
        assert_eq!(
            result_of(&scene, "allow-with-updates"),
            json!({
                "behavior": "allow",
                "updatedInput": { "command": "npm test" },
                "updatedPermissions": [l("Bash", content)],
                "toolUseID": "toolu_1",
                "decisionClassification": "user_permanent",
            })
        );
    }
}

#[test]
fn cases_3_to_5_every_rule_is_named_in_full() {
    let fifty = "x".repeat(50);
    let fifty_one = "x".repeat(51);
    check([
        row(
            "3",
            Scene::running(
                "git add . && git commit",
                [rules_for(&["git add:*", "git commit:*"])],
            ),
            "Yes, and don't ask again for git add commands and don't ask again for git commit commands",
        ),
        row(
            "4",
            Scene::running("a; b; c", [rules_for(&["a:*", "b:*", "c:*"])]),
            "Yes, and don't ask again for a commands, don't ask again for b commands, \
             and don't ask again for c commands",
        ),
        row(
            "5, 50 characters",
            Scene::running(&fifty, [l("Bash", &fifty)]),
            "Yes, and don't ask again for the command xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ),
        row(
            "5, 51 characters",
            Scene::running(&fifty_one, [l("Bash", &fifty_one)]),
            "Yes, and don't ask again for the command xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ),
    ]);
}

#[test]
fn cases_6_to_8_only_allow_rules_with_a_content_are_offered() {
    let removal = |kind: &str| {
        let mut update = l("Bash", "npm test:*");
        update["type"] = json!(kind);
        update
    };
    check([
        once("6", bash([r("Bash", "")])),
        row(
            "7",
            Scene::running("x > f", [r("Bash", "x"), m("acceptEdits")]),
            "Yes, and for this session don't ask again for the command x and turn on Accept edits",
        ),
        once("8, deny", bash([rules("session", "deny", &[("Bash", "x")])])),
        once("8, ask", bash([rules("session", "ask", &[("Bash", "x")])])),
        once("8, removeRules", bash([removal("removeRules")])),
        once("8, replaceRules", bash([removal("replaceRules")])),
        once(
            "8, deny beside allow",
            bash([r("Bash", "x"), rules("session", "deny", &[("Bash", "y")])]),
        ),
    ]);
}

#[test]
fn cases_9_to_12_directories_and_reads_are_named_by_their_paths() {
    let mut local_directory = d(&["/tmp/a"]);
    local_directory["destination"] = json!("localSettings");
    check([
        row(
            "9",
            Scene::running("ls /tmp/a/b", [d(&["/tmp/a"])]),
            "Yes, and for this session allow access to /tmp/a",
        ),
        once("9, localSettings", bash([local_directory])),
        once("9, relative", bash([d(&["tmp/a"])])),
        once("9, with a detour", bash([d(&["/tmp/../etc"])])),
        row(
            "10",
            Scene::running(
                "ls /w/codex-acp/src /w/claude-acp/src",
                [d(&["/w/codex-acp/src", "/w/claude-acp/src"])],
            ),
            "Yes, and for this session allow access to /w/codex-acp/src and allow access to /w/claude-acp/src",
        ),
        row(
            "11",
            Scene::running(
                "cat /a/f ~/b/f src/c",
                [rules(
                    "session",
                    "allow",
                    &[("Read", "//a/**"), ("Read", "~/b/**"), ("Read", "src/c")],
                )],
            ),
            "Yes, and for this session allow reading /a/**, allow reading ~/b/**, and allow reading src/c",
        ),
        row(
            "12",
            Scene::running("npm test && ls /tmp/a", [d(&["/tmp/a"]), r("Bash", "npm test:*")]),
            "Yes, and for this session don't ask again for npm test commands and allow access to /tmp/a",
        ),
    ]);
}

#[test]
fn cases_13_to_15_foreign_rules_and_bare_wildcards_are_not_offered() {
    check([
        once("13", bash([r("Edit", "/x")])),
        once(
            "14",
            Scene::new("PowerShell", json!({ "command": "ls" })).suggesting([l("Bash", "ls:*")]),
        ),
        row(
            "14, its own rule",
            Scene::new("PowerShell", json!({ "command": "ls" })).suggesting([l("PowerShell", "ls:*")]),
            "Yes, and don't ask again for ls commands",
        ),
        once("15", bash([r("Bash", ":*")])),
        once("15, *", bash([r("Bash", "*")])),
        once("15, Read(/**)", bash([r("Read", "/**"), r("Bash", "x")])),
        once("15, Read(//**)", bash([r("Read", "//**"), r("Bash", "x")])),
        once("15, Read", bash([r("Read", ""), r("Bash", "x")])),
    ]);
}

#[test]
fn cases_76_to_78_scopes_are_told_apart_and_others_refused() {
    check([
        row(
            "76",
            Scene::running(
                "npm test > /tmp/a/log",
                [l("Bash", "npm test *"), d(&["/tmp/a"]), m("acceptEdits")],
            ),
            "Yes, and don't ask again for npm test commands; for this session also allow access to /tmp/a \
             and turn on Accept edits",
        ),
        row(
            "77",
            Scene::running("curl http://x", [l("Bash", "curl http://x")]),
            "Yes, and don't ask again for the command curl http://x",
        ),
        row(
            "77, * inside",
            Scene::running("git push main", [l("Bash", "git * main")]),
            "Yes, and don't ask again for commands matching git * main",
        ),
        row(
            "77, * inside a prefix",
            Scene::running("git push main", [l("Bash", "git * main:*")]),
            "Yes, and don't ask again for commands matching git * main:*",
        ),
        once(
            "78, userSettings",
            bash([rules("userSettings", "allow", &[("Bash", "x:*")])]),
        ),
        once(
            "78, projectSettings",
            bash([rules("projectSettings", "allow", &[("Bash", "x:*")])]),
        ),
        once("78, cliArg", bash([rules("cliArg", "allow", &[("Bash", "x:*")])])),
    ]);
}

#[test]
fn case_83_text_that_reads_like_grammar_or_hides_is_not_offered() {
    let deceptive = [
        "x and allow access to /",
        "x AND  Allow y",
        "x and don’t ask again for y",
        "x, allow reading /",
        "x for this session",
        "the command x",
        "commands matching x",
        "and turn on y",
        "x,",
        " x",
        "x\u{202e}y",
        "x\u{200b}y",
        "x\u{a0}y",
        "x\ty",
        "x\ny",
        "x\u{85}y",
        "x\u{2028}y",
    ];
    check(deceptive.map(|content| once("83", Scene::running(content, [l("Bash", content)]))));
    check([row(
        "83, and",
        Scene::running("cats and dogs", [l("Bash", "cats and dogs")]),
        "Yes, and don't ask again for the command cats and dogs",
    )]);
}

#[test]
fn case_84_a_label_has_at_most_200_characters() {
    let frame = "Yes, and don't ask again for the command ".len();
    let fits = "x".repeat(200 - frame);
    let offered = |content: &str| Scene::running(content, [l("Bash", content)]).label();
    let label = offered(&fits).unwrap();
    assert_eq!(label.len(), 200, "case 84");
    assert_eq!(offered(&format!("{fits}x")), None, "case 84, 201");
    let half_as_many_pairs = "\u{1f600}".repeat((200 - frame) / 2);
    assert!(offered(&half_as_many_pairs).is_some(), "case 84, UTF-16 units");
    let more = format!("{half_as_many_pairs}\u{1f600}");
    assert_eq!(offered(&more), None, "case 84, UTF-16 units");
}
