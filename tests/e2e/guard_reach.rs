//! How far the guard reaches: Claude's settings wherever they are, plans and worktrees, and what would switch the guard off.

use std::time::{Duration, Instant};

use e2e_tests::harness::{Client, World, allow_once, no_questions, reject_once};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::guard_support::{
    assert_all_denied, assert_all_held, assert_none_denied, assert_untold, fates, git_repository,
    ignore_modes, one_call, open_allowed, open_in_bypass, set_mode, shell,
};
use crate::perm_support::project_file;
use crate::plan_support::{plan_mode, user_settings, write_settings};
use crate::policy_support::{assert_denied, bash, run_calls, status, told, write};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        claudes_own_directory_is_protected_wherever_it_is,
        settings_above_the_working_directory_are_protected,
        settings_in_the_policys_directories_are_protected,
        a_worktree_of_claudes_can_be_worked_in_and_its_settings_are_protected,
        a_schedule_is_no_way_into_claudes_settings,
        a_plan_can_be_written_where_the_project_keeps_plans,
        plan_mode_makes_no_worktree,
        a_hook_for_bash_sees_monitor,
        no_variable_of_the_users_settings_switches_the_guard_off,
        no_variable_of_the_agents_switches_the_guard_off,
        no_settings_written_meanwhile_switch_the_guard_off,
        plan_mode_is_guarded_whatever_the_users_settings_say,
        a_session_in_a_linked_directory_is_held_to_its_rules,
        a_session_in_a_linked_directory_can_work_where_it_is_confined,
        proc_self_cwd_is_the_sessions_directory,
    ]
}

