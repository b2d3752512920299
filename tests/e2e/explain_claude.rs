//! What `policy explain` says about Claude without a policy, against what the real Claude does with the same settings
//! and calls; and what a session says about rules that do not count.

use e2e_tests::harness::{Turn, World, allow_once};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::write_settings;
use crate::policy_support::{asked, bash, id, run_calls, status, told};
use crate::support::greet;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        explain_says_what_claude_does,
        explain_says_what_claude_does_with_settings_of_operators,
        rules_that_do_not_count_are_told_once_each,
    ];
    all.extend(cases![Rehearsal, Stdio:
        explain_takes_commands_and_answers_with_its_exit_code,
        explain_refuses_what_nobody_can_call,
        explain_names_the_part_that_decides,
    ]);
    all
}

const USER: &str = "home/.claude/settings.json";
const LOCAL: &str = "project/.claude/settings.local.json";

/// What Claude runs without any rule.
const UNASKED: [&str; 10] = [
    "date +%s",
    "id",
    "ls *",
    "cat sub/*",
    "jq .a keep.txt",
    "ps aux",
    "node --version",
    "ls | xargs -n 1 echo",
    "[[ -f x ]]",
    "sed -n 1,5p keep.txt",
];
/// What it asks about, though some of it only reads. (`timeout 5 ls` is not here: 2.1.332 runs it, 2.1.318 asks.)
const NOT_UNASKED: [&str; 9] = [
    "env",
    "printenv",
    "cksum keep.txt",
    "time ls",
    "ls | xargs -n1 echo",
    "ps auxe",
    "jq env keep.txt",
    "cat /etc/host*",
    "git --version",
];

/// What these rules allow: to `touch`, `git push`, `find`, `python3` and `git -C`.
const ALLOWED: [&str; 9] = [
    "git -C sub push x",
    "git  push x",
    "python3 -c 'print(\"*\")'",
    "cd . && python3 -V",
    "touch 'a b' 'a[b' a~",
    "find . -perm /u+x",
    "find . | xargs -n 1 wc",
    "printf -- x",
    "cat 'a*'",
];
/// What they do not allow.
const NOT_ALLOWED: [&str; 13] = [
    "touch '*'",
    "touch \"a?\"",
    "touch '[x]'",
    "touch 'a$b'",
    "cat '~'",
    "echo 'a\\ b'",
    "cd sub; cd ..; ls",
    "printf -v x y",
    "find . -name nothing -exec touch {} +",
    "find . -newer /etc/hosts",
    "touch >/dev/null a",
    "time -p touch a",
    "touch \"$PWD/x\"",
];
/// Claude 2.1.318 does not see what a rule denies in these, 2.1.332 does.
const BEHIND_REDIRECTIONS: [&str; 6] = [
    ">a touch b",
    "2>&1 touch a",
    "true && </dev/null touch b",
    "if true; then >a touch b; fi",
    "git >a push x",
    "env >a touch b",
];
/// In these both see it.
const BEFORE_REDIRECTIONS: [&str; 5] = [
    "touch b >a",
    "touch >a b",
    "FOO=1 >a touch b",
    "echo hi | >a touch b",
    ">a /usr/bin/touch b",
];
/// Loops and variables that Claude looks into, and finds nothing but reading.
const LOOPS: [&str; 9] = [
    "ls",
    "for i in a 1 $(ls) *; do date; done | wc",
    "for i in a; do for j in b; do ls sub && pwd; done; done",
    "if true; then for i in a; do date; done; fi",
    "x=1; y=$(date) && ls",
    "x=a*",
    "echo $HOME \"$HOME/x\"",
    "cat \"$PWD/keep.txt\"",
    "ls \\\n -la",
];
/// Those that it does not look into, or that do more.
const OTHER_LOOPS: [&str; 16] = [
    "for i in a; do ls | wc; done",
    "for i in a; do ls; done > made9",
    "for i in a; do echo $i; done",
    "for i in x$(ls); do ls; done",
    "for PATH in a; do ls; done",
    "if true; then ls | wc; fi",
    "x=$(date; ls)",
    "x=$(touch made9)",
    "x=1; echo $x",
    "X=1 Y=2",
    "CDPATH=x",
    "x=~",
    "ls $HOME",
    "cat <<EOF\nhi\nEOF",
    "cat <<'EOF' | wc\nhi\nEOF",
    "ls &&\\\n date",
];
/// Where Claude sees the file `secret.txt`.
const SEEN_INSIDE: [&str; 5] = [
    "cat secret.txt",
    "for i in a; do cat secret.txt | wc; done",
    "x=$(cat secret.txt)",
    "echo $HOME; cat secret.txt",
    "cat \"$PWD/secret.txt\"",
];
/// Runs or is denied, by the version of Claude; `explain` says which.
const HIDDEN: &str = "hidden";
/// How Claude itself writes a message.
const COMMIT: &str = "git commit -m \"$(cat <<'EOF'\nit's $HOME\nEOF\n)\"";

