//! Shell commands that must not slip past: each with an allow rule for its harmless part (no allow comes out), a deny
//! rule for the dangerous one, and an ask rule for it.
//!
//! Place in the flow: tests only.

use super::*;

/// The harmless part's allow rule, the dangerous part's content, and texts.
const ROWS: &[(&str, &str, &[&str])] = &[
    (
        "Bash(git log *)",
        "id *",
        &[
            "git log; id",
            "git log && id",
            "git log || id",
            "git log | id",
            "git log |& id x",
            "git log & id",
            "git log\nid",
            "{ git log; id; }",
            "(git log; id)",
            "! id",
            "git log $(id)",
            "git log `id`",
            "git log <(id)",
            "git log > >(id)",
            "git log $(echo $(id))",
            "git log ${x:-$(id)}",
            "git log \"$(id)\"",
            "git log $((1+$(id)))",
            "git -c core.pager=id log",
            "git log; if id; then :; fi",
            "git log; while :; do id; done",
            "git log; case x in x) id;; esac",
            "git log; coproc id",
            "git log; trap 'id' EXIT",
            "git log; rm() { id; }; rm",
            "awk 'BEGIN{system(\"id\")}'",
            "sed 's/x/id/e' f",
            "tar --to-command=id -xf a",
            "git log; id x y",
            "git log;id",
            "git log&&id",
            "X=1 id",
            "git log -1 # x\nid",
            "git log \\\n; id",
            "git log <<E\n$(id)\nE",
            "id",
            "git log <<< \"$(id)\"",
            "git log | while read x; do id; done",
            "git log; alias x=id",
            "git log; exec id",
            "git log;\tid",
        ],
    ),
    (
        "Bash(cat *)",
        "id *",
        &[
            "cat <<EOF\n$(id)\nEOF",
            "cat <<EOF\n`id`\nEOF",
            "cat <(id)",
            "cat <<<\"$(id)\"",
            "bash <<EOF\nid\nEOF",
        ],
    ),
    (
        "Bash(git log *)",
        "sh *",
        &["git log | sh", "git log | /bin/sh", "git log | sh -s"],
    ),
    ("Bash(git log *)", "tee *", &["git log |& tee f"]),
    (
        "Bash(git *)",
        "git -c *",
        &["git -c core.pager=id log", "/usr/bin/git -c a.b=c log"],
    ),
    (
        "Bash(git log *)",
        "git log*--output*",
        &[
            "git log --output=f",
            "git log -1 --output=f",
            "git log '--output=f'",
        ],
    ),
    (
        "Bash(timeout *)",
        "rm *",
        &["timeout 5 rm a", "timeout -s 9 5 rm a", "timeout -k 1 5 rm a"],
    ),
    ("Bash(nice *)", "rm *", &["nice -n 5 rm a", "nice rm a"]),
    ("Bash(nohup *)", "rm *", &["nohup rm a"]),
    ("Bash(stdbuf *)", "rm *", &["stdbuf -o0 rm a"]),
    ("Bash(time *)", "rm *", &["time rm a", "\\time rm a"]),
    (
        "Bash(xargs *)",
        "rm *",
        &["xargs rm", "xargs -0 rm", "xargs -I{} sh -c 'rm {}'"],
    ),
    (
        "Bash(env *)",
        "rm *",
        &[
            "env rm a",
            "env -i rm a",
            "env FOO=1 rm a",
            "env -i sh -c \"rm a\"",
            "env -S 'rm a'",
        ],
    ),
    (
        "Bash(sudo *)",
        "rm *",
        &["sudo rm a", "sudo -u root rm a", "sudo -- rm a"],
    ),
    ("Bash(command *)", "rm *", &["command rm a", "command -p rm a"]),
    (
        "Bash(builtin *)",
        "rm *",
        &["builtin eval \"rm a\"", "builtin eval rm a"],
    ),
    ("Bash(exec *)", "rm *", &["exec rm a", "exec -a x rm a"]),
    (
        "Bash(busybox *)",
        "rm *",
        &["busybox rm a", "busybox sh -c 'rm a'"],
    ),
    ("Bash(repeat *)", "rm *", &["repeat 3 rm a", "- rm a"]),
    ("Bash(npx *)", "rm *", &["npx rm a"]),
    (
        "Bash(docker *)",
        "rm *",
        &[
            "docker exec c rm a",
            "docker exec -it c sh -c 'rm a'",
            "docker run --rm i rm a",
        ],
    ),
    ("Bash(watch *)", "rm *", &["watch rm a", "watch 'rm a'"]),
    (
        "Bash(find *)",
        "rm *",
        &[
            "find . -exec rm {} +",
            "find . -execdir rm {} \\;",
            "find . -ok sh -c 'rm a' \\;",
        ],
    ),
    (
        "Bash(find *)",
        "find . -delete*",
        &["find . -delete", "find  . -delete"],
    ),
    (
        "Bash(ls *)",
        "rm *",
        &[
            "FOO=1 rm a",
            "ls; rm b",
            "ls $(rm c)",
            "r\\m a",
            "\"rm\" a",
            "$'\\x72m' a",
            "/bin/rm a",
            "./rm a",
            "$CMD a",
            "${x}m a",
            "r''m a",
            "cd / ; rm a",
            "pushd /; rm a",
            "for f in *; do rm $f; done",
            "bash -lc 'rm a'",
            "sh -c \"rm a\"",
            "eval \"rm a\"",
            "eval r''m a",
            "r? a",
            "/bin/r* a",
            "{rm,a}",
            "rm\ta",
            "  rm   a",
            "rm",
            "ls && rm",
            "=rm a",
            "python -c \"import os; os.system('rm a')\"",
            "perl -e 'system(\"rm a\")'",
            "ls 'open; rm a",
            "ls ); rm a",
            "ls\0; rm a",
            "ls\u{1b}; rm a",
            "ls\r\nrm a",
            "ls !(x); rm a",
            "( ( rm x ) )",
            "((rm x) )",
            "rm() { id; }; rm",
            "function rm { id; }; rm a",
            "alias x='rm a'; x",
            "IFS=/ rm a",
            "ls <<''\nx\n; rm a",
            "su -c 'rm a'",
            "ssh h 'rm a'",
            "$(echo rm) a",
            "`echo rm` a",
            "ls | xargs rm",
            "if rm a; then ls; fi",
            "ls & rm a &",
        ],
    ),
    (
        "Bash(ls *)",
        "mv *",
        &[
            "cd .claude && mv x settings.json",
            "ls; cd .claude; mv x settings.json",
        ],
    ),
];