fn claudes_own_directory_is_protected_wherever_it_is(world: &mut World) {
    let folder = world.path("cfg");
    std::fs::create_dir(&folder).unwrap();
    world.set_env("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    let (settings, agent) = (folder.join("settings.json"), folder.join("agents/x.md"));
    let calls = [
        write(&settings),
        write(&agent),
        bash("echo '{}' > ../cfg/settings.json"),
        bash("echo made >> ../cfg/.claude.json"),
    ];
    let cwd = world.cwd();
    assert_all_denied(world, &json!({}), &cwd, &calls);
    assert!(!settings.exists() && !agent.exists());
    let state = std::fs::read_to_string(folder.join(".claude.json")).unwrap_or_default();
    assert!(!state.contains("made"));
}

/// Claude starts the servers of every `.mcp.json` from the root down, and knows the skills and agents above it.
fn settings_above_the_working_directory_are_protected(world: &mut World) {
    project_file(world, "sub/a.txt", "");
    git_repository(world);
    let cwd = world.project().join("sub").to_str().unwrap().to_owned();
    let calls = [
        bash("echo '{}' > ../.mcp.json"),
        write(&world.project().join(".mcp.json")),
        write(&world.project().join(".claude/agents/x.md")),
        write(&world.project().join(".claude/skills/x/SKILL.md")),
    ];
    assert_all_denied(world, &json!({}), &cwd, &calls);
    assert!(!world.project().join(".mcp.json").exists());
    assert!(!world.project().join(".claude").exists());
}

/// Claude knows the skills and agents of further working directories.
fn settings_in_the_policys_directories_are_protected(world: &mut World) {
    let shared = world.path("shared");
    std::fs::create_dir(&shared).unwrap();
    let policy = json!({"permissions": {"additionalDirectories": [shared]}});
    let calls = [
        write(&shared.join(".claude/skills/x/SKILL.md")),
        write(&shared.join(".claude/agents/x.md")),
    ];
    let cwd = world.cwd();
    assert_all_denied(world, &policy, &cwd, &calls);
    assert!(!shared.join(".claude").exists());
}

fn a_worktree_of_claudes_can_be_worked_in_and_its_settings_are_protected(world: &mut World) {
    project_file(world, "a.txt", "hello");
    git_repository(world);
    let tree = world.project().join(".claude/worktrees/wt");
    let settings = tree.join(".claude/settings.json");
    let search = json!({"query": "select:EnterWorktree", "max_results": 2});
    let calls = [
        ("ToolSearch", search),
        ("EnterWorktree", json!({"name": "wt"})),
        write(&tree.join("new.txt")),
        bash("mkdir made"),
        write(&settings),
        bash("mkdir .claude && echo '{}' > .claude/settings.json"),
    ];
    let cwd = world.cwd();
    let fates = fates(world, &json!({}), &cwd, &calls, allow_once);
    assert!(
        tree.join("new.txt").exists() && tree.join("made").exists(),
        "{fates:#?}"
    );
    assert!(fates[4].is_denied() && fates[5].is_denied(), "{fates:#?}");
    assert!(!settings.exists());
}

fn a_schedule_is_no_way_into_claudes_settings(world: &mut World) {
    std::fs::create_dir(world.project().join(".claude")).unwrap();
    let schedule = json!({"cron": "0 0 1 1 *", "prompt": "do it", "recurring": true, "durable": true});
    let search = json!({"query": "select:CronCreate", "max_results": 2});
    let calls = [("ToolSearch", search), ("CronCreate", schedule)];
    let cwd = world.cwd();
    let fates = fates(world, &json!({}), &cwd, &calls, reject_once);
    assert!(fates[1].is_denied(), "{fates:#?}");
    assert!(!world.project().join(".claude/scheduled_tasks.json").exists());
}

fn a_plan_can_be_written_where_the_project_keeps_plans(world: &mut World) {
    let settings = json!({"plansDirectory": "./plans"}).to_string();
    project_file(world, ".claude/settings.json", &settings);
    let (_agent, mut client, session) = plan_mode(world);
    world.model().script([text("ready")]);
    client.prompt(&session, "hello", no_questions).ignore_rest();
    let request = world.model().requests().pop().unwrap().body.to_string();
    let folder = format!("{}/plans/", world.cwd());
    let (_, rest) = request
        .split_once(&folder)
        .expect("the model is told of a plan file");
    let (name, _) = rest.split_once(".md").unwrap();
    let plan = world.project().join(format!("plans/{name}.md"));
    let beside = world.project().join("plans.md");
    let calls = [write(&plan), write(&beside)];
    run_calls(world, &mut client, &session, &calls, reject_once).ignore_rest();
    assert!(plan.exists(), "{}", told(world, 0));
    assert!(!beside.exists(), "{}", told(world, 1));
}

fn plan_mode_makes_no_worktree(world: &mut World) {
    git_repository(world);
    let subagent = json!({
        "description": "d", "prompt": "act", "subagent_type": "general-purpose",
        "isolation": "worktree", "run_in_background": false,
    });
    world
        .model()
        .script([tool("toolu_0", "Agent", subagent), text("done")]);
    let (_agent, mut client, session) = plan_mode(world);
    let mut turn = client.prompt(&session, "go", reject_once);
    assert_eq!(turn.questions().len(), 1);
    assert_eq!(status(&mut turn, 0), "failed");
    turn.ignore_rest();
    assert!(!world.project().join(".claude/worktrees").exists());
}

fn a_hook_for_bash_sees_monitor(world: &mut World) {
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "echo DENY: no"}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_allowed(world, &policy);
    let monitor =
        json!({"command": "touch made", "description": "d", "timeout_ms": 1000, "persistent": false});
    let search = json!({"query": "select:Monitor", "max_results": 2});
    let calls = [("ToolSearch", search), ("Monitor", monitor)];
    run_calls(world, &mut client, &session, &calls, no_questions).ignore_rest();
    let told = told(world, 1);
    assert!(
        told.contains("a hook of the operator's policy denies it"),
        "{told}"
    );
    assert!(!world.project().join("made").exists());
}

/// With this variable Claude makes no callbacks.
const SIMPLE: &str = "CLAUDE_CODE_SIMPLE";

/// User settings with this variable, and with another one that commands see.
fn simple_settings(world: &World) {
    let permissions = json!({"defaultMode": "default", "disableAutoMode": "disable", "allow": ["Bash"]});
    let settings = json!({"permissions": permissions, "env": {SIMPLE: "1", "SEEN": "it-is-taken"}});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
}

/// A policy of which Claude itself knows nothing: the agent alone can hold it.
fn held_by_the_agent() -> Value {
    let command = "grep -q forbidden && echo DENY: no; true";
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": command}]});
    json!({"permissions": {"confine": true}, "hooks": {"PreToolUse": [hook]}})
}

#[track_caller]
fn assert_guarded(world: &World, client: &mut Client, session: &str) {
    let calls = [bash("mkdir forbidden"), bash("mkdir ../outside")];
    let mut turn = run_calls(world, client, session, &calls, no_questions);
    assert_denied(world, &mut turn, 2, "the operator's policy");
    assert!(!world.project().join("forbidden").exists());
    assert!(!world.path("outside").exists());
}

