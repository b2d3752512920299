//! Tables for the script parser: what is understood, and what is said about mistakes.

use std::num::NonZeroU32;

use super::*;

#[path = "../../tests/common/mistakes.rs"]
mod mistakes;

#[track_caller]
fn steps(text: &str) -> Vec<Step> {
    let text = format!("{{\"version\": 1, \"turns\": [{{\"steps\": {text}}}]}}");
    Script::parse("test", &text)
        .unwrap()
        .turns()
        .next()
        .unwrap()
        .steps
        .to_vec()
}

/// Every mistaken script with what is said about it.
fn told(scripts: impl IntoIterator<Item = String>) -> String {
    let told = scripts
        .into_iter()
        .map(|text| match Script::parse("s.json", &text) {
            Ok(_) => panic!("the script should be refused: {text}"),
            Err(error) => format!("{text}\n    {error}\n"),
        });
    told.collect()
}

#[test]
fn every_step_has_a_short_and_a_long_form() {
    let hello = Stream::from("Hello".to_owned());
    assert_eq!(steps(r#"[{"text": "Hello"}]"#), [Step::Text(hello.clone())]);
    assert_eq!(
        steps(r#"[{"text": {"text": "Hello"}}]"#),
        [Step::Text(hello.clone())]
    );
    assert_eq!(
        steps(r#"[{"thinking": "Hello"}]"#),
        [Step::Thinking(hello.clone())]
    );
    assert_eq!(
        steps(r#"[{"text": {"text": "Hello", "chunk": "whole", "repeat": 200000, "delay_ms": 3}}]"#),
        [Step::Text(Stream {
            chunk: Chunk::Whole,
            repeat: NonZeroU32::new(200_000).unwrap(),
            delay_ms: Some(3),
            ..hello
        })]
    );
    assert_eq!(
        steps(r#"["no_result", "hang", "stall"]"#),
        [Step::NoResult, Step::Hang, Step::Stall]
    );
    let failure = |retries| Failure {
        kind: FailureKind::RateLimit,
        text: None,
        retries,
    };
    assert_eq!(
        steps(r#"[{"error": "rate_limit"}, {"error": {"kind": "rate_limit", "retries": 2}}]"#),
        [Step::Error(failure(0)), Step::Error(failure(2))]
    );
    assert_eq!(
        steps(
            r#"[{"exit": {"code": 3, "stderr": "bye"}}, {"wait_for": "end_of_input"}, {"mode": "acceptEdits"}]"#
        ),
        [
            Step::Exit(ExitStep {
                code: 3,
                stderr: "bye".to_owned()
            }),
            Step::WaitFor(HostEvent::EndOfInput),
            Step::Mode(permission_core::PermissionMode::AcceptEdits),
        ]
    );
}

#[test]
fn a_tool_call_needs_no_more_than_a_name() {
    let tool = |text: &str| match steps(&format!("[{{\"tool\": {text}}}]")).remove(0) {
        Step::Tool(tool) => *tool,
        other => panic!("{other:?}"),
    };
    let plain = tool(r#"{"name": "Bash"}"#);
    assert_eq!(
        (plain.ask.clone(), plain.result.clone(), plain.run_ms),
        (None, ToolResult::default(), 0)
    );
    assert_eq!(tool(r#"{"name": "Bash", "ask": false}"#), plain);
    assert_eq!(tool(r#"{"name": "Bash", "ask": true}"#).ask, Some(Box::default()));
    assert_eq!(tool(r#"{"name": "Bash", "ask": {}}"#).ask, Some(Box::default()));
    let result =
        tool(r#"{"name": "Bash", "result": {"text": "x", "is_error": true, "structured": [1]}}"#).result;
    assert_eq!((result.text.as_str(), result.is_error), ("x", true));
    assert_eq!(
        tool(r#"{"name": "Bash", "result": "x"}"#).result,
        ToolResult::from("x".to_owned())
    );
}

#[test]
fn scenes_are_played_one_after_the_other() {
    let script = Script::parse(
        "s.json",
        r#"{"version": 1, "scenes": [
            {"name": "a", "turns": [{"steps": ["hang"]}, {"steps": ["stall"]}]},
            {"name": "b", "turns": [{"prompt": {"exact": "x"}, "steps": [], "sticky": true}]}
        ]}"#,
    )
    .unwrap();
    let first_steps: Vec<Option<&Step>> = script.turns().map(|turn| turn.steps.first()).collect();
    assert_eq!(first_steps, [Some(&Step::Hang), Some(&Step::Stall), None]);
    assert_eq!(
        script.turns().last().unwrap().prompt,
        Some(PromptPattern::Exact("x".to_owned()))
    );
}

#[test]
fn mistakes_are_told_with_place_key_and_what_is_allowed() {
    insta::assert_snapshot!(told(mistakes::SCRIPTS.iter().map(|text| (*text).to_owned())));
}

#[test]
fn mistakes_in_steps_are_told_with_the_step() {
    insta::assert_snapshot!(told(
        mistakes::STEPS.iter().map(|steps| mistakes::with_steps(steps))
    ));
}

#[test]
fn settings_that_would_not_count_as_written_are_a_mistake() {
    let rows = [
        r#"{"permissions": {"allow": ["*"]}}"#,
        r#"{"permissions": {"allow": "Bash"}}"#,
        r#"{"permissions": {"deny": ["Bash(rm"]}}"#,
        r#"{"permissions": {"defaultMode": "yolo"}}"#,
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    ];
    let told = rows.iter().map(|settings| {
        let script = format!(r#"{{"version": 1, "session": {{"settings": {settings}}}, "turns": []}}"#);
        let finding = Script::parse("s.json", &script).unwrap_err().finding();
        format!("{settings}\n    {finding}\n")
    });
    insta::assert_snapshot!(told.collect::<String>());
    let fine = r#"{"version": 1, "session": {"settings": {"permissions": {"ask": ["Bash(git *)"]}, "other": 1}}, "turns": []}"#;
    assert!(Script::parse("s.json", fine).is_ok());
}

#[test]
fn two_scenes_of_one_name_are_a_mistake() {
    let twice = r#"{"version": 1, "scenes": [{"name": "a", "turns": []}, {"name": "a", "turns": []}]}"#;
    let error = Script::parse("s.json", twice).unwrap_err().to_string();
    assert!(error.contains("two scenes are named `a`"), "{error}");
}

#[test]
fn a_finding_has_the_place_first() {
    let check = |text: &str, expected: &str| {
        assert_eq!(Script::parse("s.json", text).unwrap_err().finding(), expected);
    };
    check(
        "{\n  \"version\": 1,\n  \"turns\": [{ \"steps\": [], \"stick\": true }]\n}",
        "s.json:3:34: at `turns[0].stick`: unknown field `stick`, expected one of `prompt`, `sticky`, `on_interrupt`, `usage`, `steps`",
    );
    check(
        r#"{"version": 1}"#,
        "s.json:1:1: missing field `turns` (or `scenes`)",
    );
    let missing = Script::load(Path::new("/nowhere.json")).unwrap_err().finding();
    assert!(
        missing.starts_with("/nowhere.json: cannot be read: "),
        "{missing}"
    );
}

#[test]
fn the_built_in_scripts_can_be_played() {
    assert_eq!(names(), ["default", "tour", "permissions", "plan", "stress"]);
    for name in names() {
        let script = Script::builtin(name).unwrap();
        assert!(!script.about.is_empty(), "{name}");
        assert!(
            script.turns().next().is_some_and(|turn| !turn.steps.is_empty()),
            "{name}"
        );
        assert_eq!(Script::find(name).unwrap(), script);
    }
}

#[test]
fn the_example_in_the_readme_is_a_script() {
    let readme = include_str!("../../README.md");
    let example = readme
        .split("```json")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let script = Script::parse("README.md", example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(script.turns().count(), 4);
}

#[test]
fn a_script_that_is_not_there_is_told_so() {
    let missing = Script::load(Path::new("/nowhere/at/all.json"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        missing,
        "cannot read the script `/nowhere/at/all.json`; check the path"
    );
    let unknown = "there is no built-in script `tuor`; use one of `default`, `tour`, `permissions`, `plan`, `stress`, or the path of a file";
    assert_eq!(Script::builtin("tuor").unwrap_err().to_string(), unknown);
    assert_eq!(Script::find("tuor").unwrap_err().to_string(), unknown);
}
