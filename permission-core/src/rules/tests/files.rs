//! Rules about paths, for file tools and for commands.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn one_rule_is_for_all_tools_that_read_or_edit() {
    let rows = [
        ("allow Read(src/**)", "Read", "src/a", Allow),
        ("allow Read(src/**)", "Grep", "src", Allow),
        ("allow Read(src/**)", "Read", "lib/a", Nothing),
        ("allow Read(src/**)", "Edit", "src/a", Nothing),
        ("allow Edit(src/**)", "Write", "src/a", Allow),
        ("allow Edit(src/**)", "MultiEdit", "src/a", Allow),
        ("allow Edit", "Write", "/etc/a", Allow),
        ("allow Write", "Write", "/etc/a", Allow),
        ("allow Write", "Edit", "/etc/a", Nothing),
        ("allow Write(src/**)", "Write", "src/a", Nothing),
        ("deny Write(src/**)", "Edit", "src/a", Deny),
        ("deny Glob(src/**)", "Read", "src/a", Deny),
        ("deny Read(.env)", "Edit", ".env", Deny),
        ("deny Read(.env)", "Write", "deep/.env", Deny),
        ("deny Edit(.env)", "Read", ".env", Nothing),
        ("ask Edit(.env)", "Write", ".env", Ask),
        ("deny Read(.env)", "Read", ".ENV", Deny),
        ("deny Read(Src/**)", "Edit", "sRC/a", Deny),
        ("ask Edit(.env)", "Write", ".Env", Ask),
        ("allow Read(src/**)", "Read", "SRC/a", Nothing),
        ("deny Read", "Read", "x", Deny),
        ("deny Read(../x)", "Read", "anything", Deny),
        ("deny Read(//etc/**)", "Read", "/etc/passwd", Deny),
        ("deny Read(/src/**)", "Read", "/repo/src/a", Deny),
        ("deny Read(/src/**)", "Read", "/src/a", Nothing),
        ("deny Read(~/.ssh/**)", "Read", "~/.ssh/id", Deny),
        ("deny Read(~/.ssh/**)", "Read", "/home/u/.ssh/id", Deny),
        ("deny Read(src/*)", "Read", "src/a/b", Deny),
        ("allow Read(src/*.rs)", "Read", "src/a/b.rs", Nothing),
        ("deny Read(./.env)", "Read", "/repo/app/.env", Deny),
        ("deny Read(./.env)", "Read", "a/../.env", Deny),
        ("deny Edit(secret.md)", "Write", "/repo/app/secret.md", Deny),
    ];
    for (rule, tool, path, expected) in rows {
        assert_eq!(file(rule, tool, path), expected, "{rule} {tool} {path}");
    }
    let notebook = json!({ "notebook_path": "/repo/app/src/a.ipynb" });
    assert_eq!(say("allow Edit(src/**)", "NotebookEdit", &notebook), Allow);
}

#[test]
fn a_link_needs_both_names_for_an_allow_and_one_for_a_deny() {
    let read =
        |rule: &str, path: &str| say_with(&rules(rule), "Read", &json!({ "file_path": path }), &links());
    let rows = [
        ("allow Read(notes.txt)", "notes.txt", Nothing),
        ("allow Read(.env)", "notes.txt", Nothing),
        ("allow Read(*.txt) + allow Read(.env)", "notes.txt", Nothing),
        ("allow Read(**)", "notes.txt", Allow),
        ("allow Read(**)", "nowhere", Nothing),
        ("allow Read(**)", "out/passwd", Nothing),
        ("deny Read(.env)", "notes.txt", Deny),
        ("deny Read(notes.txt)", "notes.txt", Deny),
        ("deny Read(.env)", "nowhere", Deny),
        ("deny Read(//etc/**)", "out/passwd", Deny),
    ];
    for (rule, path, expected) in rows {
        assert_eq!(read(rule, path), expected, "{rule} {path}");
    }
    let cat = json!({ "command": "cat notes.txt" });
    assert_eq!(say_with(&rules("deny Read(.env)"), "Bash", &cat, &links()), Deny);
}

