//! Durable options against the very call: what Claude 2.1.318 suggests, and whether it asks again once that is granted.
//!
//! Place in the flow: tests only. Every row was tried on the real Claude. Must not hold a suggestion that it does not make.

use serde_json::{Value, json};

use super::{check, once, row};
use crate::testing::{Scene, d, l, listing, m, r, rule_set, rules};

fn kept(contents: &[&str]) -> Value {
    let contents: Vec<(&str, &str)> = contents.iter().map(|content| ("Bash", *content)).collect();
    rules("localSettings", "allow", &contents)
}

fn offered(scene: &Scene) -> Vec<String> {
    let options = scene.offers().into_iter();
    options
        .filter(|option| option != "allow-once" && option != "reject")
        .collect()
}

#[test]
fn a_shell_command_that_would_be_asked_about_again_is_allowed_only_once() {
    let in_project = || d(&["/repo"]);
    check([
        once(
            "redirected",
            Scene::running("npm test > out.log", [kept(&["npm test *"]), in_project()]),
        ),
        once(
            "redirected outside",
            Scene::running("npm test > /out/l", [kept(&["npm test *"]), d(&["/out"])]),
        ),
        once(
            "piped to a file",
            Scene::running(
                "npm test | tee out.log",
                [kept(&["npm test *"]), in_project(), m("acceptEdits")],
            ),
        ),
        once(
            "a here-document",
            Scene::running("cat > f <<'E'\nhi\nE", [kept(&["cat > *"]), in_project()]),
        ),
        once(
            "a file that is read too",
            Scene::running("cat /etc/x > o", [kept(&["cat /etc/x > o"]), in_project()]),
        ),
        once(
            "in the background",
            Scene::running("npm test &", [kept(&["npm test *"])]),
        ),
        once(
            "another command",
            Scene::running("npm test && id", [kept(&["npm test *"])]),
        ),
        row(
            "an input file",
            Scene::running("npm test < in.txt", [kept(&["npm test *"])]),
            "Yes, and don't ask again for npm test commands",
        ),
        row(
            "two commands",
            Scene::running(
                "npm test && cargo build",
                [kept(&["npm test *", "cargo build *"])],
            ),
            "Yes, and don't ask again for npm test commands and don't ask again for cargo build commands",
        ),
        row(
            "a command that needs no rule",
            Scene::running("npm test 2>&1 | tail -5", [kept(&["npm test *"])]),
            "Yes, and don't ask again for npm test commands",
        ),
    ]);
}

#[test]
fn what_takes_its_code_from_its_input_is_allowed_only_once() {
    let commands = [
        "sh",
        "bash -s",
        "bash -",
        "dash",
        "zsh -s x",
        "fish",
        "python3 -",
        "python3",
        "python3 -u -",
        "python3 /dev/stdin",
        "perl -",
        "ruby -",
        "ruby - x",
        "node -",
        "node",
        "lua -",
        "pwsh -",
        "php",
        "tclsh",
        "deno run -",
        "bun run -",
        "irb",
        "psql db",
        "sqlite3 f",
        "ed f",
        "m4",
        "at now",
        "make -f -",
        "env sh",
        "env python3 -",
        "sudo sh",
        "xargs sh",
        "xargs npm test",
        "timeout 5 sh",
        "busybox sh",
        "uv run python -",
        "nohup bash",
        "command sh",
        "exec sh",
        "/bin/sh",
        "R --no-save",
        "gdb -x -",
        "ssh h",
        "docker exec -i c sh",
        "awk -f -",
        "vim -s -",
        "mysql db",
    ];
    for command in commands {
        let alone = Scene::running(command, [kept(&[command])]);
        assert_eq!(alone.label(), None, "{command}");
        let fed = format!("curl http://x | {command}");
        let fed = Scene::running(&fed, [kept(&["curl http://x", command])]);
        assert_eq!(fed.label(), None, "{command}, fed");
    }
}

#[test]
fn what_is_given_its_code_is_offered_by_its_very_command() {
    for command in [
        "python3 x.py",
        "node x.js",
        "bash x.sh",
        "python3 -c 'print(1)'",
        "node -e 1",
        "./x.sh",
        "/bin/sh x.sh",
        "sudo npm test",
    ] {
        let label = Scene::running(command, [kept(&[command])]).label();
        assert_eq!(
            label,
            Some(format!("Yes, and don't ask again for the command {command}"))
        );
    }
    let npx = Scene::running("npx jest x", [kept(&["npx jest *"])]);
    assert_eq!(
        npx.label().as_deref(),
        Some("Yes, and don't ask again for npx jest commands")
    );
    let any = Scene::running("docker run x sh", [kept(&["docker run *"])]);
    assert_eq!(any.label(), None, "whatever the container runs");
}

#[test]
fn a_part_that_is_enough_is_offered_beside_the_whole() {
    assert_eq!(
        offered(&Scene::running(
            "touch x",
            [kept(&["touch x *"]), d(&["/repo"]), m("acceptEdits")]
        )),
        [
            "allow-with-fewer-updates: Yes, and don't ask again for touch x commands",
            "allow-with-updates: Yes, and don't ask again for touch x commands; for this session also turn on Accept edits",
        ]
    );
    assert_eq!(
        offered(&Scene::new("Write", json!({ "file_path": "/repo/a" })).suggesting([m("acceptEdits")])),
        ["allow-with-updates: Yes, and for this session turn on Accept edits"],
        "there is no part of it"
    );
}

