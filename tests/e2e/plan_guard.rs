//! The plan guard over the real CLI: in plan mode nothing changes, with a policy and without one.

use e2e_tests::harness::{Client, World, allow_once, no_questions, reject_once};
use e2e_tests::model::{text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::perm_support::{assert_once_only, project_file, with_probe};
use crate::plan_support::{plan_mode, user_settings};
use crate::policy_support::{asked, bash, open_under, run_calls, status, told, write};
use crate::support::{greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        case_97_without_a_policy_commands_are_asked_about_and_changes_denied,
        in_plan_what_certainly_writes_is_denied_and_what_only_reads_is_not_asked_about,
        in_plan_an_mcp_tool_that_does_not_say_it_only_reads_is_denied,
        case_97_a_subagent_plans_too,
        case_87_with_a_policy_both_are_denied_whatever_settings_allow,
        in_plan_a_shell_line_of_a_command_changes_nothing,
        bypass_left_for_plan_is_plan,
        in_plan_the_client_is_asked_and_no_classifier,
    ]
}

fn case_97_without_a_policy_commands_are_asked_about_and_changes_denied(world: &mut World) {
    let (_agent, mut client, session) = plan_mode(world);
    let plan = plan_file(world, &mut client, &session);
    let source = world.project().join("source.txt");
    let calls = [
        bash("node --version || true"),
        bash("ls"),
        write(&source),
        write(&plan),
        bash("mktemp -p ."),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, allow_once);
    assert_eq!(asked(&turn), ["toolu_0", "toolu_4"]);
    for question in turn.questions() {
        assert_once_only(question);
    }
    for (number, expected) in ["completed", "completed", "failed", "completed", "completed"]
        .iter()
        .enumerate()
    {
        assert_eq!(
            status(&mut turn, number),
            *expected,
            "{:?}: {}",
            calls[number],
            told(world, number)
        );
    }
    assert!(told(world, 2).contains("plan mode"), "{}", told(world, 2));
    assert!(!source.exists() && plan.exists());
    turn.ignore_rest();
}

fn in_plan_what_certainly_writes_is_denied_and_what_only_reads_is_not_asked_about(world: &mut World) {
    let (_agent, mut client, session) = plan_mode(world);
    std::fs::write(world.project().join("a"), "text").unwrap();
    let search = json!({"query": "select:ListAgents,ReportFindings", "max_results": 2});
    let calls = [
        ("ToolSearch", search),
        ("ListAgents", json!({})),
        ("ReportFindings", json!({"findings": []})),
        bash("touch p"),
        bash("cat a > o"),
        bash("ls"),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    for number in [0, 1, 2, 5] {
        assert_eq!(status(&mut turn, number), "completed", "{}", told(world, number));
    }
    for number in [3, 4] {
        assert_eq!(status(&mut turn, number), "failed", "{number}");
        let told = told(world, number);
        assert!(told.contains("no file but the plan may be changed"), "{told}");
    }
    assert!(!world.project().join("p").exists() && !world.project().join("o").exists());
    turn.ignore_rest();
}

fn in_plan_an_mcp_tool_that_does_not_say_it_only_reads_is_denied(world: &mut World) {
    user_settings(world, "plan");
    let (_agent, mut client) = greet(world);
    let session = with_probe(world, &mut client);
    let calls = [("mcp__probe__tell", json!({"what": "HOME"}))];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(
        told(world, 0).contains("does not say that it only reads"),
        "{}",
        told(world, 0)
    );
    turn.ignore_rest();
}

fn in_plan_a_shell_line_of_a_command_changes_nothing(world: &mut World) {
    let command = "---\nallowed-tools: Bash(touch:*)\n---\nState: !`touch traced`\n";
    project_file(world, ".claude/commands/x.md", command);
    let traced = world.project().join("traced");
    world.model().script([text("done"), text("done")]);
    let (_agent, mut client, session) = plan_mode(world);
    client.prompt(&session, "/x", no_questions).ignore_rest();
    assert!(!traced.exists());
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": "default"}),
        )
        .unwrap();
    client.prompt(&session, "/x", no_questions).ignore_rest();
    assert!(traced.exists(), "outside of plan mode it runs");
}

