//! The cases of the guard over Claude by number, and its answers.
//!
//! Place in the flow: tests only.

use super::*;
use crate::policy::Policy;
use crate::settings::{Origin, SettingsSource, Sourced};
use crate::testing::Links;

const PLAN_FILE: &str = "/home/u/.claude/plans/p.md";

fn policy(text: &str) -> Policy {
    Policy {
        rules: rule_set(text),
        denial_threshold: 3,
        protected: vec!["/etc/policy.json".into()],
        ..Policy::default()
    }
}

fn call<'a>(
    tool: &'a str,
    input: &'a Value,
    mode: PermissionMode,
    paths: &'a dyn PathResolver,
) -> ToolCall<'a> {
    let mut call = ToolCall::new(tool, input, workspace(paths));
    call.mode = mode;
    call.plan_file = Some(PLAN_FILE);
    call
}

fn guard(policy: Option<Policy>) -> Authorizer {
    Authorizer::new(Authority::OverClaude(policy.map(Arc::new)))
}

fn decided(step: Step) -> Decision {
    match step {
        Step::Decided(decision) => *decision,
        Step::Hook(hook) => panic!("{hook:?}"),
    }
}

fn examine(guard: &mut Authorizer, mode: PermissionMode, tool: &str, input: &Value) -> Decision {
    decided(guard.begin(&call(tool, input, mode, &LexicalPaths)).1)
}

fn word(decision: &Decision) -> &'static str {
    match decision.outcome {
        Outcome::Pass => "-",
        Outcome::Allow => "allow",
        Outcome::Ask => "ask",
        Outcome::Deny => "deny",
    }
}

/// What a guard with this policy answers.
fn says(policy: Option<Policy>, mode: PermissionMode, tool: &str, input: Value) -> &'static str {
    word(&examine(&mut guard(policy), mode, tool, &input))
}

const BYPASS: PermissionMode = PermissionMode::BypassPermissions;
const PLAN: PermissionMode = PermissionMode::Plan;

#[test]
fn case_84_a_policy_denies_in_every_mode_and_the_reason_names_the_rule() {
    for command in [
        "rm a",
        "FOO=1 rm a",
        "echo a; rm b",
        "echo $(rm c)",
        "timeout 5 rm d",
    ] {
        for mode in PermissionMode::ALL {
            assert_eq!(
                says(Some(policy("deny Bash(rm *)")), mode, "Bash", bash(command)),
                "deny",
                "{mode} {command}"
            );
        }
    }
    let mut guard = self::guard(Some(policy("deny Bash(rm *)")));
    let answer = examine(&mut guard, BYPASS, "Bash", &bash("rm a"));
    assert_eq!(answer.rule().map(|rule| rule.text()), Some("Bash(rm *)"));
    insta::assert_snapshot!(answer.to_reply("PreToolUse").to_string());
    assert_eq!(
        says(Some(policy("deny Bash(rm *)")), BYPASS, "Bash", bash("ls")),
        "-"
    );
}

#[test]
fn case_85_a_policy_asks_in_bypass() {
    let fetch = json!({ "url": "https://example.com" });
    assert_eq!(
        says(Some(policy("ask WebFetch")), BYPASS, "WebFetch", fetch),
        "ask"
    );
}

