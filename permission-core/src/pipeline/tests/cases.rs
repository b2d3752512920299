//! The numbered cases of the pipeline, and the resolutions that its specification names A1 to A21.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn case_76_deny_wins_over_a_narrower_allow() {
    let mut scene = Scene::default("deny Bash(aws *) + allow Bash(aws s3 ls)");
    let decision = scene.bash("aws s3 ls");
    assert!(!decision.is_allow());
    assert_eq!(
        (decision.stage, decision.rule().unwrap().text()),
        (Stage::Rules, "Bash(aws *)")
    );
}

#[test]
fn case_77_ask_wins_over_allow_and_headless_denies_it() {
    let rules = "allow Bash(npm test) + ask Bash(npm *)";
    assert_eq!(
        Scene::default(rules).answers([ALLOW]).bash_ends("npm test"),
        "ask, allow"
    );
    let mut headless = Scene::with(PermissionMode::Default, rules, |context| {
        context.avoid_prompts = true
    });
    let decision = headless.bash("npm test");
    assert_eq!((decision.stage, headless.asked), (Stage::Prompt, 0));
    assert!(decision.reason.to_string().contains("no prompt is available"));
}

#[test]
fn case_78_an_allow_rule_needs_every_part() {
    let rows = [
        ("npm test && rm x", "ask, deny prompt"),
        ("timeout 30 npm test", "allow"),
        ("NODE_ENV=t npm test", "allow"),
        ("PATH=x npm test", "ask, deny prompt"),
        ("npm test $(x)", "ask, deny prompt"),
        ("npm testx", "ask, deny prompt"),
    ];
    for (command, expected) in rows {
        assert_eq!(
            Scene::default("allow Bash(npm test *)").bash_ends(command),
            expected,
            "{command}"
        );
    }
}

#[test]
fn case_79_a_deny_rule_finds_its_command_anywhere() {
    for command in ["FOO=1 rm a", "echo a; rm b", "echo $(rm c)"] {
        assert_eq!(
            Scene::default("deny Bash(rm *) + allow Bash").bash_ends(command),
            "deny rules",
            "{command}"
        );
    }
}

