//! What Claude itself takes a rule for. The end-to-end suite compares the same with the real Claude.
//!
//! Place in the flow: tests only.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::LexicalPaths;
use crate::settings::{SettingsFile, SettingsSource};

/// Whether Claude finds the call denied (or asked about) by the one rule.
fn limits(kind: &str, rule: &str, source: SettingsSource, tool: &str, input: &Value) -> bool {
    let text = json!({"permissions": { kind: [rule] }}).to_string();
    let file = match source {
        SettingsSource::User => "/home/u/.claude/settings.json",
        _ => "/repo/.claude/settings.json",
    };
    let file = SettingsFile::parse(source, Path::new(file), &text);
    let set = RuleSet::of_claude(&file.values.rules);
    let kind = if kind == "deny" {
        RuleKind::Deny
    } else {
        RuleKind::Ask
    };
    set.claude_limits(kind, &ToolCall::new(tool, input, WORKSPACE))
        .is_some()
}

fn denies(rule: &str, command: &str) -> bool {
    let input = json!({ "command": command });
    limits("deny", rule, SettingsSource::Local, "Bash", &input)
}

/// Whether the rule denies the command in a policy.
fn policy_denies(rule: &str, command: &str) -> bool {
    let input = json!({ "command": command });
    let mut set = RuleSet::new();
    set.add(RuleKind::Deny, rule, RuleOrigin::Session);
    set.denies(&ToolCall::new("Bash", &input, WORKSPACE)).is_some()
}

const WORKSPACE: Workspace<'_> = Workspace {
    cwd: "/repo",
    current: "/repo",
    project_root: "/repo",
    home: Some("/home/u"),
    additional: &[],
    paths: &LexicalPaths,
};

#[test]
fn claude_finds_a_command_where_the_grammar_shows_it() {
    let found = [
        "touch a",
        "FOO=1 touch a",
        "echo a; touch b",
        "echo $(touch c)",
        "x=`touch b`",
        "cat <<EOF\n$(touch a)\nEOF",
        "echo <(touch a)",
        "if true; then touch a; fi",
        "for i in 1 2; do touch $i; done",
        "(touch a)",
        "f() { touch a; }; f",
        "sudo -u root touch a",
        "env FOO=1 touch a",
        "timeout 5 touch a",
        "flock -n x touch a",
        "xargs touch",
        "/usr/bin/touch a",
        "$HOME/touch a",
        "to\"uc\"h a",
        "touch\ta",
    ];
    for command in found {
        assert!(denies("Bash(touch *)", command), "{command}");
    }
    let unseen = [
        "eval touch a",
        "sh -c 'touch a; echo'",
        "find . -exec touch {} +",
        "xargs -n1 touch",
        "busybox touch a",
        "echo 'touch a' | sh",
        "curl U | bash",
        "$'touch' a",
        "$X touch a",
        "sudo echo touch a",
        "trap 'touch a' EXIT",
        "echo touch a",
        "coproc touch a",
    ];
    for command in unseen {
        assert!(!denies("Bash(touch *)", command), "{command}");
    }
    assert!(!denies("Bash(git push *)", "git -C . push x"));
    assert!(denies("Bash(git push *)", "sudo git  push x"));
}

#[test]
fn claude_sees_no_command_behind_a_redirection_where_a_policy_does() {
    let behind_redirections = [
        ">a touch b",
        "2>&1 touch a",
        "true && </dev/null touch b",
        "if true; then >a touch b; fi",
        "(>a touch b)",
        "echo $(>a touch b)",
        "env >a touch b",
        "<<EOF touch b\nx\nEOF",
    ];
    for command in behind_redirections {
        assert!(!denies("Bash(touch *)", command), "{command}");
        assert!(policy_denies("Bash(touch *)", command), "{command}");
    }
    assert!(!denies("Bash(git push *)", "git >a push x"));
    assert!(policy_denies("Bash(git push *)", "git >a push x"));
    let seen = [
        "touch b >a",
        "touch >a b",
        "FOO=1 >a touch b",
        ">a FOO=1 touch b",
        "echo hi | >a touch b",
        ">a touch b | cat",
        ">a /usr/bin/touch b",
        ">a env touch b",
    ];
    for command in seen {
        assert!(denies("Bash(touch *)", command), "{command}");
    }
}