#[test]
fn cases_86_and_89_confined_files_lie_inside_through_links() {
    let links = Links::new(&[("/repo/out", Some("/etc")), ("/repo/dangling", None)]);
    let confined = || Policy {
        confine: true,
        ..policy("allow Write + allow Bash")
    };
    let rows = [
        ("Write", file("/repo/a"), "-", false),
        ("Write", file("/etc/a"), "deny", true),
        ("Read", file("~/.ssh/id"), "deny", true),
        ("Write", file("out/a"), "deny", true),
        ("Read", file("../x"), "deny", true),
        ("Bash", bash("cat src/a"), "-", false),
        ("Bash", bash("cat /etc/passwd"), "deny", true),
        ("Bash", bash("cat out/passwd"), "deny", true),
        ("Bash", bash("ls > /tmp/f"), "deny", true),
        ("Bash", bash("ls > /dev/null"), "-", false),
        ("Bash", bash("cd / && cat etc/passwd"), "deny", true),
        ("Bash", bash("grep /api src"), "-", false),
        ("Bash", bash("cat $F"), "ask", false),
        ("Bash", bash("echo $(id)"), "ask", false),
        ("Bash", bash("cat dangling"), "deny", true),
        ("WebFetch", json!({ "url": "https://example.com" }), "-", false),
    ];
    for (tool, input, expected, refused) in rows {
        let mut guard = self::guard(Some(confined()));
        let call = call(tool, &input, BYPASS, &links);
        let answer = decided(guard.begin(&call).1);
        assert_eq!(word(&answer), expected, "{tool} {input}");
        assert_eq!(guard.answered(&call, None).is_deny(), refused, "{tool} {input}");
    }
    let headless = Policy {
        headless: true,
        ..confined()
    };
    assert_eq!(says(Some(headless), BYPASS, "Bash", bash("echo $(id)")), "deny");
}

#[test]
fn relative_paths_start_where_the_shell_is() {
    let confined = Policy {
        confine: true,
        ..policy("deny Read(secret.txt)")
    };
    let rows = [
        ("/etc", bash("cat passwd"), "deny"),
        ("/etc", file("passwd"), "deny"),
        ("/etc", bash("cat ../repo/a"), "-"),
        ("/repo/sub", bash("cat ../a"), "-"),
        ("/repo/sub", bash("cat ../../a"), "deny"),
        ("/repo/sub", bash("cat secret.txt"), "deny"),
        ("/repo/sub", bash("cat ../secret.txt"), "deny"),
    ];
    for (current, input, expected) in rows {
        let tool = if input.get("command").is_some() {
            "Bash"
        } else {
            "Read"
        };
        let mut call = call(tool, &input, BYPASS, &LexicalPaths);
        call.workspace.current = current;
        let mut guard = self::guard(Some(confined.clone()));
        let answer = decided(guard.begin(&call).1);
        assert_eq!(word(&answer), expected, "{current} {input}");
    }
}

#[test]
fn cases_87_and_97_plan_changes_nothing_with_or_without_a_policy() {
    let rows = [
        ("Bash", bash("node --version"), "ask", "deny"),
        ("Bash", bash("ls"), "-", "-"),
        ("Bash", bash("ls > f"), "deny", "deny"),
        ("Bash", bash("ls > /dev/null 2>&1"), "-", "-"),
        ("Bash", bash("touch p"), "deny", "deny"),
        ("Bash", bash("ls && FOO=1 timeout 5 mkdir -p a/b"), "deny", "deny"),
        ("Bash", bash("rm -r a"), "deny", "deny"),
        ("Bash", bash("sed -i s/a/b/ f"), "deny", "deny"),
        ("Bash", bash("cat a > o"), "deny", "deny"),
        ("Monitor", bash("tee log < a"), "deny", "deny"),
        ("Bash", bash("touch --help"), "ask", "deny"),
        ("Bash", bash("unzip -l a.zip"), "ask", "deny"),
        ("Bash", bash("curl -O https://a.b/c"), "ask", "deny"),
        ("Bash", bash("for f in *; do touch $f; done"), "ask", "deny"),
        ("Bash", bash("echo $(id)"), "ask", "deny"),
        ("Write", file("/repo/a"), "deny", "deny"),
        ("MultiEdit", file("/repo/a"), "deny", "deny"),
        ("Write", file(PLAN_FILE), "-", "-"),
        ("Read", file("/repo/a"), "-", "-"),
        ("ExitPlanMode", json!({}), "-", "-"),
        ("AskUserQuestion", json!({}), "-", "-"),
        ("Agent", json!({ "subagent_type": "Explore" }), "-", "-"),
        ("mcp__s__t", json!({}), "deny", "deny"),
        ("NewTool", json!({}), "ask", "deny"),
        ("ListAgents", json!({}), "-", "-"),
        ("ReportFindings", json!({ "findings": [] }), "-", "-"),
        ("ListMcpResourcesTool", json!({}), "-", "-"),
        ("CronList", json!({}), "-", "-"),
    ];
    for (tool, input, without, with) in rows {
        assert_eq!(says(None, PLAN, tool, input.clone()), without, "{tool} {input}");
        let rules = "allow Edit + allow Bash + allow mcp__s";
        assert_eq!(
            says(Some(policy(rules)), PLAN, tool, input.clone()),
            with,
            "{tool} {input}"
        );
        assert_eq!(
            says(None, PermissionMode::Default, tool, input.clone()),
            "-",
            "{tool} {input}"
        );
    }
    let looks = json!({});
    let mut hinted = call("mcp__s__t", &looks, PLAN, &LexicalPaths);
    hinted.read_only_hint = true;
    assert_eq!(word(&decided(guard(None).begin(&hinted).1)), "-");
    let change = file("/repo/a");
    let refused = guard(None).answered(&call("Write", &change, PLAN, &LexicalPaths), None);
    assert!(refused.is_deny(), "also where the user allows it");
}

