//! Calls that the script leaves to rules: hooks, rules, the mode, denials and the host's answer, in their order.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[expect(dead_code, reason = "other test files use the rest of it")]
mod common;

use claude_sdk_bridge::launch::{PermissionPrompts, Tools};
use common::Host;
use rehearsal::engine::Setup;
use serde_json::{Value, json};

/// One session of decided calls.
struct Session {
    host: Host,
}

impl Session {
    fn new(permissions: Value, calls: &[Value]) -> Self {
        Self::with(json!({"settings": {"permissions": permissions}}), calls, |_| {})
    }

    fn with(session: Value, calls: &[Value], adjust: impl FnOnce(&mut Setup)) -> Self {
        let steps: Vec<Value> = calls.iter().map(|call| json!({ "tool": call })).collect();
        let script = json!({"version": 1, "session": session, "turns": [{"sticky": true, "steps": steps}]});
        let mut setup = Setup::new("session-1", "/home/user/project");
        setup.options.partial_messages = false;
        setup.options.allow_bypass = true;
        adjust(&mut setup);
        let host = Host::with(&script.to_string(), setup, Default::default());
        Self { host }
    }

    fn mode(&mut self, mode: &str) {
        self.host
            .request(json!({"subtype": "set_permission_mode", "mode": mode}));
    }

    /// Plays a turn, answering every question with this; gives a word or two for each call.
    fn ends(&mut self, reply: Value) -> Vec<String> {
        let from = self.host.frames.len();
        let mut answered = self.host.asked.len();
        self.host.prompt("go");
        while self.host.asked.len() > answered {
            answered += 1;
            let mut reply = reply.clone();
            if reply["behavior"] == "allow" && reply.get("updatedInput").is_none() {
                reply["updatedInput"] =
                    self.last(|frame| frame["type"] == "control_request")["request"]["input"].clone();
            }
            self.host.answer(reply);
        }
        told(&self.host.frames[from..])
    }

    fn allow(&mut self) -> Vec<String> {
        self.ends(json!({"behavior": "allow"}))
    }

    /// The last frame of a kind.
    fn last(&self, is_it: impl Fn(&Value) -> bool) -> &Value {
        self.host.frames.iter().rfind(|frame| is_it(frame)).unwrap()
    }

    fn question(&self) -> &Value {
        &self.last(|frame| frame["request"]["subtype"] == "can_use_tool")["request"]
    }
}

/// What became of each call of some frames.
fn told(frames: &[Value]) -> Vec<String> {
    let mut asked: Vec<(String, String)> = Vec::new();
    let mut ends = Vec::new();
    for frame in frames {
        let request = &frame["request"];
        if request["subtype"] == "can_use_tool" {
            let why = request["decision_reason_type"].as_str().unwrap_or("nothing");
            asked.push((
                request["tool_use_id"].as_str().unwrap().to_owned(),
                format!("asked ({why}), "),
            ));
        }
        let blocks = frame["message"]["content"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            let id = block["tool_use_id"].as_str().unwrap();
            let question = asked.iter().find(|(about, _)| about == id);
            let question = question.map(|(_, why)| why.as_str()).unwrap_or_default();
            let text = block["content"].as_str().unwrap_or_default();
            let meta = &frame["tool_result_meta"][0]["permission_decision"];
            let end = match (meta["decision"].as_str(), meta["reason_type"].as_str()) {
                (Some("reject"), why) => format!("denied ({}): {text}", why.unwrap_or("user")),
                _ => text.to_owned(),
            };
            ends.push(format!("{question}{end}"));
        }
    }
    ends
}

fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command}, "decide": true, "result": "ran"})
}

fn write(path: &str) -> Value {
    json!({"name": "Write", "input": {"file_path": path, "content": "x"}, "decide": true, "result": "ran"})
}

fn with(mut call: Value, key: &str, value: Value) -> Value {
    call[key] = value;
    call
}

#[track_caller]
fn one(ends: &[String], expected: &str) {
    assert_eq!(ends.len(), 1, "{ends:?}");
    assert!(
        ends[0].starts_with(expected),
        "{ends:?} does not begin with `{expected}`"
    );
}

