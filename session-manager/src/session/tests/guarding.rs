//! Claude's callbacks before and after its tools, and what no answer of the client's can allow.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::world::{FakeClaude, World};
use crate::{Audit, DecisionRecord};

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Records(Mutex<Vec<DecisionRecord>>);

impl Audit for Records {
    fn record(&self, decision: &DecisionRecord) -> io::Result<()> {
        self.0.lock().unwrap().push(decision.clone());
        Ok(())
    }
}

/// A file on a full disk.
#[derive(Debug)]
struct Full;

impl Audit for Full {
    fn record(&self, _: &DecisionRecord) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

async fn under(policy: Value) -> (World, FakeClaude) {
    World::open_under(&policy.to_string(), Arc::new(Records::default())).await
}

fn deny(rule: &str) -> Value {
    json!({"permissions": {"deny": [rule]}})
}

impl FakeClaude {
    /// Calls back before a tool; the reply.
    async fn before(&mut self, mode: &str, tool: &str, input: Value) -> Value {
        let input = json!({"hook_event_name": "PreToolUse", "session_id": "s", "permission_mode": mode,
            "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"});
        self.call_back("before_tool", input).await;
        self.reply().await.1
    }

    async fn call_back(&mut self, callback: &str, input: Value) {
        self.call_back_as("hook-1", callback, input).await;
    }

    async fn call_back_as(&mut self, id: &str, callback: &str, input: Value) {
        let request = json!({"subtype": "hook_callback", "callback_id": callback, "tool_use_id": "toolu_1", "input": input});
        self.lines
            .send(json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
    }

    /// Asks about a tool.
    async fn ask_about(&mut self, tool: &str, input: Value) {
        let request =
            json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "toolu_1"});
        self.lines
            .send(json!({"type": "control_request", "request_id": "ask-1", "request": request}))
            .await;
    }

    /// Tells that a tool has run.
    async fn ran(&mut self, tool: &str, input: &Value) {
        self.call_back("after_tool", json!({"tool_name": tool, "tool_input": input}))
            .await;
        self.reply().await;
    }
}

impl World {
    /// The client selects an option of the next question.
    async fn select(&mut self, option: &str) {
        let request = self.call("session/request_permission").await;
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.client
            .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": outcome}))
            .await;
    }
}

fn decision(reply: &Value) -> &str {
    reply["hookSpecificOutput"]["permissionDecision"]
        .as_str()
        .unwrap_or("-")
}

