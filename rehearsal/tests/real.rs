//! Real calls: all five stages of the pipeline, in an engine whose hooks and tools are played by the test.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[expect(dead_code, reason = "other test files use the rest of it")]
mod common;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use common::Host;
use permission_core::pipeline::hooks::HookRun;
use rehearsal::Sandboxes;
use rehearsal::engine::{Done, Job, Setup, ToolOutput, Work};
use serde_json::{Value, json};

/// One session whose tools only say that they ran.
struct Scene {
    host: Host,
    /// How the hooks end, in order; the last one over and over.
    hooks: Arc<Mutex<VecDeque<HookRun>>>,
    /// What ran, with which input.
    ran: Arc<Mutex<Vec<(String, Value)>>>,
}

/// What became of a call.
fn exited(code: i32, stdout: &str) -> HookRun {
    HookRun::Exited {
        code,
        stdout: stdout.as_bytes().to_vec(),
        stderr: b"said on stderr".to_vec(),
    }
}

impl Scene {
    fn new(permissions: Value, calls: &[Value]) -> Self {
        Self::with(json!({"settings": {"permissions": permissions}}), calls, |_| {})
    }

    fn with(session: Value, calls: &[Value], adjust: impl FnOnce(&mut Setup)) -> Self {
        let steps: Vec<Value> = calls.iter().map(|call| json!({ "tool": call })).collect();
        let script = json!({"version": 1, "session": session, "turns": [{"sticky": true, "steps": steps}]});
        let mut setup = Setup::new("session-1", "/home/user/project");
        setup.grounds = Arc::new(Sandboxes::private());
        setup.partial_messages = false;
        setup.allow_bypass = true;
        adjust(&mut setup);
        let mut host = Host::with(&script.to_string(), setup, Default::default());
        let hooks = Arc::new(Mutex::new(VecDeque::new()));
        let ran = Arc::new(Mutex::new(Vec::new()));
        let (ends, runs) = (Arc::clone(&hooks), Arc::clone(&ran));
        host.rim = Some(Box::new(move |work: &Work| match &work.job {
            Job::Hook { .. } => {
                let mut ends = ends.lock().unwrap();
                let next: HookRun = if ends.len() > 1 {
                    ends.pop_front().unwrap()
                } else {
                    ends.front().cloned().unwrap()
                };
                Done::Hook(next)
            }
            Job::Tool { name, input } => {
                runs.lock()
                    .unwrap()
                    .push((name.clone(), Value::Object(input.clone())));
                Done::Tool(ToolOutput {
                    text: "ran".to_owned(),
                    structured: json!("ran"),
                    is_error: false,
                })
            }
        }));
        Self { host, hooks, ran }
    }