#[test]
fn a_deny_rule_wins_and_is_told() {
    let rules = json!({"deny": ["Bash(aws *)"], "allow": ["Bash(aws s3 ls)"]});
    let mut session = Session::new(rules, &[bash("aws s3 ls")]);
    one(&session.allow(), "denied (rule): Denied by the rule");
    let told = session.last(|frame| frame["subtype"] == "permission_denied");
    assert_eq!(told["decision_reason_type"], "rule");
    let result = session.last(|frame| frame["type"] == "result");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[test]
fn an_ask_rule_asks_with_its_reason_and_without_a_suggestion() {
    let rules = json!({"allow": ["Bash(npm test)"], "ask": ["Bash(npm *)"]});
    let asks = json!({"suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]});
    let call = with(bash("npm test"), "ask", asks);
    let mut session = Session::new(rules.clone(), std::slice::from_ref(&call));
    one(&session.allow(), "asked (rule), ran");
    let question = session.question();
    assert!(question.get("permission_suggestions").is_none());
    assert_eq!(question["matched_ask_rule"]["rule_content"], "npm *");
    let settings = json!({"settings": {"permissions": rules}});
    let mut headless = Session::with(settings, &[call], |setup| {
        setup.options.permission_prompts = PermissionPrompts::Nobody
    });
    one(&headless.allow(), "denied (rule): Denied (prompt)");
}

#[test]
fn what_the_script_says_of_a_question_stands_in_it() {
    let asks = json!({"suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}], "blocked_path": "/x"});
    let mut session = Session::new(
        json!({}),
        &[
            with(bash("make"), "ask", asks.clone()),
            with(bash("make $(x)"), "ask", asks),
        ],
    );
    assert_eq!(session.allow(), ["asked (nothing), ran", "asked (other), ran"]);
    let questions: Vec<&Value> = session
        .host
        .frames
        .iter()
        .map(|frame| &frame["request"])
        .filter(|request| request["subtype"] == "can_use_tool")
        .collect();
    assert_eq!(questions[0]["permission_suggestions"][0]["mode"], "acceptEdits");
    assert_eq!(questions[0]["blocked_path"], "/x");
    assert_eq!(
        questions[1]["permission_suggestions"],
        json!([]),
        "no rule can allow it"
    );
}

#[test]
fn a_hook_of_the_script_has_its_say() {
    let rows = [
        (json!({}), "ran"),
        (json!({"updated_input": {"command": "ls"}}), "ran"),
        (
            json!({"decision": "deny", "reason": "not this"}),
            "denied (hook): PreToolUse:Bash hook error: not this",
        ),
        (json!({"decision": "ask", "reason": "look"}), "asked (hook), ran"),
        (json!({"updated_input": {"command": "rm a"}}), "denied (rule)"),
        (
            json!({"feedback": "tidy up"}),
            "ran\n\nPostToolUse hook feedback: tidy up",
        ),
    ];
    let rules = json!({"allow": ["Bash"], "deny": ["Bash(rm *)"]});
    for (hook, expected) in rows {
        let mut session = Session::new(rules.clone(), &[with(bash("make"), "hook", hook)]);
        one(&session.allow(), expected);
    }
    let approves = json!({"decision": "allow"});
    let mut session = Session::new(
        json!({"deny": ["Bash(rm *)"], "ask": ["Bash(git *)"]}),
        &["make", "rm a", "git push"].map(|command| with(bash(command), "hook", approves.clone())),
    );
    let ends = session.allow();
    assert_eq!(ends[0], "ran", "nobody is asked");
    assert!(ends[1].starts_with("denied (rule)"), "{ends:?}");
    assert_eq!(ends[2], "asked (rule), ran");
}

#[test]
fn a_hook_speaks_about_a_call_that_is_not_decided_about_too() {
    let call = json!({"name": "Bash", "input": {"command": "ls"}, "ask": true, "result": "ran",
        "hook": {"decision": "allow", "feedback": "tidy up"}});
    let denied = with(call.clone(), "hook", json!({"decision": "deny", "reason": "no"}));
    let mut session = Session::new(json!({}), &[call, denied]);
    let ends = session.ends(json!({}));
    assert_eq!(ends[0], "ran\n\nPostToolUse hook feedback: tidy up");
    assert_eq!(ends[1], "denied (hook): PreToolUse:Bash hook error: no");
}

#[test]
fn callbacks_of_the_host_come_before_rules() {
    let calls = [bash("rm a"), bash("make")];
    let mut session = Session::new(json!({"deny": ["Bash(rm *)"]}), &calls);
    session.host.request(json!({"subtype": "initialize", "hooks": {"PreToolUse": [{"hookCallbackIds": ["guard"], "onFailure": "block"}]}}));
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}, "behavior": "deny"});
    let ends = session.ends(allow);
    assert!(
        ends[0].starts_with("denied (rule)"),
        "an allow of the host is no allow against a rule: {ends:?}"
    );
    assert_eq!(ends[1], "ran");
    let deny =
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}});
    session.mode("bypassPermissions");
    assert_eq!(
        session.ends(deny)[1],
        "denied (hook): PreToolUse:Bash hook error: no"
    );
    let ask = json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}, "behavior": "allow"});
    assert_eq!(session.ends(ask)[1], "asked (hook), ran", "also in bypass");
}

