//! The numbered cases of a sole authority, and the resolutions that its specification names A1 to A21.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn case_76_deny_wins_over_a_narrower_allow() {
    let mut scene = Scene::default("deny Bash(aws *) + allow Bash(aws s3 ls)");
    let decision = scene.bash("aws s3 ls");
    assert!(decision.is_deny());
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
    let mut headless = Scene::with(PermissionMode::Default, rules, |sole| sole.headless = true);
    let decision = headless.bash("npm test");
    assert_eq!((decision.stage, headless.asked), (Stage::Prompt, 0));
    assert!(decision.why().unwrap().contains("no prompt is available"));
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
        (exited(2, ""), "deny hooks"),
        (exited(1, ""), "deny hooks"),
        (HookRun::TimedOut, "allow"),
        (HookRun::Overflowed, "deny hooks"),
        (exited(0, "{bad"), "deny hooks"),
    ];
    for (run, expected) in rows {
        assert_eq!(
            Scene::default("allow Bash").hook(&run).bash_ends("pwd"),
            expected,
            "{run:?}"
        );
    }
    let changes = exited(0, r#"{"updatedInput":{"command":"ls"}}"#);
    let decision = Scene::default("allow Bash").hook(&changes).bash("pwd");
    assert_eq!(decision.updated_input, Some(bash("ls")));
}

#[test]
fn case_81_a_hook_that_approves_does_not_undo_a_deny_rule() {
    let said = r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    for run in [exited(0, ""), exited(0, said), HookRun::TimedOut] {
        assert_eq!(
            Scene::default("deny Bash(rm *)").hook(&run).bash_ends("rm a"),
            "deny rules"
        );
    }
}

#[test]
fn case_82_plan_denies_before_rules_can_allow() {
    let mut scene = Scene::new(PermissionMode::Plan, "allow Edit").answers([ALLOW]);
    assert_eq!(scene.ends("Edit", &file("/repo/a")), "deny rules");
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
        scene.call_as(Some("a"), "Bash", &bash("rm a"));
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
    scene.call_as(Some("a"), "Bash", &bash("ls"));
    assert_eq!(scene.asked, 1, "the subagent's call is a question");
}

#[test]
fn a_failed_validation_is_no_denial_that_counts() {
    let mut scene = Scene::default("allow Bash");
    for _ in 0..5 {
        let decision = scene.call_as(None, "Bash", &json!("ls"));
        assert_eq!(decision.stage, Stage::Validate);
        let message = "Denied (validation): the tool's input is not an object.";
        assert_eq!(decision.why().as_deref(), Some(message));
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
}

#[test]
fn a_threshold_of_zero_is_never_reached() {
    let mut scene = Scene::with(
        PermissionMode::Default,
        "deny Bash(rm *) + allow Bash(ls)",
        |sole| {
            sole.denial_threshold = 0;
        },
    );
    for _ in 0..9 {
        scene.bash("rm a");
    }
    assert_eq!(scene.bash_ends("ls"), "allow");
}

#[test]
fn rules_see_the_input_that_hooks_leave() {
    let change = exited(0, r#"{"updatedInput":{"command":"rm a"}}"#);
    assert_eq!(
        Scene::default("deny Bash(rm *) + allow Bash")
            .hook(&change)
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
    let mut scene = Scene::default("allow Bash").hook(&ask).answers([ALLOW]);
    assert_eq!(scene.bash_ends("ls"), "ask, allow");
    let mut bypass = Scene::new(PermissionMode::BypassPermissions, "").hook(&ask);
    assert_eq!(bypass.bash_ends("ls"), "ask, deny prompt");
}

#[test]
fn reading_inside_the_workspace_asks_nothing() {
    let read = |path: &str| Scene::default("").ends("Read", &file(path));
    assert_eq!(read("/repo/a"), "allow");
    assert_eq!(read("/etc/passwd"), "ask, deny prompt");
    assert_eq!(
        Scene::default("ask Read(a)").ends("Read", &file("/repo/a")),
        "ask, deny prompt"
    );
    assert_eq!(Scene::default("").bash_ends("ls && cat a"), "allow");
}

#[test]
fn what_the_user_changes_is_checked_again() {
    let ends = |changed: Value| {
        let mut scene = Scene::default("deny Bash(rm *)").answers([Some(Some(changed))]);
        scene.bash_ends("npm test")
    };
    assert_eq!(ends(bash("npm ci")), "ask, allow");
    assert_eq!(ends(bash("rm a")), "ask, deny check");
    assert_eq!(ends(json!("ls")), "ask, deny check");
}

#[test]
fn what_is_for_a_person_is_asked_in_every_mode() {
    for mode in [PermissionMode::Default, PermissionMode::BypassPermissions] {
        let mut scene = Scene::new(mode, "allow ExitPlanMode").answers([ALLOW]);
        assert_eq!(scene.ends("ExitPlanMode", &json!({})), "ask, allow", "{mode}");
    }
}
