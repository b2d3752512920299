//! The command line of policies: what keeps the agent from starting, what is told about a policy and a tool call, and what
//! of the CLI passes.

use std::process::{Output, Stdio};

use e2e_tests::harness::World;
use serde_json::json;

use crate::case::{Case, cases};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Rehearsal, Stdio:
        case_88_a_mistake_in_a_policy_keeps_the_agent_from_starting,
        a_policy_that_cannot_be_read_keeps_the_agent_from_starting,
        a_record_that_cannot_be_kept_keeps_the_agent_from_starting,
        a_check_tells_every_mistake_with_its_place,
        examples_that_do_not_come_true_keep_the_agent_from_starting,
        an_explanation_names_the_rule_and_its_place,
        an_explanation_asks_for_what_it_needs,
        a_login_in_a_terminal_stays_under_the_policy,
    ];
    all.extend(cases![Rehearsal, Unix: case_88_a_mistake_in_a_policy_keeps_a_listener_from_starting]);
    all.extend(cases![Claude, Stdio: only_the_login_and_the_version_of_the_cli_pass_under_a_policy]);
    all
}

const TYPO: &str = "{\n  \"permisions\": { \"deny\": [\"Bash(rm *)\"] }\n}";

/// Writes a file of the world; its path as an argument.
fn file(world: &World, name: &str, text: &str) -> String {
    let path = world.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn ends(world: &World, args: &[&str]) -> Output {
    let mut command = world.command(args);
    command.stdin(Stdio::null()).output().unwrap()
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Ends with 1, serves nothing, and says all of this.
#[track_caller]
fn does_not_start(world: &World, args: &[&str], words: &[&str]) {
    let output = ends(world, args);
    assert_eq!((code(&output), stdout(&output).as_str()), (Some(1), ""));
    let said = stderr(&output);
    for word in words {
        assert!(said.contains(word), "`{word}`: {said}");
    }
}

fn case_88_a_mistake_in_a_policy_keeps_the_agent_from_starting(world: &mut World) {
    let policy = file(world, "policy.json", TYPO);
    let words = [
        "line 2: `permisions` is not a key",
        "`permissions`",
        "nothing was started",
    ];
    does_not_start(world, &["--policy", &policy], &words);
    does_not_start(world, &["--policy", &policy, "chat", "hello"], &words);
    does_not_start(
        world,
        &["chat", "--rehearse", "--policy", &policy, "hello"],
        &words,
    );
    does_not_start(world, &["--policy", &policy, "--cli", "auth", "status"], &words);
}

fn case_88_a_mistake_in_a_policy_keeps_a_listener_from_starting(world: &mut World) {
    let policy = file(world, "policy.json", TYPO);
    let socket = world.socket_path();
    let address = format!("unix:{socket}");
    let args = ["--backend=rehearsal", "--listen", &address, "--policy", &policy];
    does_not_start(world, &args, &["`permisions`"]);
    assert!(!std::path::Path::new(&socket).exists());
}

fn a_policy_that_cannot_be_read_keeps_the_agent_from_starting(world: &mut World) {
    let missing = world.path("missing.json");
    let missing = missing.to_str().unwrap();
    does_not_start(world, &["--policy", missing], &[missing, "does not exist"]);
    does_not_start(
        world,
        &["--policy", "/dev/zero"],
        &["/dev/zero", "not a regular file"],
    );
    does_not_start(world, &["--policy", "/"], &["not a regular file"]);
}

fn a_record_that_cannot_be_kept_keeps_the_agent_from_starting(world: &mut World) {
    let audit = world.path("nowhere/audit.jsonl");
    let audit = audit.to_str().unwrap();
    let words = ["`--audit`", audit, "No such file"];
    does_not_start(world, &["--audit", audit], &words);
    does_not_start(world, &["--audit", audit, "chat", "--rehearse", "hello"], &words);
    does_not_start(world, &["--audit", "/"], &["`--audit`", "directory"]);
}

fn a_check_tells_every_mistake_with_its_place(world: &mut World) {
    let typo = file(world, "typo.json", TYPO);
    let text = r#"{ "permissions": { "deny": ["Bash(rm *)", "WebFetch"], "headless": true } }"#;
    let good = file(world, "good.json", text);
    let wrong = file(
        world,
        "wrong.json",
        "{\n \"permissions\": {\n  \"deny\": [\"Bash(\"],\n  \"confine\": \"yes\"\n }\n}",
    );
    let output = ends(world, &["policy", "check", &good]);
    let summary = format!("{good}: ok: 2 deny rules, headless, denial threshold 3\n");
    assert_eq!(
        (code(&output), stdout(&output), stderr(&output)),
        (Some(0), summary.clone(), String::new())
    );
    let output = ends(world, &["policy", "check", &typo, &good, &wrong]);
    assert_eq!((code(&output), stdout(&output)), (Some(1), summary));
    let said = stderr(&output);
    let places = [
        format!("`{typo}`, line 2: `permisions`"),
        format!("`{wrong}`, line 3: `permissions.deny[0]`"),
        format!("`{wrong}`, line 4: `permissions.confine` must be `true` or `false`"),
    ];
    let found = said
        .lines()
        .zip(&places)
        .filter(|(line, place)| line.contains(*place));
    assert_eq!(
        (found.count(), said.lines().count()),
        (places.len(), places.len()),
        "{said}"
    );
}

fn examples_that_do_not_come_true_keep_the_agent_from_starting(world: &mut World) {
    let text = |becomes: &str| {
        let rules = r#""permissions": {"deny": ["Bash(git push *)", "Read(~/.ssh/**)"]}"#;
        let path = world.path("home/.ssh/id");
        let read = json!({"tool": "Read", "input": {"file_path": path}, "becomes": "deny"});
        format!(
            "{{{rules},\n\"examples\": [\n{read},\n{{\"command\": \"git push\", \"becomes\": \"{becomes}\"}}]}}"
        )
    };
    let good = file(world, "good.json", &text("deny"));
    let wrong = file(world, "wrong.json", &text("allow"));
    let output = ends(world, &["policy", "check", &good]);
    let summary = format!("{good}: ok: 2 deny rules, 2 examples, denial threshold 3\n");
    assert_eq!((code(&output), stdout(&output)), (Some(0), summary));
    let output = ends(world, &["policy", "check", &wrong]);
    let mistake = format!("`{wrong}`, line 4: `examples[1]` becomes `deny`, not `allow`: ");
    let rule = format!("`Bash(git push *)` (deny, {wrong}, line 1)");
    assert_eq!(code(&output), Some(1));
    let said = stderr(&output);
    assert!(said.starts_with(&mistake) && said.contains(&rule), "{said}");
    does_not_start(
        world,
        &["--policy", &wrong],
        &["`examples[1]`", "nothing was started"],
    );
}

/// Settings of the user and of the project, and a policy, each with a rule.
fn files_with_rules(world: &World) -> [String; 3] {
    let user = file(
        world,
        "home/.claude/settings.json",
        "{ \"permissions\": {\n\"allow\": [\"Bash(npm test *)\", \"B*\"],\n\"deny\": [\"Bash(rm *)\"] } }",
    );
    let project = file(
        world,
        "project/.claude/settings.json",
        "{ \"permissions\": { \"ask\":\n[\"Bash(git push *)\"] } }",
    );
    let policy = file(
        world,
        "policy.json",
        "{ \"permissions\": {\n\n\"deny\": [\"Bash(curl *)\"] } }",
    );
    [user, project, policy]
}

fn an_explanation_names_the_rule_and_its_place(world: &mut World) {
    let [user, project, policy] = files_with_rules(world);
    let cwd = world.cwd();
    let check = |command: &str, expected: i32, with: &[&str], words: &[&str]| {
        let input = json!({ "command": command }).to_string();
        let args = [
            "policy", "explain", "--cwd", &cwd, "--tool", "Bash", "--input", &input,
        ];
        let output = ends(world, &[&args, with].concat());
        assert_eq!(code(&output), Some(expected), "{command}: {}", stderr(&output));
        let warning = format!("warning: `{user}`, line 2: the allow rule `B*`");
        assert!(stderr(&output).starts_with(&warning), "{}", stderr(&output));
        let text = stdout(&output);
        for word in words {
            assert!(text.contains(word), "`{word}`: {text}");
        }
    };
    let allow = format!("`Bash(npm test *)` (allow, {user}, line 2)");
    check(
        "npm test",
        0,
        &[],
        &[&allow, "Result: it runs, by Claude's own rules"],
    );
    let deny = format!("`Bash(rm *)` (deny, {user}, line 3)");
    check(
        "npm test; rm a",
        4,
        &[],
        &[&deny, "Result: it is denied, by Claude's own rules"],
    );
    let ask = format!("`Bash(git push *)` (ask, {project}, line 2)");
    check(
        "git push",
        3,
        &[],
        &[&ask, "Result: the client is asked, by Claude's own rules"],
    );
    check(
        "curl a.b",
        3,
        &[],
        &["no rule allows it", "Result: the client is asked"],
    );
    check(
        "npm test $(id)",
        3,
        &[],
        &["it holds the output of another command"],
    );
    let curl = format!("`Bash(curl *)` (deny, {policy}, line 3)");
    let denied = "Result: it is denied, by the operator's policy";
    check("FOO=1 curl a.b", 4, &["--policy", &policy], &[&curl, denied]);
    check("touch a", 4, &["--mode=plan"], &["by the guard of plan mode"]);
    check("touch a", 4, &["--mode=plan", "--policy", &policy], &[denied]);
}

fn an_explanation_asks_for_what_it_needs(world: &mut World) {
    let check = |args: &[&str], expected: i32, word: &str| {
        let output = ends(world, &[&["policy", "explain", "--tool=Bash"], args].concat());
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (Some(expected), ""),
            "{args:?}"
        );
        assert!(stderr(&output).contains(word), "{args:?}: {}", stderr(&output));
    };
    check(&["--input={"], 2, "expected a JSON object");
    check(&["--input=[]"], 2, "expected a JSON object");
    check(
        &["--input={}", "--mode=fast"],
        2,
        "expected one of default, acceptEdits, plan",
    );
    check(
        &["--command=ls", "--cwd=/nowhere"],
        1,
        "`/nowhere` is not a directory",
    );
    check(&["--command=ls", "--policy=/nowhere"], 1, "does not exist");
}

fn a_login_in_a_terminal_stays_under_the_policy(world: &mut World) {
    let policy = file(world, "policy.json", "{}");
    world.rehearse(&json!({"version": 1, "about": "nothing", "turns": []}).to_string());
    // Without a browser the login would otherwise be a Claude of its own.
    world.set_env("NO_BROWSER", "1");
    let mut agent = world.agent_with(&["--policy", &policy]);
    let mut client = agent.connect();
    let capabilities = json!({"_meta": {"terminal-auth": true}});
    let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    let answer = client.call("initialize", params).unwrap();
    let methods = answer["authMethods"].as_array().unwrap();
    assert!(!methods.is_empty());
    for method in methods {
        // These go behind the client's own command line, which names the policy.
        assert_eq!(method["args"][0], "--cli", "{method}");
        // This is a whole command line.
        let args = method["_meta"]["terminal-auth"]["args"].as_array().unwrap();
        let args: Vec<&str> = args.iter().filter_map(|arg| arg.as_str()).collect();
        assert_eq!(args[0], "--policy");
        assert_eq!(
            std::fs::canonicalize(args[1]).unwrap(),
            std::fs::canonicalize(&policy).unwrap()
        );
        assert_eq!(args[2..5], ["--cli", "auth", "login"]);
    }
}

fn only_the_login_and_the_version_of_the_cli_pass_under_a_policy(world: &mut World) {
    let policy = file(world, "policy.json", "{}");
    let cli = |args: &[&str]| ends(world, &[&["--policy", &policy, "--cli"], args].concat());
    let version = cli(&["--version"]);
    assert_eq!(code(&version), Some(0));
    assert!(stdout(&version).contains("Claude Code"), "{}", stdout(&version));
    let help = cli(&["auth", "login", "--help"]);
    assert_eq!(code(&help), Some(0));
    assert!(stdout(&help).contains("--console"), "{}", stdout(&help));
    let status = cli(&["auth", "status", "--json"]);
    assert!(stdout(&status).contains("loggedIn"), "{}", stdout(&status));
    for refused in [
        &["-p", "hello"][..],
        &["/login"],
        &[],
        &["auth", "login", "--settings", "{}"],
    ] {
        let output = cli(refused);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (Some(2), ""),
            "{refused:?}"
        );
        assert!(
            stderr(&output).contains("under a policy, `--cli` passes on"),
            "{refused:?}"
        );
    }
}
