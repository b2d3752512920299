//! What is no tool call, and a policy stops all the same: shell lines of commands and skills, mentioned files, hooks of a
//! project, settings that the model writes for itself.

use std::path::Path;

use e2e_tests::harness::{Agent, Client, World, allow_once, no_questions};
use e2e_tests::model::text;
use e2e_tests::setup::claude_asks_before_shell_lines;
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::project_file;
use crate::plan_guard::plan_file;
use crate::policy_support::{assert_denied, bash, open_under, run_calls, status, told, write};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        case_92_the_shell_line_of_a_command_does_not_run,
        case_92_the_shell_line_of_a_skill_does_not_run,
        case_93_a_mentioned_file_does_not_reach_the_model,
        case_94_the_model_cannot_write_itself_a_hook,
        case_95_a_projects_hook_does_not_run,
        a_hook_of_the_policy_decides_about_a_shell_line,
        a_shell_line_runs_under_a_policy_that_is_asked_about_it,
        a_projects_variables_and_helpers_do_not_count,
        a_projects_server_does_not_start,
        a_changed_option_takes_nothing_of_the_policy_away,
        a_plan_is_written_where_files_are_confined,
    ]
}

const BYPASS: &str = "bypassPermissions";

fn deny(rule: &str) -> Value {
    json!({"permissions": {"deny": [rule]}})
}

/// Without a policy, listing the project leaves a trace.
#[track_caller]
fn lists_with_trace(world: &mut World, traced: &Path) {
    let (mut agent, mut client, session) = open(world);
    run_calls(world, &mut client, &session, &[bash("ls")], no_questions).ignore_rest();
    ended_with_trace(&mut agent, &mut client, traced);
}

/// Ends an agent without a policy. The trace that it left is removed.
#[track_caller]
fn ended_with_trace(agent: &mut Agent, client: &mut Client, traced: &Path) {
    assert!(traced.exists(), "without a policy it is left");
    std::fs::remove_file(traced).unwrap();
    client.close();
    agent.wait_end();
}

/// A command with a shell line that leaves a trace.
fn command_file(world: &World) {
    let text = "---\nallowed-tools: Bash(touch:*)\n---\nState: !`touch traced`\n";
    project_file(world, ".claude/commands/x.md", text);
}

fn case_92_the_shell_line_of_a_command_does_not_run(world: &mut World) {
    command_file(world);
    world.model().script([text("done")]);
    let (mut agent, mut client, session) = open(world);
    client.prompt(&session, "/x", no_questions).ignore_rest();
    let traced = world.project().join("traced");
    ended_with_trace(&mut agent, &mut client, &traced);

    // Where the line might run, Claude's own reading of the rule ends the whole command; else only the line is left out.
    if !claude_asks_before_shell_lines() {
        world.model().script([text("done")]);
    }
    let (_agent, mut client, session) = open_under(world, &deny("Bash"), BYPASS);
    client.prompt(&session, "/x", no_questions).ignore_rest();
    assert!(!traced.exists());
}

fn case_92_the_shell_line_of_a_skill_does_not_run(world: &mut World) {
    let text =
        "---\nname: look\ndescription: Looks\nallowed-tools: Bash(touch:*)\n---\nState: !`touch traced`\n";
    project_file(world, ".claude/skills/look/SKILL.md", text);
    let calls = [("Skill", json!({"skill": "look"}))];
    let (mut agent, mut client, session) = open(world);
    let turn = run_calls(world, &mut client, &session, &calls, allow_once);
    turn.ignore_rest();
    let traced = world.project().join("traced");
    ended_with_trace(&mut agent, &mut client, &traced);

    let (_agent, mut client, session) = open_under(world, &deny("Bash"), BYPASS);
    run_calls(world, &mut client, &session, &calls, no_questions).ignore_rest();
    assert!(!traced.exists());
}

fn case_93_a_mentioned_file_does_not_reach_the_model(world: &mut World) {
    project_file(world, "secret.txt", "xyzzy-plugh\n");
    world.model().script([text("done"), text("done")]);
    let (mut agent, mut client, session) = open(world);
    client
        .prompt(&session, "see @secret.txt", no_questions)
        .ignore_rest();
    let told = |world: &World| {
        world
            .model()
            .requests()
            .iter()
            .any(|request| request.mentions("xyzzy-plugh"))
    };
    assert!(told(world), "without a policy it is read");
    client.close();
    agent.wait_end();

    let before = world.model().requests().len();
    let (_agent, mut client, session) = open_under(world, &deny("Read(secret.txt)"), BYPASS);
    client
        .prompt(&session, "see @secret.txt", no_questions)
        .ignore_rest();
    let requests = world.model().requests();
    let after = requests.get(before..).unwrap();
    assert!(!after.is_empty() && !after.iter().any(|request| request.mentions("xyzzy-plugh")));
}