/// Settings, and calls with what becomes of them.
struct Group {
    user: String,
    local: String,
    mode: &'static str,
    calls: Vec<((&'static str, Value), &'static str)>,
}

impl Group {
    fn in_mode(self, mode: &'static str) -> Self {
        Self { mode, ..self }
    }
}

fn group(user: &Value, calls: Vec<((&'static str, Value), &'static str)>) -> Group {
    Group {
        user: json!({ "permissions": user }).to_string(),
        local: "{}".to_owned(),
        mode: "default",
        calls,
    }
}

fn all(outcome: &'static str, commands: &[&str]) -> Vec<((&'static str, Value), &'static str)> {
    commands.iter().map(|command| (bash(command), outcome)).collect()
}

fn file(world: &World, tool: &'static str, path: &str) -> (&'static str, Value) {
    let path = world.project().join(path);
    match tool {
        "Read" => (tool, json!({ "file_path": path })),
        _ => (tool, json!({ "file_path": path, "content": "new\n" })),
    }
}

fn groups(world: &World) -> Vec<Group> {
    let file = |tool, path| file(world, tool, path);
    let cut_off = Group {
        user: r#"{"permissions": {"deny": ["Bash(touch *)"]}, "#.to_owned(),
        local: json!({"permissions": {"allow": ["Bash"]}}).to_string(),
        mode: "default",
        calls: all("runs", &["touch made1"]),
    };
    let wrong_kind = Group {
        user: r#"{"permissions": {"deny": ["Bash(touch *)"]}, "model": 5}"#.to_owned(),
        local: json!({"permissions": {"allow": ["Bash"]}}).to_string(),
        mode: "default",
        calls: all("runs", &["touch made2"]),
    };
    let pipes = json!({"allow": ["Bash(printf *)", "Bash(bash)"], "deny": ["Bash(grep * /etc/*)"]});
    let secret = json!({"deny": ["Read(secret.txt)"], "allow": ["Bash"]});
    let touch = json!({"deny": ["Bash(touch *)", "Bash(git push *)"], "allow": ["Bash"]});
    let seen = [
        "cat secret.txt",
        "head -n1 ./secret.txt",
        "cat < secret.txt",
        "true && cat secret.txt",
        "(cat secret.txt)",
        "cd sub && cat ../secret.txt",
        "cat SECRET.txt",
        "git diff secret.txt",
        "env cat secret.txt",
    ];
    let unseen = [
        "cat s*.txt",
        "while read l; do echo $l; done < secret.txt",
        "tar cf - secret.txt",
        "echo $(cat secret.txt)",
        "cat \"$F\" secret.txt",
    ];
    let named = [
        "FOO=1 touch a",
        "echo $(touch c)",
        "if true; then touch a; fi",
        "f() { touch a; }; f",
        "env -u X touch a",
        "timeout 5 touch a",
        "/usr/bin/touch a",
        "to\"uc\"h a",
        "git push x",
    ];
    let not_named = [
        "eval touch made3",
        "find sub -name nothing -exec touch {} +",
        "echo touch a",
        "git -C . push x",
        "for i in 1 2; do python3 x.py $i; done",
        "python3 x.py \"$ARG\"",
    ];
    vec![
        group(
            &json!({"deny": ["Bash(npm publish)*"]}),
            all("runs", &["echo hi"]),
        ),
        group(
            &json!({"deny": ["Glob(private/**)", "Write(keep.txt)"], "allow": ["Write"]}),
            vec![
                (file("Read", "private/a"), "runs"),
                (file("Read", "keep.txt"), "runs"),
                (file("Write", "keep.txt"), "runs"),
            ],
        ),
        cut_off,
        wrong_kind,
        group(&pipes, all("runs", &["printf 'echo hi' | bash"])),
        group(&secret, [all("denied", &seen), all("runs", &unseen)].concat()),
        group(
            &json!({"deny": ["Edit(./README.md)"], "allow": ["Write"]}),
            vec![
                (file("Write", "sub/README.md"), "denied"),
                (file("Write", "sub/other.md"), "runs"),
            ],
        ),
        group(
            &json!({"allow": ["Edit"]}),
            vec![(file("Write", "made4"), "asked")],
        ),
        group(
            &json!({"deny": ["Edit"], "allow": ["Write"]}),
            vec![(file("Write", "made5"), "runs")],
        ),
        group(
            &json!({"deny": ["Read(sub/**)"], "allow": ["Write"]}),
            vec![(file("Write", "sub/x"), "denied")],
        ),
        group(&json!({"ask": ["Bash(echo *)"]}), all("asked", &["echo asked"])),
        group(
            &json!({}),
            [all("runs", &UNASKED), all("asked", &NOT_UNASKED)].concat(),
        ),
        group(&touch, [all("denied", &named), all("runs", &not_named)].concat()),
        group(&json!({}), protected(world)).in_mode("acceptEdits"),
        group(
            &json!({"allow": ["Bash", "Write", "Edit(.envrc)"], "deny": ["Edit(keep.txt)"]}),
            [
                vec![
                    (file("Write", ".envrc"), "asked"),
                    (file("Write", ".claude/x"), "asked"),
                ],
                all("asked", &["touch .yarnrc", "echo x > .profile"]),
                all("runs", &["cat .yarnrc"]),
                all("denied", &["rm keep.txt"]),
            ]
            .concat(),
        ),
        group(
            &json!({"allow": ["Bash(touch *)", "Bash(git push *)", "Bash(find *)", "Bash(python3 *)", "Bash(git -C *)"]}),
            [all("runs", &ALLOWED), all("asked", &NOT_ALLOWED)].concat(),
        ),
        group(
            &json!({"allow": ["Bash(git *)"], "ask": ["Bash(git push *)"]}),
            [
                all("runs", &["git -C sub push", "git -c a.b=c push x", COMMIT]),
                all("asked", &["git push x", "FOO=1 git push x"]),
            ]
            .concat(),
        ),
        group(
            &touch,
            [
                all("denied", &BEFORE_REDIRECTIONS),
                all(HIDDEN, &BEHIND_REDIRECTIONS),
            ]
            .concat(),
        ),
        group(
            &json!({}),
            [all("runs", &LOOPS), all("asked", &OTHER_LOOPS)].concat(),
        ),
        group(&secret, all("denied", &SEEN_INSIDE)),
        group(&json!({"allow": ["Skill(greet)"]}), skills("runs")),
        group(
            &json!({"allow": ["Skill"], "ask": ["Skill(greet)"]}),
            skills("runs"),
        ),
        group(
            &json!({"allow": ["Skill"], "deny": ["Skill(gr:*)"]}),
            skills("denied"),
        ),
        group(&json!({"allow": ["Skill(gr*)"]}), skills("asked")),
    ]
}

/// A skill without and with arguments.
fn skills(outcome: &'static str) -> Vec<((&'static str, Value), &'static str)> {
    let inputs = [
        json!({"skill": "greet"}),
        json!({"skill": "greet", "args": "Bob"}),
    ];
    inputs.map(|input| (("Skill", input), outcome)).into()
}

