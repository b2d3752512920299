//! Scenes: how a prompt picks one, and transcripts of the built-in scripts with a host that answers every question.

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
use std::time::Duration;

use common::Host;
use insta::assert_snapshot;
use rehearsal::Script;
use rehearsal::engine::{Engine, Pace, Setup};
use rehearsal::script::names;
use serde_json::{Value, json};

const LOADED: &str = r#"{"version": 1, "about": "two scenes", "scenes": [
    {"name": "one", "about": "the first", "turns": [{"steps": [{"text": "1a"}]}, {"steps": [{"text": "1b"}]}]},
    {"name": "two", "turns": [{"prompt": "never", "steps": [{"text": "2a"}]}, {"steps": [{"text": "2b"}]}]}]}"#;

/// Longer than any built-in scene takes.
const LONG: Duration = Duration::from_secs(600);

/// What Claude said to each prompt: the text of its result. Every question is answered with yes.
fn said(host: &mut Host, prompts: &[&str]) -> Vec<String> {
    let said = prompts.iter().map(|prompt| {
        play(host, prompt, &json!("allow"));
        let result = host.transcript.lines().rfind(|line| line.starts_with("result "));
        let (_, turns_and_text) = result.unwrap().split_once(" turns=").unwrap();
        let (_, text) = turns_and_text.split_once(' ').unwrap();
        let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
        texts.next().unwrap().unwrap()
    });
    said.collect()
}

/// Sends a prompt and answers every question of its turn with `reply`.
fn play(host: &mut Host, prompt: &str, reply: &Value) {
    let mut asked = host.asked.len();
    host.prompt(prompt);
    while !matches!(host.go_on(LONG), Pace::Exit(_)) && host.asked.len() > asked {
        asked = host.asked.len();
        let reply = if *reply == json!("allow") {
            allow(host)
        } else {
            reply.clone()
        };
        host.answer(reply);
    }
}

#[test]
fn a_prompt_picks_a_scene_and_the_next_ones_go_on_in_it() {
    let mut host = Host::of_script(LOADED);
    let prompts = [
        "hello",
        "/rehearse two",
        "on",
        "/rehearse two",
        "/rehearse one",
        "on",
    ];
    assert_eq!(said(&mut host, &prompts), ["1a", "2a", "2b", "2a", "1a", "1b"]);
    let over = said(&mut host, &["on"]);
    assert!(over[0].contains("`/rehearse` lists"), "{over:?}");
}

#[test]
fn scenes_are_listed_and_a_wrong_name_is_told_with_the_list() {
    let mut host = Host::of_script(LOADED);
    let answers = said(&mut host, &["/rehearse", "/rehearse three", "hello"]);
    assert!(
        answers[1].starts_with("There is no scene `three`. "),
        "{answers:?}"
    );
    assert!(answers[1].ends_with(&answers[0]), "{answers:?}");
    assert_eq!(answers[2], "1a", "a list uses no turn up");
    for name in names() {
        assert!(answers[0].contains(&format!("- `{name}`: ")), "{answers:?}");
    }
    assert_snapshot!(answers[0]);
}

#[test]
fn a_built_in_script_brings_its_own_plan() {
    let mut host = Host::of_script(LOADED);
    host.prompt("/rehearse plan");
    host.go_on(LONG);
    host.request(json!({"subtype": "get_plan"}));
    assert!(host.transcript.contains("# Greet by name"), "{}", host.transcript);
}

#[test]
fn a_scene_outlives_the_process() {
    let mut host = Host::of_script(LOADED);
    play(&mut host, "/rehearse tour/crash", &json!("allow"));
    let state = host.engine.state().clone();
    let mut resumed = Host::with(LOADED, Setup::new("session-1", "/home/user/project"), state);
    let answers = said(&mut resumed, &["go on"]);
    assert!(answers[0].starts_with("A new process"), "{answers:?}");
}

#[test]
fn the_plan_of_a_built_in_script_is_carried_out_by_a_fresh_session_of_any_script() {
    for name in ["plan", "permissions"] {
        let plan = Script::builtin(name).unwrap().session.plan.unwrap().content;
        let prompt = format!("Implement the following plan:\n\n{plan}");
        let answers = said(&mut Host::of_script(LOADED), &[&prompt]);
        assert!(answers[0].contains("clear context"), "{answers:?}");
        let answers = said(&mut Host::of_script(LOADED), &["hello", &prompt]);
        assert_eq!(answers, ["1a", "1b"], "only a fresh session");
    }
    let answers = said(
        &mut Host::of_script(LOADED),
        &["Implement the following plan:\n\nanother"],
    );
    assert_eq!(answers, ["1a"]);
}

