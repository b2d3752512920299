//! A Claude CLI that is missing, unusable or dies: the error says why, and the agent lives.

use e2e_tests::harness::{Agent, Client, World, no_questions};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, open};

/// Shell functions that speak just enough of the control protocol: `speak` answers control requests with success
/// and calls `on_user` for each user message, which calls `take_up` first unless it wants to lose the prompt.
pub(crate) const SPEAK: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
take_up() {
    say '{"type":"command_lifecycle","command_uuid":"'"$uuid"'","state":"started","session_id":"s","uuid":"l"}'
}
text_delta() {
    say '{"type":"stream_event","session_id":"s","parent_tool_use_id":null,"uuid":"u","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}}'
    say '{"type":"stream_event","session_id":"s","parent_tool_use_id":null,"uuid":"u","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}'
    say '{"type":"stream_event","session_id":"s","parent_tool_use_id":null,"uuid":"u","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'"$1"'"}}}'
}
result() {
    say '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"stop_reason":"end_turn","total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{},"permission_denials":[],"terminal_reason":"completed","result":"'"$1"'","user_message_uuid":"'"$uuid"'","user_message_uuids":["'"$uuid"'"],"session_id":"s","uuid":"u"}'
}
speak() {
    while read -r line; do
        case "$line" in
        *'"type":"control_request"'*)
            id=${line#*'"request_id":"'}
            id=${id%%'"'*}
            say '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"commands":[],"models":[],"agents":[],"account":{}}}}'
            ;;
        *'"type":"user"'*)
            uuid=${line#*'"uuid":"'}
            uuid=${uuid%%'"'*}
            on_user
            ;;
        esac
    done
}
"#;

pub(crate) fn cases() -> Vec<Case> {
    cases![Rehearsal, Stdio:
        a_missing_cli_is_an_error_that_says_what_was_tried,
        a_cli_that_is_not_executable_is_an_error,
        a_cli_that_exits_at_once_is_an_error_with_its_stderr,
        a_cli_that_ends_silently_before_answering_is_an_error,
        a_cli_that_writes_garbage_loses_only_those_lines,
        a_cli_that_dies_in_a_turn_is_an_error_with_exit_and_stderr,
        a_cli_that_ends_without_a_result_answers_the_prompt,
        a_prompt_that_claude_never_took_up_is_sent_again,
        a_cli_on_the_path_is_found,
        nesting_markers_do_not_reach_the_cli,
    ]
}

fn a_missing_cli_is_an_error_that_says_what_was_tried(world: &mut World) {
    world.use_fake_cli("");
    world.set_env("CLAUDE_CODE_EXECUTABLE", "/does/not/exist/claude");
    let said = session_error(world);
    assert!(said.contains("/does/not/exist/claude"), "{said}");
}

fn a_cli_that_is_not_executable_is_an_error(world: &mut World) {
    world.use_fake_cli("");
    let path = world.path("plain.txt");
    std::fs::write(&path, "not a program").unwrap();
    world.set_env("CLAUDE_CODE_EXECUTABLE", path.to_str().unwrap());
    let said = session_error(world);
    assert!(said.contains("plain.txt"), "{said}");
}

fn a_cli_that_exits_at_once_is_an_error_with_its_stderr(world: &mut World) {
    world.use_fake_cli("#!/bin/sh\necho 'the moon is in the wrong phase' >&2\nexit 7\n");
    let said = session_error(world);
    assert!(
        said.contains("the moon is in the wrong phase") && said.contains('7'),
        "{said}"
    );
}

fn a_cli_that_ends_silently_before_answering_is_an_error(world: &mut World) {
    world.use_fake_cli("#!/bin/sh\nread -r line\nexit 0\n");
    let said = session_error(world);
    assert!(
        said.contains('0') || said.to_lowercase().contains("ended"),
        "{said}"
    );
}

/// `session/new` fails with an internal error and the agent stays; returns the whole error.
fn session_error(world: &World) -> String {
    let (agent, mut client) = greet(world);
    let new = json!({"cwd": world.cwd(), "mcpServers": []});
    let error = client.call("session/new", new.clone()).unwrap_err();
    assert_error(&error, -32603, "");
    assert_eq!(
        client.call("session/new", new).unwrap_err()["code"],
        -32603,
        "and again"
    );
    world.wait_only(&agent);
    error.to_string()
}