fn operators(world: &World) -> Vec<Group> {
    let file = |tool, path| file(world, tool, path);
    let build = json!({"allow": ["Bash(cargo test:*)"], "deny": ["Bash(cargo publish:*)"]});
    let docker = json!({"ask": ["Bash(docker *)"], "allow": ["Bash"]});
    let outside =
        json!({"deny": ["Read(//etc/**)", "Read(~/.ssh/**)", "Edit(//opt/**)"], "allow": ["Bash", "Read"]});
    let force = json!({"deny": ["Bash(* --force*)"], "allow": ["Bash(git *)"]});
    let npm = json!({"allow": ["Bash(npm:*)"], "deny": ["Bash(npm publish)"]});
    let further = json!({"additionalDirectories": ["/opt"], "allow": ["Bash(touch *)"]});
    let rows = |runs: &[&'static str], asked: &[&'static str], denied: &[&'static str]| {
        [all("runs", runs), all("asked", asked), all("denied", denied)].concat()
    };
    vec![
        group(
            &build,
            rows(
                &[
                    "pwd",
                    "cargo test -p x 2>&1 | head -3",
                    "RUST_BACKTRACE=1 cargo test",
                ],
                &["cargo --version", "cargo test > made10"],
                &["cargo test && cargo publish --dry-run", "cargo  publish"],
            ),
        ),
        group(
            &docker,
            rows(
                &["pwd"],
                &[
                    "sudo docker ps",
                    "for i in a; do docker ps; done",
                    "x=$(docker ps)",
                ],
                &[],
            ),
        ),
        group(
            &outside,
            [
                rows(
                    &["pwd"],
                    &[],
                    &[
                        "cd /etc && ls",
                        "grep root /etc/passwd | wc -l",
                        "cat \"$HOME/.ssh/id\"",
                        "ls ~/.ssh",
                        "cp keep.txt /opt/acp-made",
                    ],
                ),
                vec![(("Read", json!({"file_path": "/etc/hostname"})), "denied")],
            ]
            .concat(),
        ),
        group(
            &json!({"allow": ["Edit(sub/**)"]}),
            [
                vec![
                    (file("Write", "sub/made11"), "runs"),
                    (file("Write", "made12"), "asked"),
                ],
                rows(
                    &["echo x > sub/made13"],
                    &["mkdir sub/made14", "sed -i s/x/y/ sub/x"],
                    &[],
                ),
            ]
            .concat(),
        ),
        group(
            &further,
            rows(&["ls /opt", "touch /opt/acp-none/x"], &["ls /srv"], &[]),
        ),
        group(
            &force,
            rows(
                &["git push -f"],
                &[],
                &["git push origin --force-with-lease", "git -C sub push --force"],
            ),
        ),
        group(&npm, rows(&["npm publish --dry-run"], &[], &["npm publish"])),
        group(
            &json!({}),
            rows(
                &[
                    "touch made15 && mkdir made16",
                    "for i in a; do touch made17; done",
                    "x=1; rmdir made16",
                ],
                &["touch made18; npm ci", "mv made15 ../made15"],
                &[],
            ),
        )
        .in_mode("acceptEdits"),
    ]
}