#[test]
fn case_90_a_hook_of_the_policy_denies_with_its_reason() {
    let origin = Origin {
        source: SettingsSource::Managed,
        file: std::path::Path::new("/etc/policy.json").into(),
        line: 1,
    };
    let value =
        json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "h" }] }] });
    let hooked = |rules: &str| Policy {
        hooks: Hooks::read(&[Sourced {
            value: value.clone(),
            origin: origin.clone(),
        }])
        .0,
        ..policy(rules)
    };
    let ends = |rules: &str, run: HookRun| {
        let mut guard = self::guard(Some(hooked(rules)));
        let input = bash("ls");
        let call = call("Bash", &input, BYPASS, &LexicalPaths);
        let (mut evaluation, step) = guard.begin(&call);
        assert!(matches!(step, Step::Hook(_)));
        decided(guard.hook_ended(&mut evaluation, &call, &run))
    };
    let exited = |stdout: &str| HookRun::Exited {
        code: 0,
        stdout: stdout.into(),
        stderr: Vec::new(),
    };
    let denied = ends("", exited("DENY: no"));
    assert_eq!(
        denied.why().as_deref(),
        Some("a hook of the operator's policy denies it: no")
    );
    assert_eq!(word(&ends("", HookRun::Overflowed)), "deny");
    assert_eq!(word(&ends("", exited(""))), "-");
    let changed = r#"{"updatedInput":{"command":"rm a"}}"#;
    assert_eq!(
        word(&ends("deny Bash(rm *)", exited(changed))),
        "deny",
        "rules see what hooks leave"
    );
    let left = ends("", exited(changed));
    assert_eq!((word(&left), left.updated_input), ("-", Some(bash("rm a"))));
    let ask = r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"r"}}"#;
    assert_eq!(word(&ends("allow Bash", exited(ask))), "ask");
}

#[test]
fn hooks_run_in_order_until_one_denies_and_each_sees_what_the_one_before_left() {
    let origin = Origin {
        source: SettingsSource::Managed,
        file: std::path::Path::new("/etc/policy.json").into(),
        line: 1,
    };
    let value = json!({ "PreToolUse": [{ "hooks": [{ "command": "one" }, { "command": "two" }] }] });
    let hooked = Policy {
        hooks: Hooks::read(&[Sourced { value, origin }]).0,
        ..policy("deny Bash(three)")
    };
    let changes = |command: &str| exited(0, &json!({ "updatedInput": bash(command) }).to_string());
    let input = bash("one");
    let call = call("Bash", &input, BYPASS, &LexicalPaths);
    let mut guard = self::guard(Some(hooked));
    let (mut evaluation, _) = guard.begin(&call);
    let step = guard.hook_ended(&mut evaluation, &call, &changes("two"));
    assert!(matches!(step, Step::Hook(hook) if hook.command.as_deref() == Some("two")));
    assert_eq!(evaluation.input(), Some(&bash("two")));
    let last = decided(guard.hook_ended(&mut evaluation, &call, &changes("three")));
    assert_eq!((word(&last), last.stage), ("deny", Stage::Rules));
    let (mut evaluation, _) = guard.begin(&call);
    let first = decided(guard.hook_ended(&mut evaluation, &call, &exited(0, "DENY: no")));
    assert_eq!(first.reason, Reason::Hook("no".into()), "the last one that runs");
}