#[test]
fn nothing_dangerous_is_allowed_with_its_harmless_part() {
    for (allow, _, commands) in ROWS {
        for command in *commands {
            assert_eq!(
                bash(&format!("allow {allow}"), command),
                Nothing,
                "{allow}: {command:?}"
            );
        }
    }
}

#[test]
fn everything_dangerous_is_denied_whatever_it_is_wrapped_in() {
    for (allow, dangerous, commands) in ROWS {
        let rules = format!("allow {allow} + allow Bash + deny Bash({dangerous})");
        for command in *commands {
            assert_eq!(bash(&rules, command), Deny, "{dangerous}: {command:?}");
        }
    }
}

#[test]
fn everything_dangerous_is_asked_about_whatever_else_is_allowed() {
    for (allow, dangerous, commands) in ROWS {
        let rules = format!("allow {allow} + allow Bash + ask Bash({dangerous})");
        for command in *commands {
            assert_eq!(bash(&rules, command), Ask, "{dangerous}: {command:?}");
        }
    }
}

#[test]
fn redirections_are_file_writes() {
    let rows = [
        ("git log > ~/.bashrc", "~/.bashrc"),
        ("git log >> f", "f"),
        ("git log 2> f", "f"),
        ("git log &> f", "f"),
        ("git log >| f", "f"),
        ("git log >& f", "f"),
        ("git log > \"f\"", "f"),
        ("git log > a/../f", "f"),
        ("cd d; git log > f", "d/f"),
        ("exec 3<> /dev/tcp/h/1", "//dev/**"),
        ("> f git log", "f"),
        ("git log > f*", "f1"),
        ("{ git log; } > f", "f"),
        ("if git log; then :; fi > f", "f"),
        ("echo $(git log > f)", "f"),
        ("git log | tee f", "f"),
    ];
    for (command, path) in rows {
        let allow = "allow Bash(git log *) + allow Bash(exec *) + allow Bash(tee *)";
        if !command.contains("tee") {
            assert_eq!(bash(allow, command), Nothing, "{command}");
        }
        assert_eq!(
            bash(&format!("{allow} + allow Bash + deny Edit({path})"), command),
            Deny,
            "{command}"
        );
        assert_eq!(
            bash(&format!("{allow} + allow Bash + ask Edit({path})"), command),
            Ask,
            "{command}"
        );
    }
    // Where it writes nobody knows.
    assert_eq!(bash("allow Bash(git log *)", "git log > $F"), Nothing);
    assert_eq!(bash("allow Bash + deny Edit(f)", "git log > $F"), Ask);
    assert_eq!(bash("allow Bash(git log *)", "git log < /etc/shadow"), Nothing);
    assert_eq!(
        bash(
            "allow Bash(git log *) + deny Read(//etc/shadow)",
            "git log < /etc/shadow"
        ),
        Deny
    );
    assert_eq!(bash("allow Bash(git log *)", "git log > /dev/null 2>&1"), Allow);
    assert_eq!(
        bash("allow Bash(git log *) + allow Edit(f)", "git log > f"),
        Allow
    );
    assert_eq!(
        bash("allow Bash(git log *) + allow Edit(f)", "git log > g"),
        Nothing
    );
}