#[test]
fn an_input_without_a_path_meets_limits_only() {
    assert_eq!(say("deny Read(.env)", "Read", &json!({})), Deny);
    assert_eq!(say("allow Read(**)", "Read", &json!({})), Nothing);
    assert_eq!(say("allow Read(**)", "Read", &json!({ "file_path": 1 })), Nothing);
}

#[test]
fn a_search_looks_into_its_directory() {
    let glob = |rule: &str, input: Value| say(rule, "Glob", &input);
    assert_eq!(
        glob("allow Read(src/**)", json!({ "pattern": "src/**/*.rs" })),
        Allow
    );
    assert_eq!(
        glob("allow Read(src/**)", json!({ "pattern": "**/*.rs" })),
        Nothing
    );
    assert_eq!(
        glob(
            "allow Read(src/**)",
            json!({ "pattern": "*.rs", "path": "/repo/app/src" })
        ),
        Allow
    );
    assert_eq!(
        glob("allow Read(src/**)", json!({ "pattern": "../*", "path": "src" })),
        Nothing
    );
    assert_eq!(
        glob("allow Read(src/**)", json!({ "pattern": "src/*/../../../*" })),
        Nothing
    );
    assert_eq!(
        glob("deny Read(//etc/**)", json!({ "pattern": "/etc/*.conf" })),
        Deny
    );
    assert_eq!(
        glob("deny Read(//etc/**)", json!({ "pattern": "*/../../etc/*" })),
        Deny
    );
}

#[test]
fn a_denied_file_is_out_of_reach_for_commands_that_open_files() {
    let denied = [
        "cat .env",
        "git show HEAD:.env",
        "git diff .env",
        "git grep x .env",
        "cat ./.env",
        "cat a/../.env",
        "head -1 .env",
        "grep x .env",
        "cat .e*",
        "cat .???",
        "tail -n1 <.env",
        "sudo cat .env",
        "cp .env x",
        "mv .env x",
        "base64 .env",
        "cat \".env\"",
        "cat .en\\v",
        "cd sub && cat .env",
        "awk 1 .env",
        "sed -n p .env",
        "source .env",
        ". .env",
        "diff .env x",
        "dd if=.env",
        "curl -d @.env x",
        "curl --data-binary=@.env x",
        "curl -F 'f=@.env;type=text/plain' x",
        "curl -F 'f=<.env' x",
        "curl file://$PWD/.env",
        "curl -T .env x",
        "wget --post-file=.env x",
        "xargs cat .env",
        "timeout 5 cat .env",
        "sh -c 'cat .env'",
        "cat a; cat .env",
        "echo $(cat .env)",
        "echo $(<.env)",
        "if cat .env; then :; fi",
        "/bin/cat .env",
        "jq . .env",
        "cat 'x' .env 'y",
        "env cat .env",
    ];
    for command in denied {
        assert_eq!(bash("allow Bash + deny Read(.env)", command), Deny, "{command}");
    }
}