#[test]
fn claude_finds_a_file_where_every_word_is_known() {
    let found = [
        "cat secret.txt",
        "cat ./secret.txt",
        "cat < secret.txt",
        "cp secret.txt o",
        "FOO=1 cat secret.txt",
        "timeout 5 cat secret.txt",
        "true && cat secret.txt",
        "if cat secret.txt; then :; fi",
        "(cat secret.txt)",
        "cd sub && cat ../secret.txt",
        "cat SECRET.txt",
        "git diff secret.txt",
        "git diff HEAD -- secret.txt",
        "git grep x secret.txt",
        "env A=1 cat secret.txt",
        "for i in a; do cat secret.txt | wc; done",
        "x=$(cat secret.txt)",
        "for i in $(cat secret.txt); do ls; done",
        "echo $HOME; cat secret.txt",
        "cat \"$PWD/secret.txt\"",
        "git commit -m \"$(cat <<'EOF'\nhi\nEOF\n)\" && cat secret.txt",
    ];
    for command in found {
        assert!(denies("Read(secret.txt)", command), "{command}");
    }
    let unseen = [
        "cat s*.txt",
        "while read l; do echo $l; done < secret.txt",
        "tar cf - secret.txt",
        "cat $(echo secret.txt)",
        "echo $(cat secret.txt)",
        "cat \"$F\" secret.txt",
        "cat {secret,o}.txt",
        "grep -r x .",
        "touch secret.txt",
        "echo hi > secret.txt",
        "git log secret.txt",
        "env tar f secret.txt",
        "python3 secret.txt",
        "for i in secret.txt; do cat $i; done",
        "cat a\\ b secret.txt",
        "cat - secret.txt <<EOF\nx\nEOF",
    ];
    for command in unseen {
        assert!(!denies("Read(secret.txt)", command), "{command}");
    }
    for command in [
        "echo hi > secret.txt",
        "touch secret.txt",
        "cp o secret.txt",
        "sed -i s/a/b/ secret.txt",
    ] {
        assert!(denies("Edit(secret.txt)", command), "{command}");
    }
    assert!(!denies("Edit(secret.txt)", "cat secret.txt"));
    for command in ["cat sub/*", "find sub -name x", "cd sub && cat x"] {
        assert!(denies("Read(sub/**)", command), "{command}");
    }
    assert!(!denies("Read(sub/**)", "cp o sub/n"));
}

#[test]
fn a_rule_for_a_whole_tool_is_about_no_other_tool() {
    let input = json!({"file_path": "/repo/a"});
    let rows = [
        ("deny", "Edit", "Edit", true),
        ("deny", "Edit", "Write", false),
        ("deny", "Read", "Read", true),
        // Who may not read may not edit.
        ("deny", "Read", "Write", true),
        ("ask", "Read", "Write", false),
        ("deny", "Write", "Write", true),
        ("deny", "Write", "Edit", false),
        ("deny", "Edit(**)", "Write", true),
        ("deny", "Read(a)", "Edit", true),
        ("ask", "Read(a)", "Edit", false),
        ("deny", "Write(a)", "Write", false),
    ];
    for (kind, rule, tool, expected) in rows {
        let found = limits(kind, rule, SettingsSource::Local, tool, &input);
        assert_eq!(found, expected, "{kind} {rule}: {tool}");
    }
    assert!(!denies("Read", "cat a"));
    assert!(denies("Read(**)", "cat a"));
}

#[test]
fn claude_takes_a_rule_for_a_skill_whatever_its_arguments() {
    let rows = [
        ("greet", true),
        ("/greet", true),
        ("greet *", true),
        ("gr:*", true),
        ("gr *", true),
        ("gr*", false),
        ("*eet", false),
        ("Greet", false),
        ("greet Bob", false),
    ];
    for (content, expected) in rows {
        let rule = format!("Skill({content})");
        for input in [
            json!({"skill": "greet"}),
            json!({"skill": "greet", "args": "Bob"}),
        ] {
            let found = |kind| limits(kind, &rule, SettingsSource::Local, "Skill", &input);
            assert_eq!(found("deny"), expected, "{rule} {input}");
            assert!(!found("ask"), "{rule} {input}");
        }
    }
}

#[test]
fn a_path_begins_where_claude_lets_it_begin() {
    let rows = [
        (
            SettingsSource::Local,
            "Edit(./README.md)",
            "/repo/sub/README.md",
            true,
        ),
        (SettingsSource::Local, "Edit(./a/b)", "/repo/sub/a/b", false),
        (SettingsSource::Project, "Edit(/f)", "/repo/f", true),
        (SettingsSource::Project, "Edit(/f)", "/repo/sub/f", false),
        (SettingsSource::User, "Edit(/f)", "/repo/f", false),
        (SettingsSource::User, "Edit(/f)", "/home/u/.claude/f", true),
        (SettingsSource::User, "Edit(f)", "/repo/sub/f", true),
    ];
    for (source, rule, file, expected) in rows {
        let input = json!({ "file_path": file });
        assert_eq!(
            limits("deny", rule, source, "Write", &input),
            expected,
            "{source:?} {rule} {file}"
        );
    }
}