    fn hooks(self, ends: impl IntoIterator<Item = HookRun>) -> Self {
        self.hooks.lock().unwrap().extend(ends);
        self
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
            let question = self.host.frames.iter().rev();
            let question = question.clone().find(|frame| frame["type"] == "control_request");
            let mut reply = reply.clone();
            if reply["behavior"] == "allow" && reply.get("updatedInput").is_none() {
                reply["updatedInput"] = question.unwrap()["request"]["input"].clone();
            }
            self.host.answer(reply);
        }
        told(&self.host.frames[from..])
    }

    fn allow(&mut self) -> Vec<String> {
        self.ends(json!({"behavior": "allow"}))
    }

    fn deny(&mut self) -> Vec<String> {
        self.ends(json!({"behavior": "deny", "message": "not now"}))
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
    json!({"name": "Bash", "input": {"command": command}, "real": true})
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
fn case_76_deny_wins_over_a_narrower_allow() {
    let mut scene = Scene::new(
        json!({"deny": ["Bash(aws *)"], "allow": ["Bash(aws s3 ls)"]}),
        &[bash("aws s3 ls")],
    );
    one(&scene.allow(), "denied (rule): Denied by the rule");
    let told = scene
        .host
        .frames
        .iter()
        .find(|frame| frame["subtype"] == "permission_denied")
        .unwrap();
    assert_eq!(told["decision_reason_type"], "rule");
    let result = scene
        .host
        .frames
        .iter()
        .rfind(|frame| frame["type"] == "result")
        .unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[test]
fn case_77_ask_wins_over_allow_and_nobody_to_ask_denies() {
    let rules = json!({"allow": ["Bash(npm test)"], "ask": ["Bash(npm *)"]});
    let mut scene = Scene::new(rules.clone(), &[bash("npm test")]);
    one(&scene.allow(), "asked (rule), ran");
    let question = scene
        .host
        .frames
        .iter()
        .find(|frame| frame["request"]["subtype"] == "can_use_tool")
        .unwrap();
    assert!(question["request"].get("permission_suggestions").is_none());
    assert_eq!(question["request"]["matched_ask_rule"]["rule_content"], "npm *");
    let settings = json!({"settings": {"permissions": rules}});
    let mut headless = Scene::with(settings, &[bash("npm test")], |setup| setup.asks = false);
    one(&headless.allow(), "denied (rule): Denied (prompt)");
}

#[test]
fn case_78_an_allow_rule_needs_every_part() {
    let rows = [
        ("npm test && rm x", "asked (nothing), ran"),
        ("timeout 30 npm test", "ran"),
        ("NODE_ENV=t npm test", "ran"),
        ("PATH=x npm test", "asked"),
        ("npm test $(x)", "asked (other), ran"),
        ("npm testx", "asked"),
    ];
    for (command, expected) in rows {
        let mut scene = Scene::new(json!({"allow": ["Bash(npm test *)"]}), &[bash(command)]);
        one(&scene.allow(), expected);
    }
}

#[test]
fn case_79_a_deny_rule_finds_its_command_anywhere() {
    for command in ["FOO=1 rm a", "echo a; rm b", "echo $(rm c)"] {
        let mut scene = Scene::new(
            json!({"deny": ["Bash(rm *)"], "allow": ["Bash"]}),
            &[bash(command)],
        );
        one(&scene.allow(), "denied (rule)");
        assert!(scene.ran.lock().unwrap().is_empty());
    }
}

#[test]
fn every_end_of_a_settings_hook_has_the_outcome_it_has_for_claude() {
    let changed = |command: &str| {
        let output = json!({"hookEventName": "PreToolUse", "updatedInput": {"command": command}});
        exited(0, &json!({ "hookSpecificOutput": output }).to_string())
    };
    let rows = [
        (exited(0, ""), "ran"),
        (exited(0, "DENY: no"), "ran"),
        (exited(0, r#"{"updatedInput":{"command":" "}}"#), "ran"),
        (changed("ls"), "ran"),
        (
            changed(" "),
            "denied (other): <tool_use_error>The command is empty.",
        ),
        (
            exited(2, ""),
            "denied (hook): PreToolUse:Bash hook error: said on stderr",
        ),
        (exited(1, ""), "ran"),
        (exited(127, ""), "ran"),
        (HookRun::TimedOut, "ran"),
        (HookRun::Overflowed, "ran"),
        (exited(0, "{bad"), "ran"),
        (
            exited(
                0,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look"}}"#,
            ),
            "asked (hook), ran",
        ),
    ];
    let settings = json!({"settings": {
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]},
    }});
    for (end, expected) in rows {
        let mut scene = Scene::with(settings.clone(), &[bash("pwd")], |_| {}).hooks([end.clone()]);
        one(&scene.allow(), expected);
        if end == changed("ls") {
            assert_eq!(scene.ran.lock().unwrap()[0].1, json!({"command": "ls"}));
        }
    }
}

#[test]
fn case_81_a_hook_that_approves_does_not_undo_a_deny_rule() {
    let settings = json!({"settings": {
        "permissions": {"deny": ["Bash(rm *)"]},
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]},
    }});
    let said = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    for end in [exited(0, ""), exited(0, said), HookRun::TimedOut] {
        let mut scene = Scene::with(settings.clone(), &[bash("rm a")], |_| {}).hooks([end]);
        one(&scene.allow(), "denied (rule)");
    }
    let mut unasked = Scene::with(settings, &[bash("make")], |_| {}).hooks([exited(0, said)]);
    one(&unasked.allow(), "ran");
}

#[test]
fn case_82_plan_denies_before_rules_can_allow() {
    let write =
        |path: &str| json!({"name": "Write", "input": {"file_path": path, "content": "x"}, "real": true});
    let rules = json!({"allow": ["Edit", "Bash"]});
    let calls = [
        write("{project}/a"),
        bash("ls"),
        bash("node --version"),
        write("{plan}"),
    ];
    let mut scene = Scene::new(rules, &calls);
    scene.mode("plan");
    let ends = scene.allow();
    assert!(ends[0].starts_with("denied (mode): Denied (rules)"), "{ends:?}");
    assert_eq!(ends[1], "ran");
    assert!(ends[2].starts_with("denied (mode)"), "{ends:?}");
    assert_eq!(ends[3], "ran", "the plan itself can be written");
}