fn reason(reply: &Value) -> &str {
    reply["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .unwrap_or("-")
}

#[tokio::test(start_paused = true)]
async fn every_claude_is_told_to_call_back_and_to_block_where_that_fails() {
    let after = |callback: &str| json!([{"hookCallbackIds": [callback], "timeout": 86400}]);
    let before = json!([{"hookCallbackIds": ["before_tool"], "timeout": 86400, "onFailure": "block"}]);
    let hooks = json!({
        "PreToolUse": before,
        "PreSkillShellCommand": before,
        "PostToolUse": after("after_tool"),
        "PostToolUseFailure": after("after_failed_tool"),
    });
    let (_, claude) = World::open().await;
    assert_eq!(claude.hooks, hooks);
    assert_eq!(claude.options.managed_settings, None);

    let (_, claude) = under(deny("Bash(rm *)")).await;
    assert_eq!(claude.hooks, hooks);
    assert_eq!(
        claude.options.managed_settings.unwrap(),
        json!({"permissions": {"deny": ["Bash(rm *)"], "ask": []}, "allowManagedHooksOnly": true})
    );
}

#[tokio::test(start_paused = true)]
async fn case_97_plan_is_guarded_for_everybody() {
    let (_world, mut claude) = World::open().await;
    let rows = [
        ("Bash", json!({"command": "node --version"}), "ask"),
        ("Bash", json!({"command": "ls"}), "-"),
        ("Write", json!({"file_path": "/repo/a", "content": ""}), "deny"),
        (
            "Write",
            json!({"file_path": "/home/u/.claude/plans/p.md", "content": ""}),
            "-",
        ),
        (
            "Write",
            json!({"file_path": "/home/u/.claude/plans/../p.md", "content": ""}),
            "deny",
        ),
        (
            "Write",
            json!({"file_path": "/home/u/.claude/plans/p.sh", "content": ""}),
            "deny",
        ),
        ("ExitPlanMode", json!({}), "-"),
    ];
    for (tool, input, expected) in rows {
        let planning = claude.before("plan", tool, input.clone()).await;
        assert_eq!(decision(&planning), expected, "{tool} {input}");
        claude.ran(tool, &input).await;
        assert_eq!(claude.before("default", tool, input).await, json!({}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_shell_line_of_a_command_is_decided_like_a_call_and_answered_by_its_event() {
    let (_world, mut claude) = World::open().await;
    for (mode, command, expected) in [
        ("plan", "ls", "-"),
        ("plan", "touch a", "deny"),
        ("plan", "node --version", "ask"),
        ("default", "touch a", "-"),
    ] {
        let input = json!({"hook_event_name": "PreSkillShellCommand", "session_id": "s", "permission_mode": mode,
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "u:inner:preamble-0",
            "command_name": "deploy", "invoked_by": "user"});
        claude.call_back("before_tool", input).await;
        let reply = claude.reply().await.1;
        assert_eq!(decision(&reply), expected, "{mode} {command}");
        if expected != "-" {
            let event = &reply["hookSpecificOutput"]["hookEventName"];
            assert_eq!(event, "PreSkillShellCommand", "{mode} {command}");
        }
    }
}

/// With or without a policy.
#[tokio::test(start_paused = true)]
async fn after_three_refusals_of_the_users_the_next_call_is_a_question() {
    let (mut world, mut claude) = World::open().await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    let make = json!({"command": "mkdir a"});
    for _ in 0..3 {
        assert_eq!(claude.before("default", "Bash", make.clone()).await, json!({}));
        claude.ask_about("Bash", make.clone()).await;
        world.select("reject").await;
        claude.reply().await;
    }
    let asked = claude.before("default", "Bash", make.clone()).await;
    assert_eq!(decision(&asked), "ask");
    assert!(!reason(&asked).contains("policy"), "{asked}");
    claude.ran("Bash", &make).await;
    assert_eq!(claude.before("default", "Bash", make).await, json!({}));
}

#[tokio::test(start_paused = true)]
async fn an_approval_in_plan_counts_for_a_command_and_not_for_a_change() {
    for (tool, input, behavior) in [
        ("Bash", json!({"command": "node --version"}), "allow"),
        ("Write", json!({"file_path": "/repo/a", "content": ""}), "deny"),
    ] {
        let (mut world, mut claude) = World::open().await;
        world.prompt("hi").await;
        claude.take_prompt().await;
        let status = json!({"type": "system", "subtype": "status", "permissionMode": "plan"});
        claude.lines.send(status).await;
        claude.ask_about(tool, input).await;
        world.select("allow-once").await;
        assert_eq!(claude.reply().await.1["behavior"], behavior, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_callback_that_cannot_be_understood_denies() {
    let (_world, mut claude) = World::open().await;
    for (callback, input) in [
        ("before_tool", json!({})),
        ("before_tool", json!({"tool_name": "Bash"})),
        ("before_tool", json!({"tool_name": "Bash", "tool_input": "ls"})),
        ("before_tool", json!({"tool_name": 5, "tool_input": {}})),
        (
            "somebody_elses",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ),
    ] {
        claude.call_back(callback, input.clone()).await;
        let (_, reply) = claude.reply().await;
        assert_eq!(decision(&reply), "deny", "{callback} {input}: {reply}");
    }
    let request = json!({"subtype": "hook_callback", "callback_id": "before_tool", "input": 5});
    claude
        .lines
        .send(json!({"type": "control_request", "request_id": "odd", "request": request}))
        .await;
    let (_, error) = claude.reply().await;
    assert_eq!(error, "this host does not support the request", "an error blocks");
}

#[tokio::test(start_paused = true)]
async fn a_policy_denies_in_bypass_and_the_reason_says_which_rule() {
    let (_world, mut claude) = under(deny("Bash(rm *)")).await;
    let reply = claude
        .before("bypassPermissions", "Bash", json!({"command": "echo a; rm b"}))
        .await;
    assert_eq!(decision(&reply), "deny");
    assert!(reason(&reply).contains("Bash(rm *)"), "{reply}");
    let other = claude
        .before("bypassPermissions", "Bash", json!({"command": "ls"}))
        .await;
    assert_eq!(other, json!({}));
    let plan = claude
        .before("plan", "Bash", json!({"command": "node --version"}))
        .await;
    assert_eq!(decision(&plan), "deny");
}

#[tokio::test]
async fn case_90_hooks_of_the_policy_decide_one_after_the_other() {
    let command = |command: &str| json!({"type": "command", "command": command});
    let change = r#"grep -q '"command":"one"' && echo '{"updatedInput":{"command":"two"}}'"#;
    let refuse = r#"grep -q '"command":"two"' && echo 'DENY: no two'; exit 0"#;
    let hooks = json!([{"matcher": "Bash", "hooks": [command(change), command("exit 0")]}]);
    let (_world, mut claude) = under(json!({"hooks": {"PreToolUse": hooks}})).await;
    let reply = claude.before("default", "Bash", json!({"command": "one"})).await;
    assert_eq!(
        reply["hookSpecificOutput"]["updatedInput"],
        json!({"command": "two"})
    );
    assert_eq!(decision(&reply), "-");

    let hooks = json!([{"matcher": "Bash", "hooks": [command(change), command(refuse)]}]);
    let (_world, mut claude) = under(json!({"hooks": {"PreToolUse": hooks}})).await;
    let reply = claude.before("default", "Bash", json!({"command": "one"})).await;
    assert_eq!(
        reason(&reply),
        "a hook of the operator's policy denies it: no two"
    );
    let unmatched = claude.before("default", "Read", json!({"file_path": "/a"})).await;
    assert_eq!(unmatched, json!({}));
}

#[tokio::test]
async fn hooks_after_a_tool_tell_the_model_and_change_nothing() {
    let hook = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
    let told = r#"grep -q '"tool_response":{"stdout":"x"}' && echo 'DENY: look again'"#;
    let hooks = json!([hook(told), hook("exit 1"), hook("echo 'and again' >&2; exit 2")]);
    let (_world, mut claude) = under(json!({"hooks": {"PostToolUse": hooks}})).await;
    let input = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "x"}});
    claude.call_back("after_tool", input).await;
    let output = json!({"hookEventName": "PostToolUse", "additionalContext": "look again\nand again"});
    assert_eq!(claude.reply().await.1, json!({"hookSpecificOutput": output}));
}

#[tokio::test]
async fn a_withdrawn_callback_gets_no_reply_and_its_hook_ends() {
    let hook = json!({"hooks": [{"type": "command", "command": "sleep 600"}]});
    let (mut world, mut claude) = under(json!({"hooks": {"PreToolUse": [hook]}})).await;
    let input = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    claude.call_back("before_tool", input).await;
    claude
        .lines
        .send(json!({"type": "control_cancel_request", "request_id": "hook-1"}))
        .await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.result(&uuid, json!({})).await;
    assert_eq!(world.answer(prompt).await.0["result"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn a_hook_that_is_given_up_holds_no_other_up() {
    let hook = |tool: &str, command: &str| json!({"matcher": tool, "hooks": [{"type": "command", "command": command}]});
    let hooks = json!([
        hook("Bash", "sleep 600"),
        hook("Read", "sleep 0.3; echo 'DENY: no'")
    ]);
    let (_world, mut claude) = under(json!({"hooks": {"PreToolUse": hooks}})).await;
    for (id, tool, input) in [
        ("hook-1", "Bash", json!({"command": "ls"})),
        ("hook-2", "Read", json!({"file_path": "/a"})),
    ] {
        let input = json!({"tool_name": tool, "tool_input": input});
        claude.call_back_as(id, "before_tool", input).await;
    }
    claude
        .lines
        .send(json!({"type": "control_cancel_request", "request_id": "hook-1"}))
        .await;
    let (control, reply) = claude.reply().await;
    assert_eq!((control.as_str(), decision(&reply)), ("hook-2", "deny"));
}

#[tokio::test(start_paused = true)]
async fn case_86_an_approval_of_a_file_outside_does_not_leave() {
    let (mut world, mut claude) = under(json!({"permissions": {"confine": true}})).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    claude
        .ask_about("Write", json!({"file_path": "/nowhere/a", "content": ""}))
        .await;
    world.select("allow-once").await;
    let (_, reply) = claude.reply().await;
    assert_eq!(reply["behavior"], "deny");
    assert!(
        reply["message"]
            .as_str()
            .unwrap()
            .contains("`/nowhere/a` is outside"),
        "{reply}"
    );
}

#[tokio::test(start_paused = true)]
async fn case_91_after_three_denials_the_client_is_asked() {
    let rules =
        json!({"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(npm test)"], "autoAllow": true}});
    let (mut world, mut claude) = under(rules).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    let test = json!({"command": "npm test"});
    let allowed = claude.before("default", "Bash", test.clone()).await;
    assert_eq!(decision(&allowed), "allow");
    for _ in 0..3 {
        claude.before("default", "Bash", json!({"command": "rm a"})).await;
    }
    let asked = claude.before("default", "Bash", test.clone()).await;
    assert_eq!(decision(&asked), "ask");
    claude.ask_about("Bash", test.clone()).await;
    world.select("allow-once").await;
    assert_eq!(claude.reply().await.1["behavior"], "allow");
    let allowed = claude.before("default", "Bash", test).await;
    assert_eq!(decision(&allowed), "allow", "an approval resets the count");
}

#[tokio::test(start_paused = true)]
async fn what_ran_resets_the_count_and_what_claude_denied_adds_to_it() {
    let rules = json!({"permissions": {"deny": ["Bash(rm *)"], "denialThreshold": 2}});
    let (_world, mut claude) = under(rules).await;
    let ls = json!({"command": "ls"});
    claude.before("default", "Bash", json!({"command": "rm a"})).await;
    claude.ran("Bash", &ls).await;
    claude.before("default", "Bash", json!({"command": "rm a"})).await;
    let make = json!({"command": "make"});
    assert_eq!(decision(&claude.before("default", "Bash", make).await), "-");
    let denied = json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "tool_use_id": "t", "message": "m"});
    claude.lines.send(denied).await;
    let make = json!({"command": "make"});
    assert_eq!(decision(&claude.before("default", "Bash", make).await), "ask");
    assert_eq!(
        decision(&claude.before("default", "Bash", ls).await),
        "-",
        "it only reads"
    );
}

#[tokio::test(start_paused = true)]
async fn case_100_where_nobody_may_be_asked_questions_are_denied() {
    let (mut world, mut claude) = under(json!({"permissions": {"headless": true}})).await;
    let prompt = world.prompt("hi").await;
    let uuid = claude.take_prompt().await;
    claude.ask("ask-1", "toolu_1").await;
    let (_, reply) = claude.reply().await;
    assert_eq!(reply["behavior"], "deny");
    assert!(
        reply["message"]
            .as_str()
            .unwrap()
            .contains("lets nobody be asked"),
        "{reply}"
    );
    claude.result(&uuid, json!({})).await;
    let (_, before) = world.answer(prompt).await;
    assert!(
        before.iter().all(|message| message["method"] == "session/update"),
        "{before:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn case_96_what_cannot_be_written_down_is_denied() {
    let policy = deny("Bash(rm *)").to_string();
    let (mut world, mut claude) = World::open_under(&policy, Arc::new(Full)).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    let reply = claude
        .before("bypassPermissions", "Bash", json!({"command": "ls"}))
        .await;
    assert_eq!(decision(&reply), "deny");
    assert!(reason(&reply).contains("audit"), "{reply}");
    claude.ask("ask-1", "toolu_1").await;
    world.select("allow-once").await;
    assert_eq!(claude.reply().await.1["behavior"], "deny");
}

#[tokio::test(start_paused = true)]
async fn the_user_refused_is_said_only_where_a_user_did() {
    let records = Arc::new(Records::default());
    let audit: Arc<dyn Audit> = Arc::<Records>::clone(&records);
    let (mut world, mut claude) = World::open_under("{}", audit).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    let answers = [
        json!({"result": {"outcome": {"outcome": "selected", "optionId": "reject"}}}),
        json!({"error": {"code": -32601, "message": "no such method"}}),
        json!({"result": {"outcome": {"outcome": "cancelled"}}}),
    ];
    for mut answer in answers {
        claude.ask("ask-1", "toolu_1").await;
        let request = world.call("session/request_permission").await;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = request["id"].clone();
        world.client.send(answer).await;
        claude.reply().await;
    }
    let question = json!({"questions": [{"question": "Q", "options": [{"label": "A"}]}]});
    claude.ask_about("AskUserQuestion", question).await;
    let request = world.call("elicitation/create").await;
    let error = json!({"code": -32601, "message": "no such method"});
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        .await;
    claude.reply().await;
    let reasons: Vec<String> = records
        .0
        .lock()
        .unwrap()
        .iter()
        .filter_map(|record| record.reason.clone())
        .collect();
    let expected = [
        "the user refused",
        "Nobody was asked, because the client could not show the question: no such method",
        "Tool use aborted",
        "Could not present the question to the user.",
    ];
    assert_eq!(reasons, expected);
}

#[tokio::test(start_paused = true)]
async fn every_decision_is_recorded() {
    let records = Arc::new(Records::default());
    let policy = json!({"permissions": {"deny": ["Bash(rm *)"], "ask": ["WebFetch"]}}).to_string();
    let audit: Arc<dyn Audit> = Arc::<Records>::clone(&records);
    let (mut world, mut claude) = World::open_under(&policy, audit).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    claude
        .before("bypassPermissions", "Bash", json!({"command": "rm a"}))
        .await;
    let fetch = json!({"url": "https://example.com"});
    claude.before("default", "WebFetch", fetch.clone()).await;
    claude.before("default", "Bash", json!({"command": "ls"})).await;
    for option in ["allow-once", "reject"] {
        claude.ask_about("WebFetch", fetch.clone()).await;
        world.select(option).await;
        claude.reply().await;
    }
    let mut lines = Vec::new();
    for record in records.0.lock().unwrap().iter() {
        let mut line = serde_json::to_value(record).unwrap();
        assert!(line["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        assert_eq!(line["session"], world.session);
        let connection = line["connection"].as_str().unwrap();
        assert!(connection.contains(" #"), "{connection}");
        line["connection"] = json!("…");
        line["time"] = json!("…");
        line["session"] = json!("…");
        lines.push(line.to_string());
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"time":"…","connection":"…","session":"…","cwd":"/tmp","tool":"Bash","tool_use_id":"toolu_1","mode":"bypassPermissions","stage":"rules","outcome":"deny","rule":{"kind":"deny","text":"Bash(rm *)","file":"/etc/policy.json","line":1},"reason":"the operator's policy denies it by the rule `Bash(rm *)` (deny, /etc/policy.json, line 1)","ms":0}
    {"time":"…","connection":"…","session":"…","cwd":"/tmp","tool":"WebFetch","tool_use_id":"toolu_1","mode":"default","stage":"rules","outcome":"ask","rule":{"kind":"ask","text":"WebFetch","file":"/etc/policy.json","line":1},"reason":"the operator's policy: the rule `WebFetch` (ask, /etc/policy.json, line 1) wants the user to be asked","ms":0}
    {"time":"…","connection":"…","session":"…","cwd":"/tmp","tool":"Bash","tool_use_id":"toolu_1","mode":"default","stage":"rules","outcome":"pass","ms":0}
    {"time":"…","connection":"…","session":"…","cwd":"/tmp","tool":"WebFetch","tool_use_id":"toolu_1","mode":"default","stage":"prompt","outcome":"allow","ms":0}
    {"time":"…","connection":"…","session":"…","cwd":"/tmp","tool":"WebFetch","tool_use_id":"toolu_1","mode":"default","stage":"prompt","outcome":"deny","reason":"the user refused","ms":0}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_question_without_a_decision_is_recorded_too() {
    let records = Arc::new(Records::default());
    let audit: Arc<dyn Audit> = Arc::<Records>::clone(&records);
    let (mut world, mut claude) = World::open_under("{}", audit).await;
    world.prompt("hi").await;
    claude.take_prompt().await;
    claude.ask("ask-1", "toolu_1").await;
    world.select("no-such-option").await;
    claude.reply().await;
    claude.ask("ask-2", "toolu_2").await;
    world.call("session/request_permission").await;
    claude
        .lines
        .send(json!({"type": "control_cancel_request", "request_id": "ask-2"}))
        .await;
    world.call("$/cancel_request").await;
    claude.ask("ask-3", "toolu_3").await;
    world.call("session/request_permission").await;
    world.cancel().await;
    while claude.lines.receive().await["response"]["request_id"] != "ask-3" {}
    let records = records.0.lock().unwrap();
    let ends: Vec<_> = records
        .iter()
        .map(|record| (&*record.tool_use_id, record.reason.as_deref().unwrap()))
        .collect();
    assert_eq!(
        ends,
        [
            ("toolu_1", "Permission option was not offered: no-such-option"),
            ("toolu_2", "Claude took the question back"),
            ("toolu_3", "the turn was cancelled, or the client left"),
        ]
    );
    assert!(
        records
            .iter()
            .all(|record| record.outcome == crate::RecordedOutcome::Deny)
    );
}

#[tokio::test(start_paused = true)]
async fn in_plan_a_tool_whose_server_says_so_only_reads() {
    for policy in [json!({}), deny("Bash(rm *)")] {
        let (_world, mut claude) = under(policy).await;
        for (tool, expected) in [("mcp__calc__look", "-"), ("mcp__calc__add", "deny")] {
            let input = json!({"permission_mode": "plan", "tool_name": tool, "tool_input": {}});
            claude.call_back("before_tool", input).await;
            let request = claude.lines.receive().await;
            if request["request"]["subtype"] != "mcp_status" {
                // What has been learned is not asked for again.
                assert_eq!(decision(&request["response"]["response"]), expected, "{tool}");
                continue;
            }
            let tools = json!([{"name": "look", "annotations": {"readOnly": true}}, {"name": "add"}]);
            claude
                .succeed(
                    &request,
                    json!({"mcpServers": [{"name": "calc", "tools": tools}]}),
                )
                .await;
            assert_eq!(decision(&claude.reply().await.1), expected, "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_names_the_mode_and_takes_bypass_away() {
    let rules = json!({"permissions": {"defaultMode": "plan", "disableBypassPermissionsMode": "disable"}});
    let (mut world, claude) = under(rules).await;
    assert_eq!(
        claude.options.permission_mode,
        Some(permission_core::PermissionMode::Plan)
    );
    let params = json!({"sessionId": world.session, "modeId": "bypassPermissions"});
    let id = world.request("session/set_mode", params).await;
    let (answer, _) = world.answer(id).await;
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not available"),
        "{answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_claude_that_passes_the_guard_of_a_policy_over_is_ended() {
    for (policy, asks, is_error, lives) in [
        (Some(json!({})), true, false, true),
        (Some(json!({})), false, true, true),
        (Some(json!({})), false, false, false),
        (None, false, false, true),
    ] {
        let (mut world, mut claude) = match policy {
            Some(policy) => under(policy).await,
            None => World::open().await,
        };
        let prompt = world.prompt("hi").await;
        let uuid = claude.take_prompt().await;
        if asks {
            claude.before("default", "Bash", json!({"command": "ls"})).await;
        }
        let result =
            json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "x", "is_error": is_error});
        let message = json!({"role": "user", "content": [result]});
        claude
            .lines
            .send(json!({"type": "user", "message": message, "parent_tool_use_id": null}))
            .await;
        if lives {
            claude.result(&uuid, json!({})).await;
        }
        let (answer, _) = world.answer(prompt).await;
        assert_eq!(
            answer.get("error").is_none(),
            lives,
            "{asks} {is_error}: {answer}"
        );
        assert_eq!(claude.life.is_cancelled(), !lives);
    }
}