fn case_94_the_model_cannot_write_itself_a_hook(world: &mut World) {
    let hook = json!({"hooks": [{"type": "command", "command": "touch traced"}]});
    let settings = json!({"hooks": {"PostToolUse": [hook]}}).to_string();
    let local = world.project().join(".claude/settings.local.json");
    project_file(world, ".claude/keep", "");
    let (_agent, mut client, session) = open_under(world, &deny("WebFetch"), BYPASS);
    let calls = [
        ("Write", json!({"file_path": local, "content": settings})),
        bash(&format!("echo '{settings}' > .claude/settings.local.json")),
        bash("cd .claude && cp keep settings.local.json"),
        bash("mv .claude/keep .claude/settings.json"),
        write(&world.project().join(".mcp.json")),
        write(&world.path("policy.json")),
        write(&world.home().join(".claude/settings.json")),
        bash("ls"),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_denied(world, &mut turn, 7, "protects");
    assert_eq!(status(&mut turn, 7), "completed");
    assert!(!local.exists() && !world.project().join("traced").exists());
    assert!(!world.project().join(".mcp.json").exists());
}

fn case_95_a_projects_hook_does_not_run(world: &mut World) {
    let hook = json!([{"hooks": [{"type": "command", "command": "touch traced"}]}]);
    let settings = json!({"hooks": {"SessionStart": hook, "PreToolUse": hook, "UserPromptSubmit": hook}});
    project_file(world, ".claude/settings.json", &settings.to_string());
    let traced = world.project().join("traced");
    lists_with_trace(world, &traced);

    let (_agent, mut client, session) = open_under(world, &deny("WebFetch"), BYPASS);
    run_calls(world, &mut client, &session, &[bash("ls")], no_questions).ignore_rest();
    assert!(!traced.exists());
}

fn a_hook_of_the_policy_decides_about_a_shell_line(world: &mut World) {
    command_file(world);
    world.model().script([text("done")]);
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "echo 'DENY: not this'"}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    client.prompt(&session, "/x", no_questions).ignore_rest();
    assert!(!world.project().join("traced").exists());
    if claude_asks_before_shell_lines() {
        let requests = world.model().requests();
        assert!(requests.last().unwrap().mentions("not this"), "the model is told");
    }
}

/// An older Claude asks nobody, so there no line runs under any policy.
fn a_shell_line_runs_under_a_policy_that_is_asked_about_it(world: &mut World) {
    command_file(world);
    world.model().script([text("done")]);
    let (_agent, mut client, session) = open_under(world, &deny("WebFetch"), BYPASS);
    client.prompt(&session, "/x", no_questions).ignore_rest();
    let traced = world.project().join("traced").exists();
    assert_eq!(traced, claude_asks_before_shell_lines());
}

/// Programs of a project that Claude would run for itself or, by a variable, with every command.
fn traps(world: &World) {
    let trap = world.executable("trap", "#!/bin/sh\ntouch \"$HOME/traced\"\n");
    let settings =
        json!({"apiKeyHelper": trap, "env": {"BASH_ENV": trap, "ENV": trap, "PATH": world.path("bin")}});
    project_file(world, ".claude/settings.json", &settings.to_string());
    std::fs::create_dir(world.path("bin")).unwrap();
    world.executable("bin/ls", "#!/bin/sh\ntouch \"$HOME/traced\"\n");
}

fn a_projects_variables_and_helpers_do_not_count(world: &mut World) {
    traps(world);
    let traced = world.home().join("traced");
    lists_with_trace(world, &traced);

    let (_agent, mut client, session) = open_under(world, &deny("WebFetch"), BYPASS);
    let mut turn = run_calls(world, &mut client, &session, &[bash("ls -a")], no_questions);
    assert_eq!(status(&mut turn, 0), "completed");
    assert!(told(world, 0).contains(".claude"), "{}", told(world, 0));
    assert!(!traced.exists());
}

fn a_projects_server_does_not_start(world: &mut World) {
    let server = world.executable("server", "#!/bin/sh\ntouch \"$HOME/traced\"\ncat > /dev/null\n");
    let servers = json!({"mcpServers": {"mine": {"command": server, "args": []}}}).to_string();
    project_file(world, ".mcp.json", &servers);
    let traced = world.home().join("traced");
    lists_with_trace(world, &traced);

    let (_agent, mut client, session) = open_under(world, &deny("WebFetch"), BYPASS);
    run_calls(world, &mut client, &session, &[bash("ls")], no_questions).ignore_rest();
    assert!(!traced.exists());
}

fn a_changed_option_takes_nothing_of_the_policy_away(world: &mut World) {
    traps(world);
    command_file(world);
    let policy = json!({"permissions": {"deny": ["Bash(rm *)", "Bash(touch *)"]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let params = json!({"sessionId": session, "configId": "effort", "value": "low"});
    client.call("session/set_config_option", params).unwrap();
    let mut turn = run_calls(
        world,
        &mut client,
        &session,
        &[bash("ls"), bash("rm a")],
        no_questions,
    );
    assert_eq!(status(&mut turn, 0), "completed");
    assert_denied_by_rule(world, &mut turn, 1);
    assert!(!world.home().join("traced").exists());
    if !claude_asks_before_shell_lines() {
        world.model().script([text("done")]);
    }
    client.prompt(&session, "/x", no_questions).ignore_rest();
    assert!(!world.project().join("traced").exists());
}

fn assert_denied_by_rule(world: &World, turn: &mut e2e_tests::harness::Turn, number: usize) {
    assert_eq!(status(turn, number), "failed");
    assert!(
        told(world, number).contains("the operator's policy"),
        "{}",
        told(world, number)
    );
}

fn a_plan_is_written_where_files_are_confined(world: &mut World) {
    let policy = json!({"permissions": {"confine": true}});
    let (_agent, mut client, session) = open_under(world, &policy, "plan");
    let plan = plan_file(world, &mut client, &session);
    let calls = [write(&plan), ("Read", json!({"file_path": plan}))];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "completed", "{}", told(world, 0));
    assert!(plan.exists());
    turn.ignore_rest();
}