#[test]
fn case_83_denials_in_a_row_make_the_next_call_a_question() {
    let session = json!({"denial_threshold": 2, "settings": {"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)"]}}});
    let calls = [bash("rm a"), bash("rm b"), bash("ls"), bash("ls")];
    let mut scene = Scene::with(session, &calls, |_| {});
    let ends = scene.allow();
    assert!(ends[0].starts_with("denied (rule)") && ends[1].starts_with("denied (rule)"));
    assert_eq!(ends[2..], ["asked (other), ran", "ran"]);
}

#[test]
fn a_subagent_has_denials_of_its_own() {
    let session = json!({"denial_threshold": 1, "settings": {"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)", "Agent"]}}});
    let agent = json!({"name": "Agent", "real": true, "result": "Looked.", "input": {"description": "Look", "prompt": "Look."},
        "subagent": [bash("rm a"), bash("ls")]});
    let mut scene = Scene::with(session, &[agent, bash("ls")], |_| {});
    let ends = scene.allow();
    assert!(ends[0].contains("Denied by the rule"), "{ends:?}");
    assert_eq!(ends[1..], ["asked (other), ran", "Looked.", "ran"]);
    let asked = scene.host.frames.iter();
    let asked: Vec<&Value> = asked
        .filter(|frame| frame["request"]["subtype"] == "can_use_tool")
        .collect();
    assert!(
        asked[0]["request"]["agent_id"]
            .as_str()
            .unwrap()
            .starts_with("agent_toolu_")
    );
}

