//! An operator's policy over the real CLI: what it denies is denied in every mode, and the model is told why.

use e2e_tests::harness::{Answer, World, allow_once, no_questions, reject_once};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::perm_support::{assert_once_only, skill_greet};
use crate::policy_support::{
    assert_denied, bash, greet_under, open_audited, open_under, run_calls, script_calls, status, told, write,
};
use crate::support::assert_error;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        case_84_rm_is_denied_in_bypass_however_it_is_written,
        case_84_rm_is_denied_in_default_mode_too,
        case_85_a_fetch_is_asked_about_in_bypass,
        a_bare_ask_rule_for_a_skill_holds_in_bypass,
        an_ask_rule_holds_in_every_mode_that_asks_little,
        cases_86_and_89_files_outside_the_workspace_are_out_of_reach,
        case_90_the_model_gets_a_hooks_reason,
        a_hook_of_the_policy_changes_what_runs,
        a_hook_after_a_tool_tells_the_model,
        a_hook_that_hangs_or_is_missing_has_its_outcome,
        case_91_after_three_denials_the_client_is_asked,
        case_96_what_cannot_be_audited_does_not_run,
        case_98_an_allow_rule_leaves_claudes_question_unless_told,
        case_99_a_client_cannot_bring_settings,
        case_100_nobody_is_asked_where_the_policy_is_headless,
        a_client_cannot_widen_a_policy_by_servers_or_directories,
        a_policy_takes_bypass_away_and_names_the_first_mode,
        every_decision_is_a_line_of_the_audit_file,
    ];
    all.extend(cases![Claude, Tcp: case_84_over_tcp]);
    all.extend(cases![Claude, Unix: case_84_over_a_unix_socket]);
    all
}

const BYPASS: &str = "bypassPermissions";

fn deny_rm() -> Value {
    json!({"permissions": {"deny": ["Bash(rm *)"]}})
}

fn case_84_rm_is_denied_in_bypass_however_it_is_written(world: &mut World) {
    rm_is_denied(world, BYPASS);
}

fn case_84_rm_is_denied_in_default_mode_too(world: &mut World) {
    rm_is_denied(world, "default");
}

fn case_84_over_tcp(world: &mut World) {
    rm_is_denied(world, BYPASS);
}

fn case_84_over_a_unix_socket(world: &mut World) {
    rm_is_denied(world, BYPASS);
}

