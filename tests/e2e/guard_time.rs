//! A policy and plan mode against time: modes that change while a hook looks, crowds of calls, and ends in the middle.

use std::path::Path;

use e2e_tests::harness::{Bell, Client, World, no_questions};
use e2e_tests::model::{reply, text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::guard_support::{Call, ignore_modes, one_call, open_allowed, set_mode};
use crate::policy_support::{bash, run_calls, script_calls, told, write};
use crate::support::{assert_error, greet_again};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        plan_mode_begun_while_a_hook_runs_holds_for_a_command,
        plan_mode_begun_while_a_hook_runs_holds_for_a_file,
        a_parallel_cd_does_not_hide_where_a_file_is,
        two_hundred_calls_at_once_get_one_answer_each,
        a_cancel_during_a_hook_ends_it_and_the_session_goes_on,
        a_claude_that_dies_during_a_hook_ends_it_and_the_session_goes_on,
        steering_during_a_hook_loses_nothing,
        a_huge_write_and_huge_commands_are_looked_at,
    ];
    all.extend(cases![Claude, Tcp: a_client_that_vanishes_during_a_hook_takes_it_along]);
    all
}

/// What a hook that waits has in its command line.
const WAITING: &str = "read line <";

/// A policy whose hook rings `begun` and then waits for `go`.
fn waits(world: &World, matcher: &str, permissions: Value) -> (Value, Bell, Bell) {
    let (begun, go) = (world.bell("begun"), world.latch("go"));
    let command = format!("echo begun > {}; {WAITING} {}", begun.path(), go.path());
    let hook = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
    let policy = json!({"permissions": permissions, "hooks": {"PreToolUse": [hook]}});
    (policy, begun, go)
}

fn plan_mode_begun_while_a_hook_runs_holds_for_a_command(world: &mut World) {
    let made = world.project().join("made");
    plan_during_a_hook(world, bash("mkdir made"), &made);
}

fn plan_mode_begun_while_a_hook_runs_holds_for_a_file(world: &mut World) {
    let made = world.project().join("made");
    plan_during_a_hook(world, write(&made), &made);
}

/// The client goes to `plan` while a hook looks at a call that the user's own rules allow.
fn plan_during_a_hook(world: &mut World, call: Call, made: &Path) {
    let (policy, begun, mut go) = waits(world, "Write|Bash", json!({}));
    let (_agent, mut client, session) = open_allowed(world, &policy);
    script_calls(world, &[call]);
    let prompt = client.start_prompt(&session, "go");
    begun.wait();
    set_mode(&mut client, &session, "plan");
    go.ring();
    client.finish_prompt(&prompt, no_questions).ignore_rest();
    assert!(told(world, 0).contains("plan mode"), "{}", told(world, 0));
    assert!(!made.exists());
}