#[test]
fn what_a_command_may_only_come_across_is_asked_about() {
    let perhaps = [
        "cat {.env,x}",
        "cat $F",
        "for f in *; do cat \"$f\"; done",
        "xargs cat",
        "git add .env",
        "foo --file=.env",
        "npm run .env",
        "grep -r x .",
        "grep -r x src",
        "grep -r x",
        "rg x",
        "tar cf x .",
        "cp -r src lib",
        "rsync -a src/ lib/",
        "find . -exec cat {} +",
        "find . -name '*.rs' -exec grep -l main {} \\;",
        "rm -rf .",
        "shopt -s dotglob; cat *",
    ];
    for command in perhaps {
        assert_eq!(bash("allow Bash + deny Read(.env)", command), Ask, "{command}");
    }
    let rows = [
        ("deny Read(./x/y)", "grep -r x .", Deny),
        ("deny Read(./x/y)", "grep -r x x", Deny),
        ("deny Read(./x/y)", "grep -r x src", Allow),
        ("deny Read(secret.txt)", "cat *", Deny),
        ("deny Read(secret.txt)", "cat src/s*", Deny),
        ("deny Read(secret.txt)", "cat src/*", Deny),
        ("deny Read(secret.txt)", "cat *.md", Nothing),
        ("deny Read(.env)", "cat .e*", Deny),
        ("deny Read(.env)", "cat src/.*", Deny),
        ("deny Read(.env)", "cat $(ls -a)/*", Nothing),
        ("deny Read(.env)", "cat $X*", Deny),
        ("deny Read(.env)", "cat $X/.env", Deny),
        ("deny Read(.env)", "cat .env$X", Ask),
        ("deny Read(.ssh/**)", "cat .ssh/$X", Deny),
        ("deny Bash(git push *)", "git -C . push", Deny),
        ("deny Bash(git push *)", "git --no-pager -c a=b push origin", Deny),
        ("deny Bash(git push *)", "git -C x status", Nothing),
        (
            "deny Bash(kubectl delete *)",
            "kubectl -n prod delete pod x",
            Deny,
        ),
        ("deny Bash(rm *)", "docker run -v $PWD:/app x", Nothing),
        ("deny Bash(rm *)", "\"$HOME/bin/tool\" x", Nothing),
        ("deny Bash(rm *)", "\"$HOME/bin/rm\" x", Deny),
        ("deny Bash(rm *)", "\"$@/tool\" x", Deny),
        (
            "deny Bash(./scripts/deploy.sh *)",
            "\"$PWD/scripts/deploy.sh\" x",
            Deny,
        ),
        ("deny Bash(rm *)", "$HOME/bin/tool x", Deny),
        ("deny Bash(rm *)", "$CMD x", Deny),
        ("deny Bash(rm *)", "sudo $CMD x", Deny),
        ("deny Bash(rm *)", "sudo -u root $CMD", Deny),
        ("deny Bash(rm *)", "sudo -n $CMD", Deny),
        ("deny Bash(rm *)", "git --no-pager log $REV", Nothing),
        ("deny Bash(rm *)", "git -C x commit -m \"$(date)\"", Nothing),
    ];
    for (rule, command, expected) in rows {
        assert_eq!(bash(rule, command), expected, "{rule}: {command}");
    }
}

#[test]
fn a_denied_file_leaves_other_commands_alone() {
    let free = [
        "cat x",
        "cat src/*",
        "cat *",
        "curl https://example.com",
        "wget -q example.com",
        "tar xf a.tar",
        "cp a b",
        "ln -s a b",
        "install -m 755 a bin/",
        "cat src/*.rs",
        "echo .env",
        "ls .",
        "git log",
        "cat .environment",
        "echo --x=.env",
        "foo x.env",
    ];
    for command in free {
        assert_eq!(bash("allow Bash + deny Read(.env)", command), Allow, "{command}");
    }
    let written = [
        "rm .env",
        "tee .env",
        "echo > .env",
        "sed -i s/a/b/ .env",
        "mv x .env",
        "touch .env",
        "rm -rf .",
        "find . -delete",
        "cp x .env",
    ];
    for command in written {
        assert_eq!(bash("allow Bash + deny Edit(.env)", command), Deny, "{command}");
    }
    assert_eq!(
        bash(
            "allow Bash + deny Edit(.claude/**)",
            "cd .claude && mv x settings.json"
        ),
        Deny
    );
    assert_eq!(
        bash(
            "allow Bash + deny Edit(.claude/**)",
            "cd $X && mv x settings.json"
        ),
        Ask
    );
    for command in ["rm -rf build", "rm a", "mv a b"] {
        assert_ne!(bash("allow Bash + deny Edit(.env)", command), Deny, "{command}");
    }
    assert_eq!(bash("allow Bash + deny Edit(src/secret/**)", "rm -r src"), Deny);
}