/// The file that Claude tells the model to write its plan to.
pub(crate) fn plan_file(world: &World, client: &mut Client, session: &str) -> std::path::PathBuf {
    world.model().script([text("ready")]);
    client.prompt(session, "hello", no_questions).ignore_rest();
    let request = world.model().requests().pop().unwrap();
    let text = request.body.to_string();
    let folder = world.home().join(".claude/plans/");
    let folder = folder.to_str().unwrap();
    let (_, rest) = text.split_once(folder).expect("the model is told of a plan file");
    let (name, _) = rest.split_once(".md").unwrap();
    format!("{folder}{name}.md").into()
}

/// The subagent's own mode does not count.
fn case_97_a_subagent_plans_too(world: &mut World) {
    let agent = "---\nname: bold\ndescription: Acts\npermissionMode: bypassPermissions\n---\nAct.\n";
    project_file(world, ".claude/agents/bold.md", agent);
    let source = world.project().join("source.txt");
    world.model().script([
        tool(
            "toolu_a",
            "Agent",
            json!({"description": "d", "prompt": "act", "subagent_type": "bold", "run_in_background": false}),
        ),
        tool(
            "toolu_c",
            "Write",
            json!({"file_path": source, "content": "made\n"}),
        ),
        text("acted"),
        text("done"),
    ]);
    let (_agent, mut client, session) = plan_mode(world);
    client.prompt(&session, "go", allow_once).ignore_rest();
    let requests = world.model().requests();
    let told = requests
        .iter()
        .find_map(|request| request.tool_result("toolu_c"))
        .unwrap();
    assert!(told.contains("the session is in plan mode"), "{told}");
    assert!(!source.exists());
}

fn case_87_with_a_policy_both_are_denied_whatever_settings_allow(world: &mut World) {
    let allow = json!({"permissions": {"allow": ["Edit", "Bash", "Write"]}}).to_string();
    project_file(world, ".claude/settings.json", &allow);
    project_file(world, ".claude/settings.local.json", &allow);
    let policy = json!({"permissions": {"allow": ["Edit", "Bash"], "autoAllow": true}});
    let (_agent, mut client, session) = open_under(world, &policy, "plan");
    let source = world.project().join("source.txt");
    let calls = [bash("node --version"), bash("ls"), write(&source)];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    for (number, expected) in ["failed", "completed", "failed"].iter().enumerate() {
        assert_eq!(status(&mut turn, number), *expected, "{:?}", calls[number]);
    }
    assert!(told(world, 0).contains("plan mode"), "{}", told(world, 0));
    assert!(!source.exists());
}

fn bypass_left_for_plan_is_plan(world: &mut World) {
    user_settings(world, "default");
    let (_agent, mut client, session) = open_under(world, &json!({}), "bypassPermissions");
    let first = run_calls(world, &mut client, &session, &[bash("mkdir one")], no_questions);
    first.ignore_rest();
    set_mode(&mut client, &session, "plan");
    world.model().script([
        tool("toolu_two", "Bash", json!({"command": "mkdir two"})),
        text("stopped"),
    ]);
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!(turn.tool("toolu_two").status(), "failed");
    assert!(world.project().join("one").exists() && !world.project().join("two").exists());
    turn.ignore_rest();
}

fn set_mode(client: &mut Client, session: &str, mode: &str) {
    client
        .call("session/set_mode", json!({"sessionId": session, "modeId": mode}))
        .unwrap();
}

/// Where auto mode is at hand, Claude has a classifier decide in plan mode; the guard's question is the client's.
fn in_plan_the_client_is_asked_and_no_classifier(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    set_mode(&mut client, &session, "plan");
    world.model().script([
        tool("toolu_0", "Bash", json!({"command": "dd if=/dev/null of=made"})),
        text("done"),
    ]);
    let mut turn = client.prompt(&session, "go", reject_once);
    assert_eq!(asked(&turn), ["toolu_0"], "{:?}", world.model().requests().len());
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(!world.project().join("made").exists());
    turn.ignore_rest();
}