/// Calls that no tool takes, and what the model is told.
const REFUSED: &[(&str, &str, &str)] = &[
    ("Deploy", "{}", "No such tool available: Deploy"),
    (
        "WebFetch",
        r#"{"url": "https://example.com"}"#,
        "No such tool available",
    ),
    ("Bash", "{}", "The field `command` is missing."),
    (
        "Bash",
        r#"{"command": "sleep 9", "run_in_background": true}"#,
        "Nothing runs in the background",
    ),
    (
        "Bash",
        r#"{"command": "ls", "timeout": 600001}"#,
        "The timeout is longer",
    ),
    (
        "Read",
        r#"{"file_path": "/etc/passwd"}"#,
        "`/etc/passwd` is outside of the sandbox",
    ),
    (
        "Read",
        r#"{"file_path": "../../../../etc/passwd"}"#,
        "is outside of the sandbox",
    ),
    (
        "Read",
        r#"{"file_path": "a", "limit": 0}"#,
        "The field `limit` must be a number from 1.",
    ),
    (
        "Write",
        r#"{"file_path": "/tmp/x", "content": ""}"#,
        "is outside of the sandbox",
    ),
    (
        "Edit",
        r#"{"file_path": "a.txt", "old_string": "", "new_string": "x"}"#,
        "old_string is empty",
    ),
    (
        "Edit",
        r#"{"file_path": "a.txt", "old_string": "x", "new_string": "x"}"#,
        "No changes to make",
    ),
    (
        "Edit",
        r#"{"file_path": "a.txt", "old_string": "zzz", "new_string": "x"}"#,
        "String to replace not found",
    ),
    (
        "Edit",
        r#"{"file_path": "a.txt", "old_string": "one", "new_string": "x"}"#,
        "Found 2 matches",
    ),
    (
        "Edit",
        r#"{"file_path": "nothing", "old_string": "one", "new_string": "x"}"#,
        "File does not exist",
    ),
    ("Glob", r#"{"pattern": "/etc/*"}"#, "is outside of the sandbox"),
    ("Glob", r#"{"pattern": "*/../../x"}"#, "must not climb"),
    ("Grep", r#"{"pattern": "("}"#, "not a regular expression"),
    (
        "Grep",
        r#"{"pattern": "x", "path": "/"}"#,
        "is outside of the sandbox",
    ),
    (
        "Grep",
        r#"{"pattern": "x", "output_mode": "lines"}"#,
        "The output_mode is none of",
    ),
    (
        "TodoWrite",
        r#"{"todos": "x"}"#,
        "The field `todos` must be a list.",
    ),
    (
        "AskUserQuestion",
        r#"{"questions": []}"#,
        "There must be 1 to 4 questions.",
    ),
    (
        "Agent",
        r#"{"description": "x"}"#,
        "The field `prompt` is missing.",
    ),
];

#[test]
fn what_cannot_be_is_refused_before_anybody_is_asked() {
    for mode in ["default", "bypassPermissions"] {
        for (name, input, expected) in REFUSED {
            let input: Value = serde_json::from_str(input).unwrap();
            let call = json!({"name": name, "input": input, "real": true});
            let files = json!({"files": {"a.txt": "one\none\n"}});
            let mut scene = Scene::with(files, std::slice::from_ref(&call), |_| {});
            scene.mode(mode);
            let ends = scene.allow();
            assert!(
                ends[0].starts_with("denied (other): <tool_use_error>"),
                "{call}: {ends:?}"
            );
            assert!(ends[0].contains(expected), "{call}: {ends:?}");
            assert!(scene.ran.lock().unwrap().is_empty());
            let result = scene
                .host
                .frames
                .iter()
                .rfind(|frame| frame["type"] == "result")
                .unwrap();
            assert_eq!(result["permission_denials"], json!([]), "nobody's decision");
        }
    }
}

#[test]
fn a_link_out_of_the_sandbox_leads_nowhere() {
    let calls = [
        json!({"name": "Read", "input": {"file_path": "link/passwd"}, "real": true}),
        json!({"name": "Write", "input": {"file_path": "link/x", "content": "x"}, "real": true}),
        json!({"name": "Glob", "input": {"pattern": "link/*"}, "real": true}),
        json!({"name": "Grep", "input": {"pattern": "root", "path": "link"}, "real": true}),
    ];
    let below = tempfile::tempdir().unwrap();
    let root = below.path().to_owned();
    let session = json!({"settings": {"permissions": {"allow": ["Read", "Edit"]}}, "files": {"a": ""}});
    let mut scene = Scene::with(session, &calls, |setup| {
        setup.grounds = Arc::new(Sandboxes::below(root));
    });
    scene.allow();
    let sandbox = std::fs::read_dir(below.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::os::unix::fs::symlink("/etc", sandbox.join("project/link")).unwrap();
    scene.ran.lock().unwrap().clear();
    let ends = scene.allow();
    assert_eq!(ends.len(), 4);
    for end in ends {
        assert!(end.contains("is outside of the sandbox"), "{end}");
    }
    assert!(scene.ran.lock().unwrap().is_empty());
}

#[test]
fn a_link_that_comes_after_the_question_is_met_by_the_tools_own_check() {
    let below = tempfile::tempdir().unwrap();
    let root = below.path().to_owned();
    let write = json!({"name": "Write", "input": {"file_path": "new/x", "content": "x"}, "real": true});
    let mut scene = Scene::with(json!({}), &[write], |setup| {
        setup.grounds = Arc::new(Sandboxes::below(root));
    });
    scene.host.prompt("go");
    let sandbox = std::fs::read_dir(below.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::os::unix::fs::symlink("/etc", sandbox.join("project/new")).unwrap();
    let from = scene.host.frames.len();
    scene.host.answer(json!({"behavior": "allow"}));
    let ends = told(&scene.host.frames[from..]);
    assert!(
        ends[0].starts_with("denied (other): Denied (check): `new/x` is outside of the sandbox"),
        "{ends:?}"
    );
    assert!(scene.ran.lock().unwrap().is_empty());
}

#[test]
fn modes_are_what_they_are() {
    let edit = json!({"name": "Write", "input": {"file_path": "a.txt", "content": "x"}, "real": true});
    let settings =
        json!({"name": "Write", "input": {"file_path": ".claude/x.json", "content": "{}"}, "real": true});
    let rows = [
        ("default", bash("make"), "asked (nothing), ran"),
        ("default", bash("ls"), "ran"),
        ("default", edit.clone(), "asked (nothing), ran"),
        ("default", settings.clone(), "asked (safetyCheck), ran"),
        ("acceptEdits", edit.clone(), "ran"),
        ("acceptEdits", settings, "asked (safetyCheck), ran"),
        ("acceptEdits", bash("make"), "asked (nothing), ran"),
        ("bypassPermissions", bash("make"), "ran"),
        ("dontAsk", bash("make"), "denied (mode): Denied (prompt)"),
        ("dontAsk", bash("ls"), "ran"),
        ("auto", bash("make"), "asked (nothing), ran"),
        ("plan", edit, "denied (mode)"),
    ];
    for (mode, call, expected) in rows {
        let mut scene = Scene::new(json!({}), std::slice::from_ref(&call));
        scene.mode(mode);
        let ends = scene.allow();
        assert!(ends[0].starts_with(expected), "{mode} {call}: {ends:?}");
    }
}

#[test]
fn managed_settings_stand_above_all() {
    let session = json!({"settings": {
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]},
    }});
    let calls = [bash("rm a"), bash("make"), bash("git push")];
    let mut scene = Scene::with(session, &calls, |setup| {
        setup.managed_settings = Some(json!({
            "permissions": {"deny": ["Bash(rm *)"], "ask": ["Bash(git push *)"], "disableBypassPermissionsMode": "disable"},
            "allowManagedHooksOnly": true,
        }));
    });
    scene.mode("bypassPermissions");
    let ends = scene.allow();
    assert!(ends[0].starts_with("denied (rule)"), "{ends:?}");
    assert_eq!(
        ends[1..],
        ["ran", "asked (rule), ran"],
        "no hook of the project has run"
    );
}

#[test]
fn rules_of_the_launch_count() {
    let calls = [
        bash("make"),
        bash("rm a"),
        json!({"name": "Glob", "input": {"pattern": "*"}, "real": true}),
    ];
    let mut scene = Scene::with(json!({}), &calls, |setup| {
        setup.allowed_tools = vec!["Bash(make)".to_owned()];
        setup.disallowed_tools = vec!["Bash(rm *)".to_owned(), "Glob".to_owned()];
    });
    let ends = scene.allow();
    assert_eq!(ends[0], "ran");
    assert!(ends[1].starts_with("denied (rule)"), "{ends:?}");
    assert!(ends[2].contains("No such tool available: Glob"), "{ends:?}");
}

#[test]
fn settings_files_that_do_not_count_are_not_read() {
    let settings = json!({"settings": {"permissions": {"deny": ["Bash(ls)"]}}});
    let mut scene = Scene::with(settings, &[bash("ls")], |setup| {
        setup.setting_sources = Some(Vec::new())
    });
    one(&scene.allow(), "ran");
}

#[test]
fn what_the_user_says_reaches_the_model_and_is_told_once() {
    let mut scene = Scene::new(json!({}), &[bash("make")]);
    one(&scene.deny(), "asked (nothing), denied (user): not now");
    assert!(
        !scene
            .host
            .frames
            .iter()
            .any(|frame| frame["subtype"] == "permission_denied")
    );
}

#[test]
fn the_host_decides_with_another_input_which_is_checked_again() {
    let change = |command: &str| json!({"behavior": "allow", "updatedInput": {"command": command}});
    let rules = json!({"deny": ["Bash(rm *)"]});
    let mut scene = Scene::new(rules.clone(), &[bash("make")]);
    one(&scene.ends(change("make all")), "asked (nothing), ran");
    assert_eq!(scene.ran.lock().unwrap()[0].1, json!({"command": "make all"}));
    let mut scene = Scene::new(rules, &[bash("make")]);
    one(&scene.ends(change("rm a")), "asked (nothing), denied (rule)");
    one(
        &scene.ends(json!({"behavior": "allow", "updatedInput": "x"})),
        "asked",
    );
    assert!(scene.ran.lock().unwrap().is_empty());
}

#[test]
fn the_sessions_own_tools_answer_by_themselves() {
    let real = |name: &str, input: Value| json!({"name": name, "input": input, "real": true});
    let calls = [
        real(
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]}),
        ),
        real("EnterPlanMode", json!({})),
        real("ExitPlanMode", json!({"plan": "1. Do it."})),
    ];
    let mut scene = Scene::new(json!({}), &calls);
    scene.mode("acceptEdits");
    let ends = scene.allow();
    assert_eq!(ends[0], "Todos have been modified successfully.");
    assert!(
        ends[1].starts_with("asked (nothing), Entered plan mode."),
        "{ends:?}"
    );
    assert!(
        ends[2].starts_with("asked (nothing), User has approved"),
        "{ends:?}"
    );
    let modes: Vec<&Value> = scene
        .host
        .frames
        .iter()
        .filter(|frame| frame["subtype"] == "status" && !frame["permissionMode"].is_null())
        .map(|frame| &frame["permissionMode"])
        .collect();
    assert_eq!(modes, ["acceptEdits", "plan", "acceptEdits"]);
    let questions = json!({"questions": [{"question": "Which?", "header": "W", "multiSelect": false, "options": [{"label": "A", "description": ""}]}]});
    let mut scene = Scene::new(json!({}), &[real("AskUserQuestion", questions.clone())]);
    scene.mode("bypassPermissions");
    let mut answered = questions;
    answered["answers"] = json!({"Which?": "A"});
    let ends = scene.ends(json!({"behavior": "allow", "updatedInput": answered}));
    one(
        &ends,
        "asked (nothing), Your questions have been answered: \"Which?\"=\"A\".",
    );
}