/// Claude runs both at once; the hook holds the second up until the first has moved the shell.
fn a_parallel_cd_does_not_hide_where_a_file_is(world: &mut World) {
    let folder = world.project().join("vault");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("key"), "xyzzy-plugh\n").unwrap();
    let (begun, mut go) = (world.bell("begun"), world.latch("go"));
    let (begins, goes) = (begun.path(), go.path());
    let command = format!("grep -q 'cat key' && echo begun > {begins} && read line < {goes}; true");
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": command}]});
    let policy = json!({"permissions": {"deny": ["Read(/vault/key)"]}, "hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let cd = json!({"command": "cd vault"});
    let cat = json!({"command": "cat key"});
    let both = reply().tool("toolu_0", "Bash", cd).tool("toolu_1", "Bash", cat);
    world.model().script([both, text("done")]);
    let prompt = client.start_prompt(&session, "go");
    begun.wait();
    wait_completed(&mut client, &session, "toolu_0");
    go.ring();
    client.finish_prompt(&prompt, no_questions).ignore_rest();
    assert!(!told(world, 1).contains("xyzzy"), "{}", told(world, 1));
}

fn wait_completed(client: &mut Client, session: &str, call: &str) {
    loop {
        let update = client.update(session, "tool_call_update");
        if update["toolCallId"] == call && update["status"] == "completed" {
            return;
        }
    }
}

fn two_hundred_calls_at_once_get_one_answer_each(world: &mut World) {
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]});
    let permissions = json!({"deny": ["Bash(touch *)"], "denialThreshold": 0});
    let policy = json!({"permissions": permissions, "hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let mut message = reply();
    for number in 0..200 {
        let command = match number % 3 {
            0 => "touch forbidden".to_owned(),
            1 => "ls".to_owned(),
            _ => format!("echo {number} >> made"),
        };
        message = message.tool(&format!("toolu_{number}"), "Bash", json!({"command": command}));
    }
    world.model().script([message, text("done")]);
    let turn = client.prompt(&session, "go", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
    for number in 0..200 {
        let told = told(world, number);
        let denied = told.contains("denies it by the rule");
        assert_eq!(denied, number % 3 == 0, "{number}: {told}");
    }
    assert!(!world.project().join("forbidden").exists());
    let made = std::fs::read_to_string(world.project().join("made")).unwrap();
    assert_eq!(made.lines().count(), 66);
}

fn a_cancel_during_a_hook_ends_it_and_the_session_goes_on(world: &mut World) {
    let (policy, begun, mut go) = waits(world, "Write", json!({}));
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let source = world.project().join("source.txt");
    let (name, input) = write(&source);
    world.model().script([tool("toolu_0", name, input)]);
    let prompt = client.start_prompt(&session, "go");
    begun.wait();
    client.cancel(&session);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "cancelled");
    turn.ignore_rest();
    world.wait_gone(WAITING);
    assert!(!source.exists());
    go.ring();
    one_call(world, &mut client, &session, "toolu_after", "ls");
    assert!(!source.exists());
}

fn a_claude_that_dies_during_a_hook_ends_it_and_the_session_goes_on(world: &mut World) {
    let (policy, begun, _go) = waits(world, "Write", json!({}));
    let (agent, mut client, session) = open_allowed(world, &policy);
    let source = world.project().join("source.txt");
    let (name, input) = write(&source);
    world.model().script([tool("toolu_0", name, input)]);
    let prompt = client.start_prompt(&session, "go");
    begun.wait();
    world.kill_command("stream-json", &agent);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_error(turn.error(), -32603, "the Claude process ended");
    turn.ignore_rest();
    world.wait_gone(WAITING);
    one_call(world, &mut client, &session, "toolu_after", "ls");
    assert!(!source.exists());
}

fn steering_during_a_hook_loses_nothing(world: &mut World) {
    let (policy, begun, mut go) = waits(world, "Write", json!({"deny": ["Bash(touch *)"]}));
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let source = world.project().join("source.txt");
    script_calls(world, &[write(&source), bash("touch forbidden")]);
    let prompt = client.start_prompt(&session, "go");
    begun.wait();
    let words = json!([{"type": "text", "text": "and more"}]);
    let params = json!({"sessionId": session, "prompt": words});
    let steered = client.call("_session/steering", params).unwrap();
    assert_eq!(steered["outcome"], "injected");
    go.ring();
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
    assert!(source.exists(), "{}", told(world, 0));
    assert!(
        told(world, 1).contains("denies it by the rule"),
        "{}",
        told(world, 1)
    );
    let requests = world.model().requests();
    assert!(requests.iter().any(|request| request.mentions("and more")));
    world.wait_gone(WAITING);
}

fn a_huge_write_and_huge_commands_are_looked_at(world: &mut World) {
    let seen = world.path("seen");
    let command = format!("wc -c >> {}", seen.display());
    let hook = json!({"matcher": "Write", "hooks": [{"type": "command", "command": command}]});
    let permissions = json!({"deny": ["Bash(touch *)", "Edit(secret)"], "confine": true});
    let policy = json!({"permissions": permissions, "hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let huge = "x".repeat(10_000_000);
    let (big, secret) = (world.project().join("big"), world.project().join("secret"));
    let calls = [
        ("Write", json!({"file_path": big, "content": huge})),
        write(&secret),
        bash(&format!("echo '{}'; touch made", "y".repeat(300_000))),
        bash(&format!(
            "echo {}touch made{}",
            "$(".repeat(2000),
            ")".repeat(2000)
        )),
        bash(&format!("{}touch made", "true;".repeat(10_000))),
    ];
    run_calls(world, &mut client, &session, &calls, no_questions).ignore_rest();
    let seen = std::fs::read_to_string(seen).unwrap();
    let first: usize = seen.lines().next().unwrap().trim().parse().unwrap();
    assert!(first > huge.len(), "the hook is told all of it: {seen}");
    assert_eq!(std::fs::read_to_string(big).unwrap().len(), huge.len());
    assert!(!secret.exists(), "{}", told(world, 1));
    for number in 2..calls.len() {
        let told = told(world, number);
        assert!(told.contains("denies it by the rule"), "{number}: {told:.150}");
    }
    assert!(!world.project().join("made").exists());
}

fn a_client_that_vanishes_during_a_hook_takes_it_along(world: &mut World) {
    let (policy, begun, _go) = waits(world, "Write", json!({}));
    let (mut agent, mut client, session) = open_allowed(world, &policy);
    let source = world.project().join("source.txt");
    let (name, input) = write(&source);
    world.model().script([tool("toolu_0", name, input)]);
    client.start_prompt(&session, "go");
    begun.wait();
    client.vanish();
    world.wait_gone(WAITING);
    world.wait_gone("stream-json");
    let mut other = greet_again(&mut agent);
    ignore_modes(&mut other);
    let session = other.new_session(&world.cwd());
    one_call(world, &mut other, &session, "toolu_after", "ls");
    assert!(!source.exists());
}