fn a_cli_that_writes_garbage_loses_only_those_lines(world: &mut World) {
    world.use_fake_cli(&format!(
        r#"{SPEAK}
on_user() {{
    take_up
    say 'this is not JSON'
    say '{{"type":"something_new","with":["fields"]}}'
    say '{{"type":"assistant"}}'
    printf '\377\376\n'
    text_delta survived
    result survived
}}
speak
"#
    ));
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("survived", "end_turn")
    );
}

fn a_cli_that_dies_in_a_turn_is_an_error_with_exit_and_stderr(world: &mut World) {
    let (_agent, mut client, session) = dies_once(
        world,
        "take_up; text_delta 'last words'; echo 'out of cheese' >&2; exit 42",
    );
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_error(turn.error(), -32603, "");
    let said = turn.error().to_string();
    assert!(said.contains("42") && said.contains("out of cheese"), "{said}");
    assert_eq!(turn.text(), "last words");
    let mut turn = client.prompt(&session, "again", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("alive", "end_turn"));
}

fn a_cli_that_ends_without_a_result_answers_the_prompt(world: &mut World) {
    let (_agent, mut client, session) = dies_once(world, "take_up; text_delta 'last words'; exit 0");
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_error(turn.error(), -32603, "");
    assert_eq!(turn.text(), "last words");
    assert_eq!(client.prompt(&session, "again", no_questions).text(), "alive");
}

fn a_prompt_that_claude_never_took_up_is_sent_again(world: &mut World) {
    let (_agent, mut client, session) = dies_once(world, "exit 1");
    let mut turn = client.prompt(&session, "go", no_questions);
    assert_eq!((turn.text().as_str(), turn.stop_reason()), ("alive", "end_turn"));
}

/// A Claude that dies in its first turn; the one started after it answers.
fn dies_once(world: &mut World, first: &str) -> (Agent, Client, String) {
    let died = world.path("died");
    world.use_fake_cli(&format!(
        r#"{SPEAK}
on_user() {{
    if [ -e {died} ]; then take_up; text_delta alive; result alive; return; fi
    : > {died}
    {first}
}}
speak
"#,
        died = died.display(),
    ));
    open(world)
}

fn a_cli_on_the_path_is_found(world: &mut World) {
    world.use_fake_cli("");
    world.remove_env("CLAUDE_CODE_EXECUTABLE");
    let folder = world.path("bin");
    std::fs::create_dir(&folder).unwrap();
    world.executable(
        "bin/claude",
        &format!("{SPEAK}\non_user() {{ take_up; text_delta found; result found; }}\nspeak\n"),
    );
    let path = format!("{}:{}", folder.display(), world.environment_value("PATH"));
    world.set_env("PATH", &path);
    let (_agent, mut client, session) = open(world);
    assert_eq!(client.prompt(&session, "go", no_questions).text(), "found");
}

fn nesting_markers_do_not_reach_the_cli(world: &mut World) {
    let seen = world.path("seen");
    let script = format!("{SPEAK}\nenv > {}\non_user() {{ :; }}\nspeak\n", seen.display());
    world.use_fake_cli(&script);
    world.set_env("CLAUDECODE", "1");
    world.set_env("CLAUDE_CODE_SESSION_ID", "outer");
    world.set_env("CLAUDE_CODE_CHILD_SESSION", "1");
    world.set_env("UNRELATED", "kept");
    let (_agent, _client, _session) = open(world);
    let seen = std::fs::read_to_string(seen).unwrap();
    let has = |line: &str| seen.lines().any(|seen| seen == line);
    assert!(has("UNRELATED=kept"), "{seen}");
    for marker in [
        "CLAUDECODE=1",
        "CLAUDE_CODE_SESSION_ID=outer",
        "CLAUDE_CODE_CHILD_SESSION=1",
    ] {
        assert!(!has(marker), "{marker} reached the CLI");
    }
}