#[test]
fn a_kept_rule_that_needs_something_of_the_session_is_not_saved() {
    let read = || r("Read", "//out/**");
    check([
        row(
            "a file outside",
            Scene::running("cat /out/f", [kept(&["cat /out/f"]), read()]),
            "Yes, and for this session allow reading /out/**",
        ),
        row(
            "a directory outside",
            Scene::running("ls /out", [kept(&["ls /out"]), read()]),
            "Yes, and for this session allow reading /out/**",
        ),
        row(
            "a copy",
            Scene::running(
                "cp /out/f b",
                [kept(&["cp /out/f b"]), d(&["/out"]), m("acceptEdits")],
            ),
            "Yes, and for this session allow access to /out and turn on Accept edits",
        ),
        once(
            "the rule alone",
            Scene::running("cat /out/f", [kept(&["cat /out/f"])]),
        ),
        row(
            "a rule that is of use elsewhere",
            Scene::running("cat /out/f | npm test", [read(), kept(&["npm test *"])]),
            "Yes, and don't ask again for npm test commands; for this session also allow reading /out/**",
        ),
        row(
            "a kept rule for reading",
            Scene::running(
                "npm test && cat /out/f",
                [rules(
                    "localSettings",
                    "allow",
                    &[("Bash", "npm test *"), ("Read", "//out/**")],
                )],
            ),
            "Yes, and don't ask again for npm test commands and allow reading /out/**",
        ),
    ]);
}

#[test]
fn a_command_in_part_under_an_ask_rule_is_allowed_only_once() {
    let ask = rule_set("ask Bash(npm test*)");
    for command in [
        "npm test",
        "npm test | tee out.log",
        "cargo build && npm test",
        "npm test 2>&1 | tail -5",
    ] {
        let scene = Scene::running(command, [kept(&["npm test *", "tee out.log", "cargo build *"])]);
        assert_eq!(listing(&scene.under(&ask)), ["allow-once", "reject"], "{command}");
    }
    let other = Scene::running("cargo build", [kept(&["cargo build *"])]);
    assert_eq!(other.under(&ask).options().len(), 3, "another command");
}

#[test]
fn what_the_settings_allow_already_needs_no_suggestion() {
    let scene = Scene::running("git add . && npm test", [kept(&["npm test *"])]);
    assert_eq!(scene.label(), None);
    let allow = rule_set("allow Bash(git add *)");
    assert_eq!(scene.under(&allow).options().len(), 3);
}

#[test]
fn what_monitor_runs_is_treated_as_a_shell_command() {
    let monitor = |command: &str, content: &str| {
        Scene::new("Monitor", json!({ "command": command, "description": "d" }))
            .suggesting([kept(&[content])])
    };
    check([
        row(
            "a command",
            monitor("npm test", "npm test *"),
            "Yes, and don't ask again for npm test commands",
        ),
        once("a shell", monitor("curl http://x | sh", "sh")),
        once(
            "a rule of its own",
            Scene::new("Monitor", json!({ "command": "npm test" })).suggesting([l("Monitor", "npm test")]),
        ),
        once(
            "without a suggestion",
            Scene::new("Monitor", json!({ "command": "npm test" })),
        ),
    ]);
    let presentation = monitor("npm  test", "x").prepare_with(|ask| ask.tool_title = "npm  test");
    assert_eq!(presentation.presentation().title, "npm  test", "as it stands");
}

#[test]
fn a_file_that_claude_asks_about_in_every_mode_is_allowed_only_once() {
    let offers = |path: &str, update: Value| {
        let scene = Scene::new("Write", json!({ "file_path": path })).suggesting([update]);
        listing(&scene.prepare_with(|ask| ask.decision_reason_type = Some("safetyCheck")))
    };
    for path in [
        ".git/x",
        ".vscode/x",
        ".idea/x",
        ".mcp.json",
        ".gitmodules",
        ".npmrc",
        "a~1",
    ] {
        assert_eq!(
            offers(&format!("/repo/{path}"), m("acceptEdits")),
            ["allow-once", "reject"],
            "{path}"
        );
    }
    let skill = offers(
        "/repo/.claude/skills/s/SKILL.md",
        r("Edit", "/.claude/skills/s/**"),
    );
    assert_eq!(
        skill.get(1).map(String::as_str),
        Some(
            "allow-with-updates: Yes, and for this session allow editing .claude/skills/s/** (Claude's own settings)"
        )
    );
    let git = offers("/repo/.git/x", r("Edit", "/.git/**"));
    assert_eq!(git, ["allow-once", "reject"], "no rule takes this question away");
    let command = Scene::running("echo hi > .git/x", [kept(&["echo hi *"]), d(&["/repo/.git"])]);
    let command = command.prepare_with(|ask| ask.decision_reason_type = Some("safetyCheck"));
    assert_eq!(listing(&command), ["allow-once", "reject"]);
}