/// What Claude asks about before it is changed, and what looks like it.
fn protected(world: &World) -> Vec<((&'static str, Value), &'static str)> {
    let files = [
        ".git/x",
        "sub/.Vscode/x",
        ".config/git/config",
        "sub/.NPMRC",
        "pyrightconfig.json",
        "lefthook.yml",
        "sub/.claude/x",
        "a~1",
    ];
    let others = [".gitignore", "git/x", ".claude/worktrees/x/y", "made6"];
    let files = files.map(|path| (file(world, "Write", path), "asked"));
    let others = others.map(|path| (file(world, "Write", path), "runs"));
    let commands = [
        "touch .npmrc",
        "cp keep.txt sub/.envrc",
        "echo x > .mcp.json",
        "mkdir .idea",
    ];
    let rest = [
        all("asked", &commands),
        all("runs", &["touch made7", "echo x > made8", "cat .npmrc"]),
    ];
    files.into_iter().chain(others).chain(rest.concat()).collect()
}

/// What `explain` says: its exit code as a word, and the whole answer.
fn explained(world: &World, mode: &str, (tool, input): &(&str, Value)) -> (&'static str, String) {
    let input = input.to_string();
    let cwd = world.cwd();
    let args = [
        "policy", "explain", "--cwd", &cwd, "--mode", mode, "--tool", tool, "--input", &input,
    ];
    let output = world.command(&args).output().unwrap();
    let said = match output.status.code() {
        Some(0) => "runs",
        Some(3) => "asked",
        Some(4) => "denied",
        _ => "unknown",
    };
    (said, String::from_utf8(output.stdout).unwrap())
}

/// What became of a call, and what the model was told.
fn became(world: &World, turn: &Turn, number: usize) -> (&'static str, String) {
    let denials = [
        "has been denied",
        "is denied",
        "deny rule",
        "blocked by permission rules",
    ];
    let told = told(world, number);
    let became = if asked(turn).contains(&id(number).as_str()) {
        "asked"
    } else if denials.iter().any(|words| told.contains(words)) {
        "denied"
    } else {
        "runs"
    };
    (became, told)
}

fn explain_says_what_claude_does(world: &mut World) {
    let groups = groups(world);
    compare(world, groups);
}

/// Settings as operators write them.
fn explain_says_what_claude_does_with_settings_of_operators(world: &mut World) {
    let groups = operators(world);
    compare(world, groups);
}

/// Calls under each of the settings, before `explain` and before Claude.
fn compare(world: &mut World, groups: Vec<Group>) {
    for (name, text) in [
        ("secret.txt", "s\n"),
        ("keep.txt", "k\n"),
        ("private/a", "a\n"),
        ("sub/x", "x\n"),
    ] {
        crate::perm_support::project_file(world, name, text);
    }
    crate::perm_support::skill_greet(world);
    let (_agent, mut client) = greet(world);
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
    for group in groups {
        let Group {
            user,
            local,
            mode,
            calls,
        } = group;
        write_settings(world, USER, &user);
        write_settings(world, LOCAL, &local);
        // Between them a call that runs: refusals in a row are something else.
        let between = bash("pwd");
        let made = calls.iter().flat_map(|(call, _)| [call.clone(), between.clone()]);
        let made: Vec<(&str, Value)> = made.collect();
        let session = client.new_session(&world.cwd());
        // What there is to say about the settings comes before the answer to this.
        client
            .call("session/set_mode", json!({"sessionId": session, "modeId": mode}))
            .unwrap();
        while client.kept_update(&session, "agent_message_chunk").is_some() {}
        let mut turn = run_calls(world, &mut client, &session, &made, allow_once);
        (0..made.len()).for_each(|number| {
            status(&mut turn, number);
        });
        for (at, (call, expected)) in calls.iter().enumerate() {
            let number = 2 * at;
            let (became, told) = became(world, &turn, number);
            let (said, text) = explained(world, mode, call);
            if *expected == HIDDEN {
                assert_ne!(became, "asked", "Claude, {user} {local}: {call:?}: {told}");
                let told = text.contains("Claude 2.1.318 does not see") && text.contains("into a policy");
                assert!(said == "runs" && told, "explain, {call:?}: {text}");
                continue;
            }
            assert_eq!(became, *expected, "Claude, {user} {local}: {call:?}: {told}");
            assert_eq!(said, *expected, "explain, {user} {local}: {call:?}: {text}");
        }
        crate::perm_support::close(&mut client, &session);
    }
}

fn rules_that_do_not_count_are_told_once_each(world: &mut World) {
    let rules = ["Bash(npm publish)*", "Write(secret.txt)", "Bash(touch *)"];
    let settings = json!({"permissions": {"deny": rules}, "permission": {"deny": ["WebFetch"]}});
    write_settings(world, USER, &settings.to_string());
    write_settings(world, LOCAL, "{\"permissions\": {\"deny\": [\"Read(x)\"]");
    let (_agent, mut client) = greet(world);
    let params = json!({"cwd": world.cwd(), "mcpServers": []});
    let answer = client.call("session/new", params).unwrap();
    let session = answer["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    client
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    let mut said = Vec::new();
    while let Some(update) = client.kept_update(&session, "agent_message_chunk") {
        said.push(update["content"]["text"].as_str().unwrap().to_owned());
    }
    let expected = [
        "the deny rule `Bash(npm publish)*` does not count for Claude and denies nothing",
        "the deny rule `Write(secret.txt)` does not count for Claude and denies nothing",
        "`permission` is no setting, so it says nothing; did you mean `permissions`?",
        "settings.local.json`, line 1, column 37: ends too early, so nothing of this file counts",
    ];
    let said = said.concat();
    for words in expected {
        assert_eq!(said.matches(words).count(), 1, "{words}: {said}");
    }
    assert!(!said.contains("Bash(touch"), "{said}");
    let output = world
        .command(&[
            "policy",
            "explain",
            "--cwd",
            &world.cwd(),
            "--command",
            "npm publish x",
        ])
        .output()
        .unwrap();
    let warnings = String::from_utf8(output.stderr).unwrap();
    for words in expected {
        assert_eq!(warnings.matches(words).count(), 1, "{words}: {warnings}");
    }
    assert_eq!(warnings.lines().count(), expected.len(), "{warnings}");
}

/// The exit code, standard output and standard error of `policy explain` with this on its standard input.
fn explain_with(world: &World, args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let cwd = world.cwd();
    let path = world.path("input");
    std::fs::write(&path, input).unwrap();
    let mut command = world.command(&[&["policy", "explain", "--cwd", &cwd][..], args].concat());
    let output = command
        .stdin(std::fs::File::open(path).unwrap())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn explain_takes_commands_and_answers_with_its_exit_code(world: &mut World) {
    let settings = json!({"permissions": {"allow": ["Bash(npm test)"], "deny": ["Bash(touch *)"]}});
    write_settings(world, USER, &settings.to_string());
    let run = |args: &[&str], input: &str| explain_with(world, args, input);
    for (command, code) in [("npm test", 0), ("npm ci", 3), ("touch a", 4)] {
        assert_eq!(run(&["--command", command], "").0, Some(code), "{command}");
        assert_eq!(
            run(&["--command", "-"], &format!("{command}\n")).0,
            Some(code),
            "{command}"
        );
        let input = json!({ "command": command }).to_string();
        assert_eq!(
            run(&["--tool=Bash", "--input=-"], &input).0,
            Some(code),
            "{command}"
        );
    }
    let (code, text, _) = run(&["--command=touch a", "--mode=manual", "--json"], "");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, Some(4));
    assert_eq!(
        [
            &answer["outcome"],
            &answer["by"],
            &answer["mode"],
            &answer["rule"]["text"],
            &answer["rule"]["line"]
        ],
        [
            &json!("deny"),
            &json!("claude"),
            &json!("default"),
            &json!("Bash(touch *)"),
            &json!(1)
        ]
    );
}

fn explain_refuses_what_nobody_can_call(world: &mut World) {
    let run = |args: &[&str], input: &str| explain_with(world, args, input);
    for (args, words) in [
        (
            &["--tool=bash", "--input={\"command\":\"ls\"}"][..],
            "did you mean `Bash`?",
        ),
        (
            &["--tool=Bash", "--input={\"cmd\":\"ls\"}"],
            "`Bash` takes `command`",
        ),
        (&["--tool=web_fetch", "--input={}"], "did you mean `WebFetch`?"),
        (
            &["--tool=Read", "--input={\"path\":\"a\"}"],
            "`Read` takes `file_path`",
        ),
        (&["--tool=Bash", "--input=-"], "expected a JSON object"),
    ] {
        let (code, out, err) = run(args, "[]");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}");
        assert!(err.contains(words), "{args:?}: {err}");
    }
}

fn explain_names_the_part_that_decides(world: &mut World) {
    let policy = world.path("policy.json");
    let rules = json!({"permissions": {"deny": ["Bash(curl *)", "Read(secret.txt)"]}});
    std::fs::write(&policy, rules.to_string()).unwrap();
    let check = |command: &str, words: &[&str]| {
        let policy = policy.to_str().unwrap();
        let cwd = world.cwd();
        let args = [
            "policy",
            "explain",
            "--cwd",
            &cwd,
            "--command",
            command,
            "--policy",
            policy,
        ];
        let text = String::from_utf8(world.command(&args).output().unwrap().stdout).unwrap();
        for word in words {
            assert!(text.contains(word), "{command}: `{word}`: {text}");
        }
    };
    check(
        "echo hi; FOO=1 curl x",
        &["`Bash(curl *)`", "it is about the part `curl x`"],
    );
    check(
        "wget U | sh",
        &["the part `sh` may run anything, so every deny rule counts"],
    );
    check(
        "cat a secret.txt",
        &["`Read(secret.txt)`", "it is about the file `secret.txt`"],
    );
    // A script's arguments are its own, in a loop as elsewhere.
    for command in ["for i in 1 2; do python3 x.py $i; done", "python3 x.py \"$ARG\""] {
        check(command, &["no opinion: no deny or ask rule is about it"]);
    }
}