#[test]
fn the_walk_through_names_scenes_that_exist_and_a_script_that_can_be_played() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut named = 0;
    for page in ["docs/rehearsal.md", "README.md", "rehearsal/README.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for after in text.split("/rehearse ").skip(1) {
            let ends = |letter: char| !(letter.is_alphanumeric() || letter == '/');
            let name = after.split(ends).next().unwrap();
            // A placeholder, or the example's own.
            if name == "NAME" || name == "SCRIPT/SCENE" || name == "ask" {
                continue;
            }
            let mut host = Host::of_script(LOADED);
            host.prompt(&format!("/rehearse {name}"));
            host.go_on(LONG);
            assert!(!host.transcript.contains("There is no scene"), "{page}: {name}");
            named += 1;
        }
    }
    assert!(named > 12, "{named}");
    let walk = std::fs::read_to_string(root.join("docs/rehearsal.md")).unwrap();
    let example = walk
        .split("```json")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let mut host = Host::of_script(example);
    assert_eq!(
        said(&mut host, &["hello", "/rehearse ask", "/rehearse greet"]),
        ["Hello.", "Done.", "Hello."]
    );
}

#[test]
fn the_command_is_advertised_once() {
    for commands in [
        "",
        r#""commands": [{"name": "deploy"}, {"name": "rehearse", "description": "mine"}]"#,
    ] {
        let script = format!(r#"{{"version": 1, "session": {{{commands}}}, "turns": []}}"#);
        let script = Script::parse("test", &script).unwrap();
        let mut engine = Engine::new(Arc::new(script), Setup::new("s", "/"), Default::default());
        engine.advance(Duration::ZERO);
        let request =
            json!({"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}});
        let line = request.to_string();
        engine.input(Duration::ZERO, rehearsal::engine::Input::Line(line.as_bytes()));
        engine.advance(Duration::ZERO);
        let response: Value = serde_json::from_slice(engine.output()).unwrap();
        let commands = response["response"]["response"]["commands"].as_array().unwrap();
        let ours: Vec<&Value> = commands
            .iter()
            .filter(|command| command["name"] == "rehearse")
            .collect();
        assert_eq!(ours.len(), 1, "{response}");
    }
}

#[test]
fn a_tool_that_the_host_has_taken_out_is_not_there() {
    let mut setup = Setup::new("session-1", "/home/user/project");
    setup.options.disallowed_tools = vec!["AskUserQuestion".to_owned()];
    let script = r#"{"version": 1, "turns": [{"steps": [
        {"tool": {"name": "AskUserQuestion", "ask": true, "if_refused": [{"text": "no form"}]}}, {"text": "a form"}]}]}"#;
    let mut host = Host::with(script, setup, Default::default());
    host.prompt("ask me");
    assert_snapshot!(host.transcript);
}

#[test]
fn a_refused_call_leads_the_turn_elsewhere() {
    let script = r#"[{"tool": {"name": "Bash", "ask": true, "if_refused": [
            {"text": "why not?"}, {"tool": {"name": "Bash", "denied": "by a rule", "if_refused": []}}, {"text": "not said"}]}},
        {"text": "thank you"}]"#;
    for (reply, expected) in [
        (json!({"behavior": "allow"}), "thank you"),
        (json!({"behavior": "deny", "message": "no"}), "why not?"),
    ] {
        let mut host = Host::of_steps(script);
        host.prompt("hi");
        host.answer(reply);
        assert!(host.transcript.contains(&format!(
            "assistant {{\"type\":\"text\",\"text\":\"{expected}\"}}"
        )));
        assert!(!host.transcript.contains("not said"), "{}", host.transcript);
    }
}

/// Plays a built-in script: every question is answered with `reply`, every prompt is sent.
fn transcript(name: &str, prompts: &[&str], reply: &Value) -> String {
    let mut host = playing(name);
    for prompt in prompts {
        play(&mut host, prompt, reply);
    }
    host.transcript
}

/// A host of a built-in script.
fn playing(name: &str) -> Host {
    let mut setup = Setup::new("session-1", "/home/user/project");
    setup.options.allow_bypass = true;
    Host::with(&quick(name), setup, Default::default())
}

/// The script with every text as one delta, which makes for a shorter transcript.
fn quick(name: &str) -> String {
    fn shorten(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for key in ["text", "thinking"] {
                    if fields.len() == 1
                        && let Some(Value::String(text)) = fields.get(key)
                    {
                        fields.insert(key.to_owned(), json!({"text": text, "chunk": "whole"}));
                        return;
                    }
                }
                fields.values_mut().for_each(shorten);
            }
            Value::Array(items) => items.iter_mut().for_each(shorten),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("scripts")
        .join(format!("{name}.json"));
    let mut script = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    shorten(&mut script);
    script.to_string()
}

/// An approval, with the answers that a form brings.
fn allow(host: &Host) -> Value {
    let question = host
        .transcript
        .lines()
        .rfind(|line| line.starts_with("asks "))
        .unwrap();
    let mut question: Value = serde_json::from_str(question.strip_prefix("asks ").unwrap()).unwrap();
    if question["tool_name"] == "AskUserQuestion" {
        question["input"]["answers"] = json!({"Whom should the greeting name?": "The user"});
    }
    json!({"behavior": "allow", "updatedInput": question["input"]})
}

#[test]
fn the_default_script() {
    assert_snapshot!(transcript("default", &["hello"], &json!("allow")));
}