#[test]
fn case_80_every_end_of_a_hook_has_its_outcome() {
    let rows = [
        (exited(0, ""), "allow"),
        (exited(0, "DENY: no"), "deny hooks"),
        (exited(0, r#"{"updatedInput":{"command":"ls"}}"#), "allow"),
        (
            exited(0, r#"{"updatedInput":{"command":"bad"}}"#),
            "deny validation",
        ),
        (exited(2, ""), "deny hooks"),
        (exited(1, ""), "deny hooks"),
        (HookRun::TimedOut, "allow"),
        (HookRun::Overflowed, "deny hooks"),
        (exited(0, "{bad"), "deny hooks"),
    ];
    for (run, expected) in rows {
        let mut scene = Scene::default("allow Bash").tool(|input| input["command"] != "bad", Ok(()));
        scene = scene.hooks([run.clone()]);
        assert_eq!(scene.bash_ends("pwd"), expected, "{run:?}");
    }
    let mut scene = Scene::default("allow Bash").hooks([exited(0, r#"{"updatedInput":{"command":"ls"}}"#)]);
    let decision = scene.bash("pwd");
    assert_eq!(
        decision.outcome,
        Outcome::Allow {
            input: json!({ "command": "ls" })
        }
    );
}

#[test]
fn case_81_a_hook_that_approves_does_not_undo_a_deny_rule() {
    let said = r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    for run in [exited(0, ""), exited(0, said), HookRun::TimedOut] {
        assert_eq!(
            Scene::default("deny Bash(rm *)").hooks([run]).bash_ends("rm a"),
            "deny rules"
        );
    }
}

#[test]
fn case_82_plan_denies_before_rules_can_allow() {
    let mut scene = Scene::new(PermissionMode::Plan, "allow Edit").answers([ALLOW]);
    assert_eq!(
        scene.ends("Edit", json!({ "file_path": "/repo/a" })),
        "deny rules"
    );
    assert_eq!(scene.pipeline.context().mode, PermissionMode::Plan);
}

#[test]
fn case_83_denials_in_a_row_make_the_next_call_a_question() {
    let mut scene = Scene::default("deny Bash(rm *) + allow Bash(ls)");
    for _ in 0..3 {
        scene.bash("rm a");
    }
    assert_eq!(scene.bash_ends("rm a"), "deny rules", "limits do not look at it");
    scene.answers.push_back(ALLOW);
    assert_eq!(scene.bash_ends("ls"), "ask, allow");
    assert_eq!(scene.bash_ends("ls"), "allow", "the user's answer resets it");
}

#[test]
fn denials_of_a_subagent_are_its_own() {
    let mut scene = Scene::default("deny Bash(rm *) + allow Bash(ls)");
    for _ in 0..3 {
        scene.call_as(Some("a"), "Bash", json!({ "command": "rm a" }));
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
    scene.call_as(Some("a"), "Bash", json!({ "command": "ls" }));
    assert_eq!(scene.asked, 1, "the subagent's call is a question");
}

#[test]
fn a_failed_validation_is_no_denial_that_counts() {
    let mut scene = Scene::default("allow Bash").tool(|input| input["command"] != "bad", Ok(()));
    for _ in 0..5 {
        let decision = scene.bash("bad");
        assert_eq!(decision.stage, Stage::Validate);
        let message = "Denied (validation): the input is not valid: refused.".into();
        assert_eq!(decision.outcome, Outcome::Deny { message });
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
}

#[test]
fn a_threshold_of_zero_is_never_reached() {
    let mut scene = Scene::with(
        PermissionMode::Default,
        "deny Bash(rm *) + allow Bash(ls)",
        |context| {
            context.denial_threshold = 0;
        },
    );
    for _ in 0..9 {
        scene.bash("rm a");
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
}

#[test]
fn hooks_run_in_order_and_each_gets_the_input_of_the_one_before() {
    let change = |command: &str| exited(0, &json!({ "updatedInput": { "command": command } }).to_string());
    let mut scene = Scene::default("allow Bash(three)").hooks([change("two"), change("three")]);
    assert_eq!(
        scene.bash("one").outcome,
        Outcome::Allow {
            input: json!({ "command": "three" })
        }
    );
    let mut scene = Scene::default("allow Bash").hooks([exited(0, "DENY: no"), change("x")]);
    assert_eq!(scene.bash("one").reason, Reason::Hook("no".into()));
    assert_eq!(scene.hooks.len(), 1, "the first denial is the last hook");
}

#[test]
fn rules_see_the_input_that_hooks_leave() {
    let change = exited(0, r#"{"updatedInput":{"command":"rm a"}}"#);
    assert_eq!(
        Scene::default("deny Bash(rm *) + allow Bash")
            .hooks([change])
            .bash_ends("ls"),
        "deny rules"
    );
}

#[test]
fn a_hook_can_make_a_question_but_not_answer_it() {
    let ask = exited(
        0,
        r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"r"}}"#,
    );
    let mut scene = Scene::default("allow Bash")
        .hooks([ask.clone(), exited(0, "")])
        .answers([ALLOW]);
    assert_eq!(scene.bash_ends("ls"), "ask, allow");
    let mut bypass = Scene::new(PermissionMode::BypassPermissions, "").hooks([ask]);
    assert_eq!(bypass.bash_ends("ls"), "ask, deny prompt");
}

#[test]
fn an_allowed_call_still_meets_the_tools_check() {
    let refused = |scene: Scene| scene.tool(|_| true, Err("no".into()));
    let mut scene = refused(Scene::default("allow Bash"));
    assert_eq!(scene.bash_ends("ls"), "deny check");
    let mut scene = refused(Scene::default("")).answers([ALLOW]);
    assert_eq!(scene.bash_ends("npm test"), "ask, deny check");
    let mut scene = refused(Scene::new(PermissionMode::BypassPermissions, ""));
    assert_eq!(scene.bash_ends("ls"), "deny check");
}

#[test]
fn what_the_user_changes_is_checked_again() {
    let change = |command: &str| UserAnswer::Allow {
        updated_input: Some(json!({ "command": command })),
    };
    let scene = || Scene::default("deny Bash(rm *)").tool(|input| input["command"] != "bad", Ok(()));
    assert_eq!(
        scene().answers([change("npm ci")]).bash_ends("npm test"),
        "ask, allow"
    );
    assert_eq!(
        scene().answers([change("rm a")]).bash_ends("npm test"),
        "ask, deny rules"
    );
    assert_eq!(
        scene().answers([change("bad")]).bash_ends("npm test"),
        "ask, deny validation"
    );
}

#[test]
fn a_call_keeps_its_snapshot() {
    let mut scene = Scene::default("");
    let call = ToolCall {
        name: "Bash".into(),
        input: json!({ "command": "npm test" }),
        tool_use_id: "t".into(),
        agent: None,
    };
    let (mut evaluation, step) = scene.pipeline.start(call, scene.tool.clone(), &LexicalPaths);
    assert!(matches!(step, Step::Ask(_)));
    let mut other = PermissionContext::new("/repo", PermissionMode::Plan);
    other.avoid_prompts = true;
    scene.pipeline.begin_turn(other);
    let step = scene.pipeline.answered(&mut evaluation, ALLOW, &LexicalPaths);
    assert!(
        matches!(step, Step::Done(decision) if decision.is_allow()),
        "the turn's own context decides"
    );
}

#[test]
fn an_unknown_tool_and_an_input_that_is_no_object_are_denied_first() {
    let mut scene = Scene::new(PermissionMode::BypassPermissions, "");
    scene.tool = None;
    assert_eq!(scene.ends("Nope", json!({})), "deny validation");
    let mut scene = Scene::new(PermissionMode::BypassPermissions, "");
    assert_eq!(scene.ends("Bash", json!("ls")), "deny validation");
}

#[test]
fn an_answer_that_nobody_waited_for_denies() {
    let mut scene = Scene::new(PermissionMode::BypassPermissions, "");
    let call = ToolCall {
        name: "Bash".into(),
        input: json!({ "command": "ls" }),
        tool_use_id: "t".into(),
        agent: None,
    };
    let (mut evaluation, _) = scene.pipeline.start(call, scene.tool.clone(), &LexicalPaths);
    for step in [
        scene.pipeline.answered(&mut evaluation, ALLOW, &LexicalPaths),
        scene
            .pipeline
            .hook_ended(&mut evaluation, &exited(0, ""), &LexicalPaths),
    ] {
        assert!(matches!(step, Step::Done(decision) if !decision.is_allow()));
    }
}

#[test]
fn reading_inside_the_workspace_asks_nothing() {
    let read = |path: &str| Scene::default("").ends("Read", json!({ "file_path": path }));
    assert_eq!(read("/repo/a"), "allow");
    assert_eq!(read("/etc/passwd"), "ask, deny prompt");
    assert_eq!(
        Scene::default("ask Read(a)").ends("Read", json!({ "file_path": "/repo/a" })),
        "ask, deny prompt"
    );
    assert_eq!(Scene::default("").bash_ends("ls && cat a"), "allow");
}