fn rm_is_denied(world: &mut World, mode: &str) {
    let kept = world.project().join("kept");
    std::fs::write(&kept, "").unwrap();
    let (_agent, mut client, session) = open_under(world, &deny_rm(), mode);
    let calls = [
        bash("rm kept"),
        bash("FOO=1 rm kept"),
        bash("echo a; rm kept"),
        bash("echo $(rm kept)"),
        bash("timeout 5 rm kept"),
        bash("sh -c 'rm kept'"),
        bash("ls"),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_denied(
        world,
        &mut turn,
        6,
        "the operator's policy denies it by the rule `Bash(rm *)`",
    );
    assert_eq!(status(&mut turn, 6), "completed");
    assert!(told(world, 6).contains("kept"));
    assert!(kept.exists());
}

fn case_85_a_fetch_is_asked_about_in_bypass(world: &mut World) {
    let policy = json!({"permissions": {"ask": ["WebFetch"]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let fetch = (
        "WebFetch",
        json!({"url": "https://example.com/", "prompt": "what"}),
    );
    let calls = [bash("mkdir made"), fetch];
    let mut turn = run_calls(world, &mut client, &session, &calls, reject_once);
    let asked: Vec<&Value> = turn.questions().iter().collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["toolCall"]["toolCallId"], "toolu_1");
    assert_once_only(asked[0]);
    assert_eq!(status(&mut turn, 0), "completed");
    assert_eq!(status(&mut turn, 1), "failed");
}

fn an_ask_rule_holds_in_every_mode_that_asks_little(world: &mut World) {
    let policy = json!({"permissions": {"ask": ["Bash(mkdir *)"]}});
    for mode in ["auto", "acceptEdits"] {
        let (mut agent, mut client) = greet_under(world, &policy, &[]);
        let session = client.new_session(&world.cwd());
        client.ignore("current_mode_update");
        client.ignore("config_option_update");
        let params = json!({"sessionId": session, "modeId": mode});
        client.call("session/set_mode", params).unwrap();
        script_calls(world, &[bash(&format!("mkdir {mode}"))]);
        let mut turn = client.prompt(&session, "go", reject_once);
        assert_eq!(turn.questions().len(), 1, "{mode}");
        assert_eq!(status(&mut turn, 0), "failed", "{mode}");
        assert!(!world.project().join(mode).exists());
        turn.ignore_rest();
        client.close();
        agent.wait_end();
    }
}

/// Claude itself forgets this rule in bypass.
fn a_bare_ask_rule_for_a_skill_holds_in_bypass(world: &mut World) {
    skill_greet(world);
    let policy = json!({"permissions": {"ask": ["Skill(greet)"]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let calls = [("Skill", json!({"skill": "greet"}))];
    let mut turn = run_calls(world, &mut client, &session, &calls, allow_once);
    assert_eq!(turn.questions().len(), 1);
    assert_once_only(&turn.questions()[0]);
    assert_eq!(status(&mut turn, 0), "completed");
}

fn cases_86_and_89_files_outside_the_workspace_are_out_of_reach(world: &mut World) {
    std::os::unix::fs::symlink(world.home(), world.project().join("link")).unwrap();
    let outside = world.path("outside");
    let policy = json!({"permissions": {"confine": true}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let through_link = world.project().join("link/outside");
    let calls = [
        write(&outside),
        write(&through_link),
        bash("echo made > ../outside"),
        bash("cat link/.claude/settings.json"),
        (
            "Read",
            json!({"file_path": world.home().join(".claude/settings.json")}),
        ),
        write(&world.project().join("inside")),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_denied(world, &mut turn, 5, "is outside");
    assert_eq!(status(&mut turn, 5), "completed");
    assert!(!outside.exists() && !world.home().join("outside").exists());
}

fn case_90_the_model_gets_a_hooks_reason(world: &mut World) {
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "echo 'DENY: no'"}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let calls = [bash("mkdir made"), write(&world.project().join("file"))];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(
        told(world, 0).ends_with("a hook of the operator's policy denies it: no"),
        "{}",
        told(world, 0)
    );
    assert_eq!(status(&mut turn, 1), "completed");
    assert!(!world.project().join("made").exists());
}

fn a_hook_of_the_policy_changes_what_runs(world: &mut World) {
    let command = r#"echo '{"updatedInput": {"command": "echo changed"}}'"#;
    let hook = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": command}]});
    let policy = json!({"hooks": {"PreToolUse": [hook]}});
    for mode in [BYPASS, "default"] {
        let (mut agent, mut client, session) = open_under(world, &policy, mode);
        let mut turn = run_calls(world, &mut client, &session, &[bash("mkdir made")], allow_once);
        assert_eq!(status(&mut turn, 0), "completed", "{mode}");
        assert!(told(world, 0).contains("changed"), "{mode}: {}", told(world, 0));
        assert!(!world.project().join("made").exists());
        for question in turn.questions() {
            assert_eq!(
                question["toolCall"]["rawInput"]["command"], "echo changed",
                "{mode}"
            );
        }
        client.close();
        agent.wait_end();
    }
}

fn a_hook_after_a_tool_tells_the_model(world: &mut World) {
    let command = r#"grep -q '"tool_response":{"stdout":"one"' && echo 'DENY: look at it again'"#;
    let hook = json!({"hooks": [{"type": "command", "command": command}]});
    let policy = json!({"hooks": {"PostToolUse": [hook]}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let mut turn = run_calls(world, &mut client, &session, &[bash("echo one")], no_questions);
    assert_eq!(status(&mut turn, 0), "completed");
    let requests = world.model().requests();
    let last = requests.last().unwrap();
    assert!(last.mentions("look at it again"), "the model is told");
}

fn a_hook_that_hangs_or_is_missing_has_its_outcome(world: &mut World) {
    let hook = |matcher: &str, hook: Value| json!({"matcher": matcher, "hooks": [hook]});
    // Only the first may run out of time: a busy machine needs its time to start a shell.
    let hooks = json!([
        hook("Bash", json!({"command": "sleep 600", "timeout": 0.2})),
        hook("Write", json!({"command": "./missing-hook"})),
        hook("Read", json!({"command": "yes"})),
    ]);
    let policy = json!({"hooks": {"PreToolUse": hooks}});
    let (_agent, mut client, session) = open_under(world, &policy, BYPASS);
    let file = world.project().join("file");
    std::fs::write(&file, "text").unwrap();
    let calls = [
        bash("echo one"),
        write(&world.project().join("made")),
        ("Read", json!({"file_path": file})),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "completed", "a hook that hangs approves");
    assert_eq!(status(&mut turn, 1), "failed");
    assert_eq!(status(&mut turn, 2), "failed");
    assert!(told(world, 1).contains("exit code 127"), "{}", told(world, 1));
    assert!(told(world, 2).contains("wrote too much"), "{}", told(world, 2));
}

fn case_91_after_three_denials_the_client_is_asked(world: &mut World) {
    let policy =
        json!({"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(mkdir *)"], "autoAllow": true}});
    let (_agent, mut client, session) = open_under(world, &policy, "default");
    let calls = [
        bash("mkdir one"),
        bash("rm a"),
        bash("rm a"),
        bash("rm a"),
        bash("mkdir two"),
        bash("mkdir three"),
    ];
    let mut turn = run_calls(world, &mut client, &session, &calls, allow_once);
    let asked: Vec<&Value> = turn
        .questions()
        .iter()
        .map(|request| &request["toolCall"]["toolCallId"])
        .collect();
    assert_eq!(asked, ["toolu_4"]);
    for (number, expected) in [
        (0, "completed"),
        (1, "failed"),
        (3, "failed"),
        (4, "completed"),
        (5, "completed"),
    ] {
        assert_eq!(status(&mut turn, number), expected, "{number}");
    }
    turn.ignore_rest();
}

fn case_96_what_cannot_be_audited_does_not_run(world: &mut World) {
    let (_agent, mut client, session) = open_audited(world, &json!({}), BYPASS, &["--audit", "/dev/full"]);
    let mut turn = run_calls(world, &mut client, &session, &[bash("mkdir made")], no_questions);
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(told(world, 0).contains("audit file"), "{}", told(world, 0));
    assert!(!world.project().join("made").exists());
}

fn case_98_an_allow_rule_leaves_claudes_question_unless_told(world: &mut World) {
    for (auto_allow, questions) in [(false, 1), (true, 0)] {
        let policy = json!({"permissions": {"allow": ["Bash(mkdir *)"], "autoAllow": auto_allow}});
        let (mut agent, mut client, session) = open_under(world, &policy, "default");
        let name = format!("made-{auto_allow}");
        let calls = [bash(&format!("mkdir {name}"))];
        let mut turn = run_calls(world, &mut client, &session, &calls, allow_once);
        assert_eq!(turn.questions().len(), questions, "{auto_allow}");
        assert_eq!(status(&mut turn, 0), "completed");
        assert!(world.project().join(name).exists());
        client.close();
        agent.wait_end();
    }
}

fn case_99_a_client_cannot_bring_settings(world: &mut World) {
    let (_agent, mut client) = greet_under(world, &deny_rm(), &[]);
    for key in ["settings", "env", "extraArgs", "allowedTools", "hooks"] {
        let meta = json!({"claudeCode": {"options": {key: {}}}});
        let params = json!({"cwd": world.cwd(), "mcpServers": [], "_meta": meta});
        let error = client.call("session/new", params).unwrap_err();
        assert_error(&error, -32602, &format!("`_meta.claudeCode.options.{key}`"));
    }
    world.wait_only(&_agent);
}

fn case_100_nobody_is_asked_where_the_policy_is_headless(world: &mut World) {
    let policy = json!({"permissions": {"headless": true}});
    let (_agent, mut client, session) = open_under(world, &policy, "default");
    let calls = [bash("mkdir made"), bash("ls")];
    let mut turn = run_calls(world, &mut client, &session, &calls, no_questions);
    assert_eq!(status(&mut turn, 0), "failed");
    assert!(
        told(world, 0).contains("the operator's policy lets nobody be asked"),
        "{}",
        told(world, 0)
    );
    assert_eq!(status(&mut turn, 1), "completed");
    assert!(!world.project().join("made").exists());
}

fn a_client_cannot_widen_a_policy_by_servers_or_directories(world: &mut World) {
    let (agent, mut client) = greet_under(world, &deny_rm(), &[]);
    let server = json!({"name": "mine", "command": "/bin/true", "args": [], "env": []});
    let params = json!({"cwd": world.cwd(), "mcpServers": [server]});
    let error = client.call("session/new", params).unwrap_err();
    assert_error(&error, -32602, "`permissions.clientMcpServers`");
    let directory = world.home();
    let params = json!({"cwd": world.cwd(), "mcpServers": [], "additionalDirectories": [directory]});
    let error = client.call("session/new", params).unwrap_err();
    assert_error(&error, -32602, "outside");
    world.wait_only(&agent);
}

fn a_policy_takes_bypass_away_and_names_the_first_mode(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    let permissions = json!({"disableBypassPermissionsMode": "disable", "defaultMode": "plan"});
    let (_agent, mut client) = greet_under(world, &json!({ "permissions": permissions }), &[]);
    let result = client
        .call("session/new", json!({"cwd": world.cwd(), "mcpServers": []}))
        .unwrap();
    assert_eq!(result["modes"]["currentModeId"], "plan");
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    let error = client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": BYPASS}),
        )
        .unwrap_err();
    assert_error(&error, -32602, "not available");
}

fn every_decision_is_a_line_of_the_audit_file(world: &mut World) {
    let file = world.path("audit.jsonl");
    let args = ["--audit", file.to_str().unwrap()];
    let (_agent, mut client, session) = open_audited(world, &deny_rm(), "default", &args);
    let calls = [bash("rm a"), bash("mkdir made"), bash("ls")];
    let answer = |request: &Value| -> Answer { allow_once(request) };
    let turn = run_calls(world, &mut client, &session, &calls, answer);
    turn.ignore_rest();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let decided: Vec<Value> = lines
        .iter()
        .map(|line| json!([line["tool_use_id"], line["stage"], line["outcome"]]))
        .collect();
    let expected = [
        json!(["toolu_0", "rules", "deny"]),
        json!(["toolu_1", "rules", "pass"]),
        json!(["toolu_1", "prompt", "allow"]),
        json!(["toolu_2", "rules", "pass"]),
    ];
    assert_eq!(decided, expected);
    let rule = &lines[0]["rule"];
    assert_eq!((&rule["text"], &rule["line"]), (&json!("Bash(rm *)"), &json!(1)));
    assert!(rule["file"].as_str().unwrap().ends_with("policy.json"), "{rule}");
    let whose = |line: &Value| {
        [
            line["connection"].clone(),
            line["session"].clone(),
            line["cwd"].clone(),
        ]
    };
    let expected = [json!("stdio #1"), json!(session), json!(world.cwd())];
    assert!(lines.iter().all(|line| whose(line) == expected), "{lines:?}");
}