#[test]
fn case_91_three_denials_in_a_row_make_the_next_call_a_question() {
    let mut guard = self::guard(Some(policy("deny Bash(rm *) + allow Bash(ls)")));
    for _ in 0..3 {
        examine(&mut guard, BYPASS, "Bash", &bash("rm a"));
    }
    assert_eq!(word(&examine(&mut guard, BYPASS, "Bash", &bash("ls"))), "ask");
    guard.note(None, true);
    assert_eq!(word(&examine(&mut guard, BYPASS, "Bash", &bash("ls"))), "-");
    for _ in 0..3 {
        guard.note(None, false);
    }
    assert_eq!(
        word(&examine(&mut guard, BYPASS, "Bash", &bash("ls"))),
        "ask",
        "the user's denials count, too"
    );
    let harmless = [
        ("Bash", bash("cat src/a"), "-"),
        ("Read", file("/repo/a"), "-"),
        ("Bash", bash("cat /etc/passwd"), "ask"),
        ("Bash", bash("make"), "ask"),
        ("Write", file("/repo/a"), "ask"),
    ];
    for (tool, input, expected) in harmless {
        assert_eq!(
            word(&examine(&mut guard, BYPASS, tool, &input)),
            expected,
            "{tool} {input}"
        );
    }
}

#[test]
fn without_a_policy_three_denials_in_a_row_make_the_next_call_a_question_too() {
    let mut guard = self::guard(None);
    for _ in 0..3 {
        assert_eq!(word(&examine(&mut guard, BYPASS, "Bash", &bash("mkdir a"))), "-");
        guard.note(None, false);
    }
    let rows = [
        ("Bash", bash("mkdir a"), "ask"),
        ("Write", file("/repo/a"), "ask"),
        ("Bash", bash("ls"), "-"),
        ("Read", file("/repo/a"), "-"),
        ("Read", file("/etc/passwd"), "ask"),
        ("WebFetch", json!({ "url": "https://a.b" }), "ask"),
        ("Agent", json!({ "subagent_type": "Explore" }), "ask"),
        ("TodoWrite", json!({}), "-"),
        ("AskUserQuestion", json!({}), "-"),
    ];
    for (tool, input, expected) in rows {
        let answer = examine(&mut guard, BYPASS, tool, &input);
        assert_eq!(word(&answer), expected, "{tool} {input}");
        if expected == "ask" {
            let reason = "3 calls in a row were denied, so the user is to be asked";
            assert_eq!(answer.why().as_deref(), Some(reason), "no policy is named");
        }
    }
    assert_eq!(word(&examine(&mut guard, PLAN, "Write", &file(PLAN_FILE))), "-");
    assert_eq!(
        word(&examine(&mut guard, BYPASS, "Write", &file(PLAN_FILE))),
        "ask"
    );
    guard.note(None, true);
    assert_eq!(word(&examine(&mut guard, BYPASS, "Bash", &bash("mkdir a"))), "-");
}

#[test]
fn case_94_settings_that_could_widen_a_policy_are_out_of_reach() {
    let rows = [
        ("Write", file("/repo/.claude/settings.local.json"), "deny"),
        ("Edit", file(".claude/agents/a.md"), "deny"),
        ("Write", file("sub/.claude/settings.json"), "deny"),
        ("Write", file("~/.claude/settings.json"), "deny"),
        ("Write", file(".mcp.json"), "deny"),
        ("Write", file("/etc/policy.json"), "deny"),
        ("Bash", bash("cd .claude && mv x settings.json"), "deny"),
        ("Bash", bash("echo x > .claude/settings.json"), "deny"),
        ("Bash", bash("tee .mcp.json"), "deny"),
        ("Write", file(PLAN_FILE), "deny"),
        ("Read", file("/repo/.claude/settings.json"), "-"),
        ("Write", file("/repo/a"), "-"),
    ];
    for (tool, input, expected) in rows {
        assert_eq!(
            says(Some(policy("allow Edit")), BYPASS, tool, input.clone()),
            expected,
            "{tool} {input}"
        );
    }
    assert_eq!(
        says(None, BYPASS, "Write", file(".mcp.json")),
        "-",
        "without a policy that is Claude's business"
    );
}