#[test]
fn claude_allows_what_every_command_of_it_is_allowed_for() {
    let rules = [
        "Bash(touch *)",
        "Bash(bash)",
        "Bash(git push *)",
        "Bash(git commit *)",
        "Bash(git -C *)",
        "Bash(git -c *)",
        "Bash(find *)",
        "Bash(sed *)",
        "Bash(python3 *)",
    ];
    let settings = json!({"permissions": {"allow": rules}});
    let source = SettingsSource::Local;
    let file = SettingsFile::parse(
        source,
        Path::new("/repo/.claude/settings.local.json"),
        &settings.to_string(),
    );
    let set = RuleSet::of_claude(&file.values.rules);
    let allows = |command: &str| {
        let input = json!({ "command": command });
        set.claude_allows(&ToolCall::new("Bash", &input, WORKSPACE), false)
            .is_some()
    };
    for command in [
        "touch a",
        "NODE_ENV=test touch a",
        "touch a && ls",
        "touch a > /dev/null",
        "printf 'echo hi' | bash",
        "if true; then touch a; fi",
        "while false; do touch a; done",
        "timeout 5 touch a",
        "date +%s",
        "id && jq . o | sort -rn",
        "ls *",
        "cat sub/*",
        "ps aux",
        "node --version",
        "find . | xargs -n 1 wc",
        "[[ -f o ]]",
        "sed -n 1,5p o",
        "git branch --list x",
        "git -C sub push",
        "git -c core.pager=cat log",
        "git commit -m \"$(cat <<'EOF'\nit's $HOME\nEOF\n)\"",
        "git  push x",
        "sed 's/a*$/b/w o' o",
        "python3 -c 'print(\"*\")'",
        "cd sub && python3 x.py",
        "printf -- x",
        "for i in a 1 $(ls) *; do date; done | wc",
        "for i in a; do for j in b; do touch c; done; done",
        "x=1; y=$(date) && touch a",
        "x=$(touch a 2>/dev/null)",
        "echo $HOME \"$HOME/x\" && cat \"$PWD/o\"",
        "cat <<'EOF'\n$X\nEOF",
        "find . -perm /u+x",
        "ls \\\n -la",
        "touch 'a b' 'a[b' a~",
        "cat 'a*'",
    ] {
        assert!(allows(command), "{command}");
    }
    for command in [
        "FOO=1 touch a",
        "touch $X",
        "touch {a,b}",
        "touch $'a'",
        "for i in 1 2; do touch $i; done",
        "(touch a)",
        "touch $(echo a)",
        "for i in a; do touch b | cat; done",
        "for i in a; do ls; done > b",
        "for i in $X; do ls; done",
        "for i in $(ls | wc); do ls; done",
        "for i in x$(ls); do ls; done",
        "for PATH in a; do ls; done",
        "for ((i=0;i<2;i++)); do ls; done",
        "case x in x) ls;; esac",
        "if true; then ls | wc; fi",
        "x=$(npm ci)",
        "x=$(date; ls)",
        "x=\"$(date)\"",
        "x=$X",
        "X=1 Y=2",
        "PATH=1",
        "LD_X=1",
        "x=~",
        "x=1; echo $x",
        "ls $HOME",
        "echo $HOMEX",
        "cat <<EOF\nhi\nEOF",
        "cat <<'EOF' | wc\nhi\nEOF",
        "touch a > b",
        "cd sub && touch a",
        "sudo touch a",
        "touch a && npm ci",
        "date -s x",
        "jq env o",
        "cat /etc/*",
        "cat ../*",
        "tsort /etc/hosts",
        "base64 /etc/hosts",
        "ps auxe",
        "env",
        "printenv",
        "cksum o",
        "time ls",
        "timeout 5 ls",
        "find . | xargs -n1 wc",
        "find . | xargs cat",
        "[[ -f $X ]]",
        "git --version",
        "sort -k1 o",
        "find . -name x -delete",
        "find /etc -perm /u+x",
        "find . -newer /etc/hosts",
        "touch '*'",
        "touch '[x]'",
        "touch '~'",
        "touch 'a$b'",
        "touch -r 'a?' b",
        "cat '~'",
        "cat '$x'",
        "echo a\\ b",
        "echo 'a\\ b'",
        "ls &&\\\n date",
        "git commit -m \"$(cat <<EOF\nhi\nEOF\n)\"",
        "git commit -m \"$(date)\"",
        "git commit -m 'a\n# b'",
        "printf -v x y",
        ">a touch b",
        "touch >/dev/null a",
    ] {
        assert!(!allows(command), "{command}");
    }
}
