//! What an allow changes beside the call, and for how long: the call, the session, the files of the sandbox.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[expect(dead_code, reason = "other test files use the rest of it")]
mod common;

use std::sync::Arc;

use common::Host;
use rehearsal::Sandboxes;
use rehearsal::engine::{Done, Grounds, Job, SessionState, Setup, ToolOutput, Work};
use serde_json::{Value, json};

/// Sessions of one backend in one directory.
struct Place {
    grounds: Arc<dyn Grounds>,
    script: Value,
}

impl Place {
    fn new(calls: &[Value]) -> Self {
        let steps: Vec<Value> = calls.iter().map(|call| json!({ "tool": call })).collect();
        Self {
            grounds: Arc::new(Sandboxes::private()),
            script: json!({"version": 1, "turns": [{"sticky": true, "steps": steps}]}),
        }
    }

    fn session(&self, state: SessionState) -> Host {
        let mut setup = Setup::new("session-1", "/home/user/project");
        setup.grounds = Arc::clone(&self.grounds);
        setup.partial_messages = false;
        let mut host = Host::with(&self.script.to_string(), setup, state);
        host.rim = Some(Box::new(|work: &Work| {
            assert!(matches!(work.job, Job::Tool { .. }));
            Done::Tool(ToolOutput {
                text: "ran".to_owned(),
                structured: json!("ran"),
                is_error: false,
            })
        }));
        host
    }
}

/// Plays a turn with the same updates in every answer; says how often there was a question.
fn questions(host: &mut Host, updates: &Value) -> usize {
    let before = host.asked.len();
    let mut answered = before;
    host.prompt("go");
    while host.asked.len() > answered {
        answered += 1;
        host.answer(json!({"behavior": "allow", "updatedPermissions": updates}));
    }
    answered - before
}

fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command}, "real": true})
}

fn write(path: &str) -> Value {
    json!({"name": "Write", "input": {"file_path": path, "content": "x"}, "real": true})
}

fn add(rule: &str, behavior: &str, destination: &str) -> Value {
    json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": rule}], "behavior": behavior, "destination": destination}])
}

/// The suggestions of the last question.
fn suggested(host: &Host) -> Value {
    let question = host
        .frames
        .iter()
        .rfind(|frame| frame["request"]["subtype"] == "can_use_tool")
        .unwrap();
    question["request"]["permission_suggestions"].clone()
}

#[test]
fn an_allow_once_lasts_for_the_call() {
    let place = Place::new(&[bash("make all"), bash("make all")]);
    let mut host = place.session(SessionState::default());
    assert_eq!(questions(&mut host, &json!([])), 2);
    assert_eq!(questions(&mut host, &json!([])), 2);
}

#[test]
fn what_is_for_the_session_ends_with_it_and_survives_a_resume() {
    let place = Place::new(&[bash("make all"), bash("make all")]);
    let mut host = place.session(SessionState::default());
    let updates = add("make *", "allow", "session");
    assert_eq!(
        questions(&mut host, &updates),
        1,
        "the next call of the turn is allowed"
    );
    assert_eq!(questions(&mut host, &json!([])), 0);
    let kept = serde_json::to_string(host.engine.state()).unwrap();
    let mut resumed = place.session(serde_json::from_str(&kept).unwrap());
    assert_eq!(questions(&mut resumed, &json!([])), 0);
    let mut other = place.session(SessionState::default());
    assert_eq!(questions(&mut other, &json!([])), 2, "another session is asked");
}

#[test]
fn what_is_for_a_settings_file_is_there_for_every_later_session() {
    for destination in ["localSettings", "projectSettings", "userSettings"] {
        let place = Place::new(&[bash("make all"), bash("make all")]);
        let mut host = place.session(SessionState::default());
        assert_eq!(
            questions(&mut host, &add("make *", "allow", destination)),
            1,
            "{destination}"
        );
        let mut other = place.session(SessionState::default());
        assert_eq!(questions(&mut other, &json!([])), 0, "{destination}");
    }
}

#[test]
fn rules_are_replaced_and_removed_where_they_were_kept() {
    for destination in ["session", "localSettings"] {
        let place = Place::new(&[bash("make all"), bash("npm test")]);
        let mut host = place.session(SessionState::default());
        let rules = json!([{"toolName": "Bash", "ruleContent": "make *"}]);
        let one = |kind: &str, rules: &Value| json!([{"type": kind, "rules": rules, "behavior": "allow", "destination": destination}]);
        assert_eq!(questions(&mut host, &one("addRules", &rules)), 2);
        assert_eq!(
            questions(&mut host, &one("removeRules", &rules)),
            1,
            "{destination}"
        );
        assert_eq!(questions(&mut host, &one("addRules", &rules)), 2, "{destination}");
        let other = json!([{"toolName": "Bash", "ruleContent": "npm test"}]);
        assert_eq!(questions(&mut host, &one("replaceRules", &other)), 1);
        assert_eq!(questions(&mut host, &json!([])), 1, "{destination}");
        assert_eq!(suggested(&host)[0]["rules"][0]["ruleContent"], "make all *");
    }
}

#[test]
fn a_denial_for_the_session_needs_no_question_any_more() {
    let place = Place::new(&[bash("make all"), bash("make clean")]);
    let mut host = place.session(SessionState::default());
    assert_eq!(questions(&mut host, &add("make clean", "deny", "session")), 1);
    assert!(
        host.transcript.contains("Denied by the rule"),
        "{}",
        host.transcript
    );
}