#[test]
fn harmless_relatives_are_allowed() {
    let rows = [
        ("cat <<'EOF'\n$(id)\nEOF", "allow Bash(cat *)"),
        ("git log > /dev/null", "allow Bash(git log *)"),
        ("git log | head -5 | wc -l", "allow Bash(git log *)"),
        ("timeout 5 git log", "allow Bash(git log *)"),
        ("LANG=C git log", "allow Bash(git log *)"),
        ("git log 2>&1", "allow Bash(git log *)"),
        ("git log -- $FILE", "allow Bash(git log -- $FILE)"),
        ("sudo apt update", "allow Bash(sudo apt *)"),
        ("docker exec web ls", "allow Bash(docker exec web ls *)"),
        ("find . -exec grep x {} +", "allow Bash(find . -exec grep x {} +)"),
        ("python -c 'print(1)'", "allow Bash(python -c 'print(1)')"),
        ("python run.py --x", "allow Bash(python *)"),
        ("sed s/a/b/ f", "allow Bash(sed *)"),
        ("awk '{print $1}' f", "allow Bash(awk *)"),
        ("echo $(id)", "allow Bash"),
        ("ls -la && cat src/a", ""),
        ("cd src && ls", ""),
    ];
    for (command, rule) in rows {
        assert_eq!(bash(rule, command), Allow, "{rule}: {command}");
    }
}

#[test]
fn limits_leave_alone_what_they_are_not_about() {
    let rows = [
        ("deny Bash(rm *)", "echo rm a"),
        ("deny Bash(rm *)", "git commit -m \"rm a file\""),
        ("deny Bash(rm *)", "grep 'rm ' f"),
        ("deny Bash(rm *)", "cat > f <<'E'\nrm a\nE"),
        ("deny Bash(rm *)", "ls # rm a"),
        ("deny Bash(rm *)", "rmdir a"),
        ("deny Bash(rm *)", "command -v rm"),
        (
            "deny Bash(rm *)",
            "git commit -m \"$(cat <<'E'\nrm a `b` don't (\nE\n)\"",
        ),
        ("deny Read(.env)", "cat src/*.rs"),
        ("deny Read(.env)", "echo .env"),
        ("deny Edit(.env)", "cat .env"),
        ("deny Bash(git push *)", "git log"),
    ];
    for (rule, command) in rows {
        assert_ne!(bash(rule, command), Deny, "{rule}: {command}");
    }
}

#[test]
fn many_parts_do_not_hide_a_denied_one() {
    let rule = "allow Bash(true *) + deny Bash(rm *)";
    assert_eq!(bash(rule, &format!("{}rm a", "true;".repeat(51))), Deny);
    assert_eq!(bash(rule, &format!("{}rm a", "true;".repeat(10_000))), Deny);
    assert_eq!(bash("allow Bash(true *)", &"true;".repeat(10_000)), Nothing);
    assert_eq!(
        bash("allow Bash", &format!("echo {}", "x".repeat(300_000))),
        Allow
    );
    assert_eq!(
        bash(rule, &format!("echo {}", "x".repeat(300_000))),
        Deny,
        "too long to tell"
    );
}