#[test]
fn in_plan_nothing_changes_but_the_plan() {
    let session = json!({"plan": {"path": "/plans/p.md", "content": "1. Do it."}, "settings": {"permissions": {"allow": ["Edit", "Bash"]}}});
    let calls = [write("a"), bash("ls"), bash("make"), write("/plans/p.md")];
    let mut session = Session::with(session, &calls, |_| {});
    session.mode("plan");
    let ends = session.allow();
    assert!(ends[0].starts_with("denied (mode): Denied (rules)"), "{ends:?}");
    assert_eq!(ends[1], "ran");
    assert!(ends[2].starts_with("denied (mode)"), "{ends:?}");
    assert_eq!(ends[3], "ran", "the plan itself can be written");
}

#[test]
fn denials_in_a_row_make_the_next_call_a_question() {
    let settings = json!({"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)"]}});
    let session = json!({"denial_threshold": 2, "settings": settings});
    let hook = with(bash("make"), "hook", json!({"decision": "deny", "reason": "no"}));
    let calls = [bash("rm a"), hook, bash("ls"), bash("ls")];
    let mut session = Session::with(session, &calls, |_| {});
    let ends = session.allow();
    assert!(ends[0].starts_with("denied (rule)") && ends[1].starts_with("denied (hook)"));
    assert_eq!(ends[2..], ["asked (other), ran", "ran"]);
}

#[test]
fn a_subagent_has_denials_of_its_own() {
    let settings = json!({"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)", "Agent"]}});
    let session = json!({"denial_threshold": 1, "settings": settings});
    let agent = json!({"name": "Agent", "decide": true, "result": "Looked.", "input": {"description": "Look", "prompt": "Look."},
        "subagent": [bash("rm a"), bash("ls")]});
    let mut session = Session::with(session, &[agent, bash("ls")], |_| {});
    let ends = session.allow();
    assert!(ends[0].contains("Denied by the rule"), "{ends:?}");
    assert_eq!(ends[1..], ["asked (other), ran", "Looked.", "ran"]);
    let agent = session.question()["agent_id"].as_str().unwrap();
    assert!(agent.starts_with("agent_toolu_"), "{agent}");
}

#[test]
fn modes_are_what_they_are() {
    let rows = [
        ("default", bash("make"), "asked (nothing), ran"),
        ("default", bash("ls"), "ran"),
        ("default", write("a.txt"), "asked (nothing), ran"),
        ("acceptEdits", write("a.txt"), "ran"),
        ("acceptEdits", write("/elsewhere/a.txt"), "asked (nothing), ran"),
        ("acceptEdits", write(".claude/x.json"), "asked (nothing), ran"),
        ("acceptEdits", bash("make"), "asked (nothing), ran"),
        ("bypassPermissions", bash("make"), "ran"),
        ("dontAsk", bash("make"), "denied (mode): Denied (prompt)"),
        ("dontAsk", bash("ls"), "ran"),
        ("auto", bash("make"), "asked (nothing), ran"),
        ("plan", write("a.txt"), "denied (mode)"),
    ];
    for (mode, call, expected) in rows {
        let mut session = Session::new(json!({}), std::slice::from_ref(&call));
        session.mode(mode);
        let ends = session.allow();
        assert!(ends[0].starts_with(expected), "{mode} {call}: {ends:?}");
    }
}

#[test]
fn managed_settings_stand_above_all() {
    let session = json!({"settings": {"permissions": {"allow": ["Bash"]}}});
    let calls = [bash("rm a"), bash("make"), bash("git push")];
    let mut session = Session::with(session, &calls, |setup| {
        setup.options.managed_settings = Some(json!({
            "permissions": {"deny": ["Bash(rm *)"], "ask": ["Bash(git push *)"], "disableBypassPermissionsMode": "disable"},
        }));
    });
    session.mode("bypassPermissions");
    let ends = session.allow();
    assert!(ends[0].starts_with("denied (rule)"), "{ends:?}");
    assert_eq!(ends[1..], ["ran", "asked (rule), ran"]);
}