#[test]
fn edits_are_accepted_from_the_next_call_on() {
    let place = Place::new(&[write("a"), write("b")]);
    let mut host = place.session(SessionState::default());
    host.prompt("go");
    let suggested = suggested(&host);
    assert_eq!(
        suggested,
        json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    );
    host.answer(json!({"behavior": "allow", "updatedPermissions": suggested}));
    assert_eq!(host.asked.len(), 1);
    assert!(host.transcript.contains("status null acceptEdits"));
}

#[test]
fn a_directory_is_added_and_taken_away() {
    let place = Place::new(&[write("{home}/notes/a"), write("{home}/notes/b")]);
    let mut host = place.session(SessionState::default());
    host.request(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}));
    host.prompt("go");
    let question = host
        .frames
        .iter()
        .rfind(|frame| frame["type"] == "control_request")
        .unwrap();
    assert_eq!(question["request"]["decision_reason_type"], "workingDir");
    let added = suggested(&host);
    assert_eq!(
        (added[0]["type"].as_str(), added.as_array().unwrap().len()),
        (Some("addDirectories"), 1)
    );
    host.answer(json!({"behavior": "allow", "updatedPermissions": added}));
    assert_eq!(host.asked.len(), 1, "the second file is in the directory");
    assert_eq!(questions(&mut host, &json!([])), 0);
    let kept = serde_json::to_string(host.engine.state()).unwrap();
    let mut resumed = place.session(serde_json::from_str(&kept).unwrap());
    resumed.request(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}));
    assert_eq!(questions(&mut resumed, &json!([])), 0);
    resumed.request(json!({"subtype": "set_permission_mode", "mode": "default"}));
    let mut removed = added.clone();
    removed[0]["type"] = json!("removeDirectories");
    assert_eq!(questions(&mut resumed, &removed), 2);
    resumed.request(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}));
    assert_eq!(questions(&mut resumed, &json!([])), 2);
}

#[test]
fn reading_elsewhere_is_allowed_for_a_directory() {
    let read = |path: &str| json!({"name": "Read", "input": {"file_path": path}, "real": true});
    let place = Place::new(&[
        read("{home}/a"),
        read("{home}/b"),
        json!({"name": "Grep", "input": {"pattern": "x", "path": "{home}"}, "real": true}),
    ]);
    let mut host = place.session(SessionState::default());
    host.prompt("go");
    let updates = suggested(&host);
    let rule = &updates[0]["rules"][0];
    assert_eq!(rule["toolName"], "Read");
    assert!(rule["ruleContent"].as_str().unwrap().starts_with("//"), "{rule}");
    host.answer(json!({"behavior": "allow", "updatedPermissions": updates}));
    assert_eq!(host.asked.len(), 1, "{}", host.transcript);
}

#[test]
fn commands_are_suggested_as_rules_for_their_parts() {
    let rows = [
        ("npm test", json!([["npm test *"]])),
        ("npm test -- greeting", json!([["npm test *"]])),
        ("./build.sh all", json!([["./build.sh all *"]])),
        ("./build.sh ./all", json!([["./build.sh ./all"]])),
        ("make a && make b", json!([["make a", "make b"]])),
        ("ls && make a", json!([["make a *"]])),
        ("echo $(make)", json!([])),
        ("a1;a2;a3;a4;a5;a6", json!([])),
    ];
    for (command, expected) in rows {
        let place = Place::new(&[bash(command)]);
        let mut host = place.session(SessionState::default());
        host.prompt("go");
        let suggested = suggested(&host);
        let contents: Vec<Vec<&Value>> = suggested
            .as_array()
            .unwrap()
            .iter()
            .map(|update| {
                assert_eq!(update["destination"], "localSettings");
                let rules = update["rules"].as_array().unwrap();
                rules.iter().map(|rule| &rule["ruleContent"]).collect()
            })
            .collect();
        assert_eq!(json!(contents), expected, "{command}");
    }
}

#[test]
fn a_suggestion_that_was_taken_is_enough_for_the_next_time() {
    for command in [
        "npm test",
        "make a && make b",
        "echo '(a)'; make \"b c\"",
        "./build.sh all",
    ] {
        let place = Place::new(&[bash(command), bash(command)]);
        let mut host = place.session(SessionState::default());
        host.prompt("go");
        let updates = suggested(&host);
        host.answer(json!({"behavior": "allow", "updatedPermissions": updates}));
        assert_eq!(host.asked.len(), 1, "{command}");
    }
}

#[test]
fn what_a_tool_writes_into_settings_counts_from_the_next_turn() {
    let place = Place::new(&[bash("make all"), bash("make all")]);
    let mut host = place.session(SessionState::default());
    let grounds = Arc::clone(&place.grounds);
    host.rim = Some(Box::new(move |_: &Work| {
        let ground = grounds.open(&Default::default()).unwrap();
        let file = format!("{}/.claude/settings.json", ground.places().project);
        std::fs::create_dir_all(format!("{}/.claude", ground.places().project)).unwrap();
        std::fs::write(file, r#"{"permissions": {"allow": ["Bash(make *)"]}}"#).unwrap();
        Done::Tool(ToolOutput::error("written"))
    }));
    assert_eq!(
        questions(&mut host, &json!([])),
        2,
        "the snapshot of the turn stays"
    );
    assert_eq!(questions(&mut host, &json!([])), 0);
}

#[test]
fn updates_that_make_no_sense_are_passed_over() {
    let place = Place::new(&[bash("make all"), bash("make all")]);
    let mut host = place.session(SessionState::default());
    let nonsense = json!([{"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}, 5, {"type": "paint"}]);
    assert_eq!(questions(&mut host, &nonsense), 2);
    assert!(host.transcript.contains("ran"));
}