#[test]
fn settings_are_protected_above_beside_and_in_whatever_way_they_are_named() {
    let additional = ["/srv/shared".to_owned()];
    let rows = [
        ("Write", file("/.mcp.json"), "deny"),
        ("Write", file("/.claude/agents/a.md"), "deny"),
        ("Write", file("/srv/shared/.claude/skills/x/SKILL.md"), "deny"),
        ("Write", file("/srv/shared/sub/.mcp.json"), "deny"),
        ("Write", file("/srv/shared/a"), "-"),
        ("Bash", bash("echo x > ../.mcp.json"), "deny"),
        ("Bash", bash("python3 -c 'open(\".claude/x\", \"w\")'"), "ask"),
        ("Bash", bash("some-tool /etc/policy.json"), "ask"),
        ("Bash", bash("some-tool --out=.CLAUDE/settings.json"), "deny"),
        ("Bash", bash("cat .claude/settings.json"), "-"),
        ("Bash", bash("grep -r x .claude"), "-"),
        ("CronCreate", json!({ "durable": true }), "deny"),
        ("CronCreate", json!({ "durable": false }), "-"),
    ];
    for (tool, input, expected) in rows {
        let mut guard = self::guard(Some(policy("allow Edit")));
        let mut call = call(tool, &input, BYPASS, &LexicalPaths);
        call.workspace.additional = &additional;
        let answer = decided(guard.begin(&call).1);
        assert_eq!(word(&answer), expected, "{tool} {input}");
    }
}

#[test]
fn what_comes_with_every_policy_leaves_ordinary_work_alone() {
    let rows = [
        ("rm -rf target/*", "-"),
        ("cp src/* build/", "-"),
        ("find . -name '*.rs'", "-"),
        ("mkdir -p a/b && touch a/b/c", "-"),
        ("git status && git add . && git commit -m x", "-"),
        ("cargo build 2>&1 | tail -5", "-"),
        ("echo x > log.txt", "-"),
        ("OUT=log.txt; echo x > \"$OUT\"", "ask"),
        ("for f in src/*.rs; do cp \"$f\" \"$f.bak\"; done", "ask"),
        ("find . -name '*.orig' -delete", "ask"),
        ("git checkout .", "ask"),
        ("rm -rf .", "ask"),
        ("rm -rf .claude", "deny"),
    ];
    for (command, expected) in rows {
        assert_eq!(
            says(Some(policy("")), BYPASS, "Bash", bash(command)),
            expected,
            "{command}"
        );
    }
}

#[test]
fn a_worktree_of_claudes_can_be_worked_in() {
    let tree = "/repo/.claude/worktrees/x";
    let rows = [
        ("Write", file("/repo/.claude/worktrees/x/src/a.rs"), "-"),
        ("Write", file("src/a.rs"), "-"),
        ("Write", file(".claude/settings.json"), "deny"),
        ("Write", file("../../settings.json"), "deny"),
        ("Bash", bash("echo x > src/a.rs"), "-"),
        ("Bash", bash("echo x > ../../settings.json"), "deny"),
    ];
    for (tool, input, expected) in rows {
        let mut guard = self::guard(Some(policy("")));
        let mut call = call(tool, &input, BYPASS, &LexicalPaths);
        call.workspace.current = tree;
        let answer = decided(guard.begin(&call).1);
        assert_eq!(word(&answer), expected, "{tool} {input}");
    }
    let agent = json!({ "subagent_type": "x", "isolation": "worktree" });
    assert_eq!(says(None, PLAN, "Agent", agent.clone()), "ask");
    assert_eq!(says(Some(policy("")), PLAN, "Agent", agent), "deny");
}