#[test]
fn the_plan_is_the_file_that_was_written_for_it() {
    let calls = [
        json!({"name": "Write", "input": {"file_path": "{plan}", "content": "1. Think."}, "real": true}),
        json!({"name": "ExitPlanMode", "real": true}),
    ];
    let session = json!({"plan": {"path": "/plans/scripted.md", "content": "scripted"}});
    let grounds = Arc::new(Sandboxes::private());
    let mut scene = Scene::with(session.clone(), &calls, |setup| setup.grounds = grounds.clone());
    scene.host.rim = Some(common::real_work());
    scene.mode("plan");
    let ends = scene.allow();
    assert!(ends[0].starts_with("File created successfully"), "{ends:?}");
    let shown = |scene: &Scene| {
        let question = scene
            .host
            .frames
            .iter()
            .rfind(|frame| frame["request"]["subtype"] == "can_use_tool");
        question.unwrap()["request"]["input"]["plan"].clone()
    };
    assert_eq!(shown(&scene), "1. Think.");
    let mut other = Scene::with(session, &calls[1..], |setup| setup.grounds = grounds);
    other.mode("plan");
    other.allow();
    assert_eq!(shown(&other), "scripted", "another session has not written any");
}

#[test]
fn hooks_after_a_tool_speak_to_the_model() {
    let settings = json!({"settings": {
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]},
    }});
    let mut scene =
        Scene::with(settings, &[bash("make")], |_| {}).hooks([exited(0, "DENY: no"), exited(2, "")]);
    one(&scene.allow(), "ran\n\nPostToolUse hook feedback: said on stderr");
    assert!(!scene.ends(json!({}))[0].is_empty());
}

