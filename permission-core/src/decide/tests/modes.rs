//! What each mode changes.
//!
//! Place in the flow: tests only.

use super::*;

fn ends(mode: PermissionMode, rules: &str, tool: &str, input: &Value) -> String {
    Scene::new(mode, rules).answers([ALLOW]).ends(tool, input)
}

#[test]
fn plan_reads_and_plans_and_nothing_else() {
    let mode = PermissionMode::Plan;
    let rows = [
        ("Edit", file("/repo/a"), "deny rules"),
        ("Write", file("/repo/plan.md"), "allow"),
        ("Write", file("/repo/x/../plan.md"), "allow"),
        ("Write", file("/repo/plan.md/x"), "deny rules"),
        ("Read", file("/repo/a"), "allow"),
        ("Bash", bash("ls"), "allow"),
        ("Bash", bash("node --version"), "deny rules"),
        ("Bash", bash("ls > f"), "deny rules"),
        ("Bash", bash("ls; rm a"), "deny rules"),
        ("Bash", bash("ls $(rm a)"), "deny rules"),
        ("mcp__s__t", json!({}), "deny rules"),
        ("ExitPlanMode", json!({}), "ask, allow"),
        ("AskUserQuestion", json!({}), "ask, allow"),
        ("WebSearch", json!({}), "ask, allow"),
    ];
    for (tool, input, expected) in rows {
        let mut scene = Scene::new(mode, "allow Edit(plan.md) + allow Bash");
        scene.plan_file = Some("/repo/plan.md");
        scene.answers.push_back(ALLOW);
        assert_eq!(scene.ends(tool, &input), expected, "{tool} {input}");
    }
    assert_eq!(ends(mode, "deny Bash(ls *)", "Bash", &bash("ls")), "deny rules");
    let mut hooked = Scene::new(mode, "").hook(&exited(0, "DENY: first"));
    assert_eq!(
        hooked.ends("Edit", &file("/repo/a")),
        "deny hooks",
        "hooks run first"
    );
}

#[test]
fn accept_edits_accepts_edits_of_the_workspace_only() {
    let mode = PermissionMode::AcceptEdits;
    let rows = [
        ("Edit", file("/repo/a"), "allow"),
        ("Write", file("/repo/src/a"), "allow"),
        ("Write", file("/etc/a"), "ask, allow"),
        ("Write", file("/repo/.claude/settings.json"), "ask, allow"),
        ("Bash", bash("ls > f"), "allow"),
        ("Bash", bash("ls > .claude/settings.json"), "ask, allow"),
        ("Bash", bash("npm test"), "ask, allow"),
    ];
    for (tool, input, expected) in rows {
        assert_eq!(ends(mode, "", tool, &input), expected, "{tool} {input}");
    }
    assert_eq!(ends(mode, "ask Edit(a)", "Edit", &file("/repo/a")), "ask, allow");
    assert_eq!(ends(mode, "deny Edit(a)", "Edit", &file("/repo/a")), "deny rules");
}

#[test]
fn dont_ask_denies_what_would_be_asked() {
    let mode = PermissionMode::DontAsk;
    assert_eq!(ends(mode, "", "Bash", &bash("npm test")), "deny prompt");
    assert_eq!(
        ends(mode, "allow Bash(npm test)", "Bash", &bash("npm test")),
        "allow"
    );
    assert_eq!(
        ends(mode, "ask Bash(npm *)", "Bash", &bash("npm test")),
        "deny prompt"
    );
}

#[test]
fn bypass_asks_nothing_but_keeps_limits_hooks_and_checks() {
    let mode = PermissionMode::BypassPermissions;
    assert_eq!(ends(mode, "", "Bash", &bash("npm test $(x)")), "allow");
    assert_eq!(
        ends(mode, "deny Bash(npm *)", "Bash", &bash("npm test")),
        "deny rules"
    );
    assert_eq!(
        ends(mode, "ask Bash(npm *)", "Bash", &bash("npm test")),
        "ask, allow"
    );
    let mut hooked = Scene::new(mode, "").hook(&exited(0, "DENY: no"));
    assert_eq!(hooked.bash_ends("ls"), "deny hooks");
}

#[test]
fn auto_asks_what_no_rule_allows() {
    let mut scene = Scene::new(PermissionMode::Auto, "");
    assert_eq!(scene.bash_ends("npm test"), "ask, deny prompt");
}

#[test]
fn without_a_prompt_every_question_is_a_denial() {
    let headless = |rules: &str, command: &str| {
        let mut scene = Scene::with(PermissionMode::Default, rules, |sole| sole.headless = true);
        scene.answers.push_back(ALLOW);
        scene.bash_ends(command)
    };
    assert_eq!(headless("", "npm test"), "deny prompt");
    assert_eq!(headless("ask Bash(npm *)", "npm test"), "deny prompt");
    assert_eq!(headless("allow Bash(npm *)", "npm test"), "allow");
    let mut scene = Scene::with(
        PermissionMode::Default,
        "deny Bash(rm *) + allow Bash(ls)",
        |sole| {
            sole.headless = true;
        },
    );
    for _ in 0..3 {
        scene.bash("rm a");
    }
    assert_eq!(scene.bash_ends("ls"), "deny prompt");
}