#[test]
fn case_96_a_failure_of_the_host_denies() {
    insta::assert_snapshot!(
        Decision::failed("something broke")
            .to_reply("PreToolUse")
            .to_string()
    );
    assert_eq!(says(Some(policy("")), BYPASS, "Bash", json!("ls")), "deny");
    let mut guard = self::guard(None);
    let input = bash("ls");
    let call = call("Bash", &input, BYPASS, &LexicalPaths);
    let (mut evaluation, _) = guard.begin(&call);
    let step = guard.hook_ended(&mut evaluation, &call, &HookRun::TimedOut);
    assert!(decided(step).is_deny(), "used out of order");
}

#[test]
fn case_98_an_allow_rule_takes_no_question_away_unless_the_policy_says_so() {
    let rules = "allow Bash(npm test *)";
    assert_eq!(
        says(
            Some(policy(rules)),
            PermissionMode::Default,
            "Bash",
            bash("npm test")
        ),
        "-"
    );
    let auto = || Policy {
        auto_allow: true,
        ..policy(rules)
    };
    assert_eq!(
        says(Some(auto()), PermissionMode::Default, "Bash", bash("npm test")),
        "allow"
    );
    assert_eq!(
        says(
            Some(auto()),
            PermissionMode::Default,
            "Bash",
            bash("npm test; id")
        ),
        "-"
    );
    assert_eq!(
        says(Some(auto()), PermissionMode::Default, "Bash", bash("ls")),
        "-",
        "no rule says so"
    );
}

#[test]
fn case_100_without_anybody_to_ask_every_question_is_a_denial() {
    let headless = |rules: &str| Policy {
        headless: true,
        ..policy(rules)
    };
    assert_eq!(
        says(
            Some(headless("ask WebFetch")),
            BYPASS,
            "WebFetch",
            json!({ "url": "https://a.b" })
        ),
        "deny"
    );
    assert_eq!(says(Some(headless("")), BYPASS, "Bash", bash("npm test")), "-");
    let input = bash("npm test");
    let asked = call("Bash", &input, PermissionMode::Default, &LexicalPaths);
    assert!(guard(None).refuses_to_ask(&asked).is_none());
    assert!(guard(Some(policy(""))).refuses_to_ask(&asked).is_none());
    let refusal = guard(Some(headless(""))).refuses_to_ask(&asked).unwrap();
    insta::assert_snapshot!(refusal.to_reply("PreToolUse").to_string());
}

#[test]
fn what_the_user_allows_is_checked_once_more() {
    let input = bash("rm a");
    let call = call("Bash", &input, PermissionMode::Default, &LexicalPaths);
    assert!(
        guard(Some(policy("deny Bash(rm *)")))
            .answered(&call, None)
            .is_deny()
    );
    assert!(
        !guard(Some(policy("ask Bash(rm *)")))
            .answered(&call, None)
            .is_deny()
    );
    assert!(!guard(None).answered(&call, None).is_deny());
}

#[test]
fn the_command_line_gets_what_the_callback_does_not_see() {
    let strict = Policy {
        bypass_disabled: true,
        ..policy("deny Bash(rm *) + ask WebFetch + allow Read")
    };
    insta::assert_snapshot!(strict.managed_settings().to_string());
    insta::assert_snapshot!(policy("").managed_settings().to_string());
}

#[test]
fn every_outcome_has_its_reply() {
    let input = || Some(json!({ "a": 1 }));
    let rows = [
        (Outcome::Pass, None),
        (Outcome::Pass, input()),
        (Outcome::Allow, None),
        (Outcome::Allow, input()),
        (Outcome::Ask, input()),
        (Outcome::Deny, None),
    ];
    let replies = rows.map(|(outcome, updated_input)| {
        let decision = Decision {
            outcome,
            updated_input,
            ..Decision::failed("r")
        };
        decision.to_reply("PreToolUse").to_string()
    });
    insta::assert_snapshot!(replies.join("\n"));
}