#[test]
fn callbacks_of_the_host_come_after_validation_and_before_rules() {
    let calls = [bash(""), bash("rm a"), bash("make")];
    let mut scene = Scene::new(json!({"deny": ["Bash(rm *)"]}), &calls);
    scene.host.request(json!({"subtype": "initialize", "hooks": {"PreToolUse": [{"hookCallbackIds": ["guard"], "onFailure": "block"}]}}));
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}, "behavior": "deny"});
    let ends = scene.ends(allow);
    assert!(ends[0].contains("The command is empty."), "{ends:?}");
    assert!(
        ends[1].starts_with("denied (rule)"),
        "an allow of the guard is no allow against a rule: {ends:?}"
    );
    assert_eq!(ends[2], "ran");
    let callbacks = scene.host.frames.iter();
    let callbacks = callbacks.filter(|frame| frame["request"]["subtype"] == "hook_callback");
    assert_eq!(callbacks.count(), 2, "an invalid input is not shown to the host");
    let deny =
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}});
    scene.mode("bypassPermissions");
    let ends = scene.ends(deny);
    assert_eq!(ends[2], "denied (hook): PreToolUse:Bash hook error: no");
    let ask = json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}, "behavior": "allow"});
    assert_eq!(scene.ends(ask)[2], "asked (hook), ran", "also in bypass");
}

#[test]
fn an_interrupt_leaves_no_work_behind() {
    let mut scene = Scene::new(json!({"allow": ["Bash"]}), &[bash("make")]);
    scene.host.rim = None;
    scene.host.prompt("go");
    assert!(scene.host.engine.work().is_some());
    scene.host.interrupt();
    assert!(scene.host.engine.work().is_none());
    let last = scene
        .host
        .frames
        .iter()
        .rfind(|frame| frame["type"] == "result")
        .unwrap();
    assert_eq!(last["terminal_reason"], "aborted_tools");
    assert!(scene.host.transcript.contains("was stopped while running"));
}

#[test]
fn without_a_sandbox_no_real_tool_runs() {
    let mut scene = Scene::with(json!({}), &[bash("ls")], |setup| {
        setup.grounds = Setup::new("s", "/").grounds;
    });
    one(
        &scene.allow(),
        "denied (other): The tool cannot run: there is no sandbox here",
    );
}