fn no_variable_of_the_users_settings_switches_the_guard_off(world: &mut World) {
    simple_settings(world);
    let cwd = world.cwd();
    let (_agent, mut client, session) = open_in_bypass(world, &held_by_the_agent(), &cwd);
    assert_guarded(world, &mut client, &session);
}

fn no_variable_of_the_agents_switches_the_guard_off(world: &mut World) {
    world.set_env(SIMPLE, "1");
    user_settings(world, "default");
    let cwd = world.cwd();
    let (_agent, mut client, session) = open_in_bypass(world, &held_by_the_agent(), &cwd);
    assert_guarded(world, &mut client, &session);
}

fn no_settings_written_meanwhile_switch_the_guard_off(world: &mut World) {
    user_settings(world, "default");
    let cwd = world.cwd();
    let (_agent, mut client, session) = open_in_bypass(world, &held_by_the_agent(), &cwd);
    one_call(world, &mut client, &session, "toolu_first", "ls");
    simple_settings(world);
    wait_taken_up(world, &mut client, &session);
    assert_guarded(world, &mut client, &session);
}

/// Claude takes changed settings up in its own time and tells nobody; its commands see their variables then.
fn wait_taken_up(world: &World, client: &mut Client, session: &str) {
    let deadline = Instant::now() + Duration::from_secs(240);
    for number in 0.. {
        let id = format!("toolu_look_{number}");
        if one_call(world, client, session, &id, "printenv SEEN; true").contains("it-is-taken") {
            return;
        }
        assert!(Instant::now() < deadline, "the settings are never taken up");
    }
}

fn plan_mode_is_guarded_whatever_the_users_settings_say(world: &mut World) {
    simple_settings(world);
    let (_agent, mut client, session) = open(world);
    ignore_modes(&mut client);
    set_mode(&mut client, &session, "plan");
    let calls = [bash("mkdir made")];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(told(world, 0).contains("plan mode"), "{}", told(world, 0));
    assert!(!world.project().join("made").exists());
}

/// Another name of the project's folder.
fn linked(world: &World) -> String {
    let link = world.path("link");
    std::os::unix::fs::symlink(world.project(), &link).unwrap();
    link.to_str().unwrap().to_owned()
}

fn a_session_in_a_linked_directory_is_held_to_its_rules(world: &mut World) {
    project_file(world, ".env", "xyzzy-plugh");
    project_file(world, ".claude/keep", "{}");
    let link = linked(world);
    let policy = json!({"permissions": {"deny": ["Read(.env)"], "denialThreshold": 0}});
    let calls = shell(&["cat .env", "cat .e*", "cat .en?", "echo x > .cl*/keep"]);
    let fates = assert_all_denied(world, &policy, &link, &calls);
    assert_untold(&fates, "xyzzy-plugh");
    let fates = assert_all_held(world, &policy, &link, &shell(&["grep -r xyzzy ."]));
    assert_untold(&fates, "xyzzy-plugh");
    let kept = std::fs::read_to_string(world.project().join(".claude/keep")).unwrap();
    assert_eq!(kept, "{}");
}

fn a_session_in_a_linked_directory_can_work_where_it_is_confined(world: &mut World) {
    project_file(world, "a.txt", "hello");
    let link = linked(world);
    let policy = json!({"permissions": {"confine": true}});
    let calls = shell(&["cat a.txt", "ls", "echo x > b.txt", "mkdir sub"]);
    assert_none_denied(world, &policy, &link, &calls);
    assert!(world.project().join("b.txt").exists() && world.project().join("sub").exists());
}

/// The agent itself runs in another directory: what `/proc/self` leads to is Claude's business.
fn proc_self_cwd_is_the_sessions_directory(world: &mut World) {
    project_file(world, ".env", "xyzzy-plugh");
    let policy = json!({"permissions": {"deny": ["Read(.env)"], "denialThreshold": 0}});
    let calls = shell(&[
        "cat /proc/self/cwd/.env",
        "read line < /proc/self/cwd/.env; echo $line",
        "printf '%s' \"$(</proc/self/cwd/.env)\"",
        "cat /proc/$$/cwd/.env",
    ]);
    let cwd = world.cwd();
    let fates = assert_all_denied(world, &policy, &cwd, &calls);
    assert_untold(&fates, "xyzzy-plugh");
}