#[test]
fn the_tour() {
    assert_snapshot!(transcript(
        "tour",
        &["1", "2", "3", "4", "5", "6"],
        &json!("allow")
    ));
}

#[test]
fn the_permissions() {
    assert_snapshot!(transcript("permissions", &["go"], &json!("allow")));
}

/// The tools that a transcript was asked about, in order.
fn asked(transcript: &str) -> Vec<String> {
    let questions = transcript.lines().filter_map(|line| line.strip_prefix("asks "));
    let about = |question: &str| -> String {
        let question: Value = serde_json::from_str(question).unwrap();
        let input = &question["input"];
        let what = ["command", "file_path"].map(|key| input[key].as_str());
        let name = question["tool_name"].as_str().unwrap();
        format!("{name} {}", what.into_iter().flatten().next().unwrap_or_default())
    };
    questions.map(about).collect()
}

#[test]
fn the_permissions_refused_go_on_to_the_last_dialog() {
    let refused = transcript(
        "permissions",
        &["go"],
        &json!({"behavior": "deny", "message": "no"}),
    );
    let allowed = transcript("permissions", &["go"], &json!("allow"));
    let refused_about = asked(&refused);
    // Denials in a row make questions of calls that would have asked nobody; nothing is left out but what follows.
    for question in asked(&allowed) {
        let follows = question.starts_with("ExitPlanMode") || question == "Bash ./task test agent";
        assert_eq!(refused_about.contains(&question), !follows, "{question}");
    }
    assert!(refused.contains("result success"), "{refused}");
}

#[test]
fn durable_options_of_the_permissions_spare_the_questions_they_promise_to() {
    let mut host = playing("permissions");
    host.prompt("go");
    let mut answered = 0;
    while !matches!(host.go_on(LONG), Pace::Exit(_)) && host.asked.len() > answered {
        answered = host.asked.len();
        let mut reply = allow(&host);
        let question = host
            .frames
            .iter()
            .rfind(|frame| frame["type"] == "control_request");
        reply["updatedPermissions"] = question.unwrap()["request"]["permission_suggestions"].clone();
        host.answer(reply);
    }
    let durable = asked(&host.transcript);
    let once = asked(&transcript("permissions", &["go"], &json!("allow")));
    let spared: Vec<&String> = once
        .iter()
        .filter(|question| !durable.contains(question))
        .collect();
    assert_snapshot!(format!("{spared:#?}"));
    let before = host.asked.len();
    host.prompt("/rehearse permissions");
    host.go_on(LONG);
    let first = host
        .frames
        .iter()
        .rfind(|frame| frame["type"] == "control_request")
        .unwrap();
    assert_eq!(host.asked.len(), before + 1);
    assert_eq!(
        first["request"]["input"]["command"], "echo \"Greeting: $(cat src/greeting.txt)\"",
        "what was allowed still is"
    );
}

#[test]
fn the_permissions_can_be_walked_in_every_mode() {
    for mode in ["acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"] {
        let mut host = playing("permissions");
        host.request(json!({"subtype": "set_permission_mode", "mode": mode}));
        play(&mut host, "go", &json!("allow"));
        let last = host
            .transcript
            .lines()
            .rfind(|line| line.starts_with("result "))
            .unwrap();
        assert!(
            last.contains("result success") && last.contains("Those were all the dialogs"),
            "{mode}: {last}"
        );
    }
}

#[test]
fn the_plan() {
    assert_snapshot!(transcript("plan", &["make a plan"], &json!("allow")));
}

#[test]
fn the_plan_rejected_with_feedback_twice() {
    let reply = json!({"behavior": "deny", "message": "greet politely"});
    let transcript = transcript("plan", &["make a plan"], &reply);
    assert!(transcript.contains("Then without a plan."), "{transcript}");
    let mut host = Host::of_script(&quick("plan"));
    host.prompt("make a plan");
    host.go_on(LONG);
    host.answer(json!({"behavior": "allow"}));
    for _ in 0..2 {
        host.go_on(LONG);
        host.answer(reply.clone());
    }
    host.go_on(LONG);
    assert_snapshot!(host.transcript);
}

#[test]
fn the_plan_rejected_without_feedback_comes_back_with_the_next_prompt() {
    let mut host = Host::of_script(&quick("plan"));
    host.prompt("make a plan");
    host.go_on(LONG);
    host.answer(json!({"behavior": "allow"}));
    host.go_on(LONG);
    host.answer(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    let asked = host.asked.len();
    for again in 1..=2 {
        host.prompt("again");
        host.go_on(LONG);
        assert_eq!(host.asked.len(), asked + again, "{}", host.transcript);
        host.answer(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    }
}

#[test]
fn the_plan_carried_out_by_a_fresh_process() {
    let plan = Script::builtin("plan").unwrap().session.plan.unwrap().content;
    let prompt = format!("Implement the following plan:\n\n{plan}");
    assert_snapshot!(transcript("plan", &[&prompt], &json!("allow")));
}