#[test]
fn the_launch_counts() {
    let glob = json!({"name": "Glob", "input": {"pattern": "*"}, "decide": true});
    let calls = [bash("make"), bash("rm a"), glob.clone(), write("/beside/a")];
    let mut session = Session::with(json!({}), &calls, |setup| {
        setup.options.allowed_tools = vec!["Bash(make)".to_owned()];
        setup.options.disallowed_tools = vec!["Bash(rm *)".to_owned(), "Glob".to_owned()];
        setup.options.additional_directories = vec!["/beside".into()];
    });
    session.mode("acceptEdits");
    let ends = session.allow();
    assert_eq!(ends[0], "ran");
    assert!(ends[1].starts_with("denied (rule)"), "{ends:?}");
    assert!(ends[2].contains("No such tool available: Glob"), "{ends:?}");
    assert_eq!(ends[3], "ran");
    let mut session = Session::with(json!({}), &[glob], |setup| {
        setup.options.tools = Tools::Only(vec!["Bash".to_owned()])
    });
    assert!(session.allow()[0].contains("No such tool available: Glob"));
}

#[test]
fn settings_that_do_not_count_are_not_read() {
    let settings = json!({"settings": {"permissions": {"deny": ["Bash(ls)"]}}});
    let mut session = Session::with(settings, &[bash("ls")], |setup| {
        setup.options.setting_sources = Some(Vec::new())
    });
    one(&session.allow(), "ran");
}

#[test]
fn what_the_user_says_reaches_the_model_and_is_told_once() {
    let mut session = Session::new(json!({}), &[bash("make")]);
    let denied = session.ends(json!({"behavior": "deny", "message": "not now"}));
    one(&denied, "asked (nothing), denied (user): not now");
    let mut frames = session.host.frames.iter();
    assert!(!frames.any(|frame| frame["subtype"] == "permission_denied"));
}

#[test]
fn the_host_decides_with_another_input_which_is_looked_at_again() {
    let change = |command: &str| json!({"behavior": "allow", "updatedInput": {"command": command}});
    let mut session = Session::new(json!({"deny": ["Bash(rm *)"]}), &[bash("make")]);
    one(&session.ends(change("make all")), "asked (nothing), ran");
    one(&session.ends(change("rm a")), "asked (nothing), denied (rule)");
    let nonsense = json!({"behavior": "allow", "updatedInput": "x"});
    one(
        &session.ends(nonsense),
        "asked (nothing), denied (other): Tool permission request failed",
    );
}

#[test]
fn tools_of_the_session_say_what_comes_out_of_them() {
    let call = |name: &str, input: Value| json!({"name": name, "input": input, "decide": true});
    let todos = json!({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]});
    let calls = [
        call("TodoWrite", todos),
        call("EnterPlanMode", json!({})),
        call("ExitPlanMode", json!({})),
    ];
    let session = json!({"plan": {"path": "/plans/p.md", "content": "1. Do it."}});
    let mut session = Session::with(session, &calls, |_| {});
    session.mode("acceptEdits");
    let ends = session.allow();
    assert_eq!(ends[0], "Todos have been modified successfully.");
    let entered = "asked (nothing), Entered plan mode.";
    assert!(ends[1].starts_with(entered), "{ends:?}");
    let approved = "asked (nothing), User has approved";
    assert!(ends[2].starts_with(approved), "{ends:?}");
    assert_eq!(session.question()["input"]["plan"], "1. Do it.");
    let modes = session
        .host
        .frames
        .iter()
        .filter(|frame| frame["subtype"] == "status");
    let modes: Vec<&Value> = modes
        .map(|frame| &frame["permissionMode"])
        .filter(|mode| !mode.is_null())
        .collect();
    assert_eq!(modes, ["acceptEdits", "plan", "acceptEdits"]);
    let questions = json!({"questions": [{"question": "Which?", "header": "W", "multiSelect": false, "options": [{"label": "A", "description": ""}]}]});
    let mut session = Session::new(json!({}), &[call("AskUserQuestion", questions.clone())]);
    session.mode("bypassPermissions");
    let answered = with(questions, "answers", json!({"Which?": "A"}));
    one(
        &session.ends(json!({"behavior": "allow", "updatedInput": answered})),
        "asked (nothing), Your questions have been answered: \"Which?\"=\"A\".",
    );
}

#[test]
fn an_interrupt_takes_the_question_back() {
    let mut session = Session::new(json!({}), &[bash("make")]);
    session.host.prompt("go");
    session.host.interrupt();
    assert!(session.host.transcript.contains("withdraws the question"));
    let last = session.last(|frame| frame["type"] == "result");
    assert_eq!(last["terminal_reason"], "aborted_tools");
}
