//! Command lines and what they mean.

use permission_core::PermissionMode;
use serde_json::json;

use super::wording::*;
use super::*;

fn parsed(line: &[&str]) -> Result<(LoggingArgs, Request), clap::Error> {
    let program = std::iter::once("claude-acp");
    parse(program.chain(line.iter().copied()).map(OsString::from).collect())
}

fn request(line: &[&str]) -> Request {
    parsed(line).unwrap_or_else(|error| panic!("{line:?}: {error}")).1
}

fn refusal(line: &[&str]) -> String {
    let error = parsed(line).expect_err("refused");
    assert_eq!(error.exit_code(), 2, "{line:?}");
    error.to_string()
}

#[track_caller]
fn refuses(line: &[&str], message: &str) {
    let refusal = refusal(line);
    assert!(refusal.contains(message), "{line:?}: {refusal}");
}

fn chat(rehearse: Option<Option<&str>>, connect: Option<&str>, prompt: Option<&str>) -> Request {
    Request::Chat(ChatArgs {
        rehearse: rehearse.map(|script| script.map(str::to_owned)),
        connect: connect.map(|address| address.parse().unwrap()),
        prompt: prompt.map(str::to_owned),
        newest: false,
        resume: None,
        oversight: OversightArgs::default(),
    })
}

fn overseen(policy: Option<&str>, audit: Option<&str>) -> OversightArgs {
    OversightArgs {
        policy: policy.map(PathBuf::from),
        audit: audit.map(PathBuf::from),
    }
}

fn serve(listen: &[&str], backend: Backend) -> Request {
    Request::Serve {
        listen: listen.iter().map(|address| address.parse().unwrap()).collect(),
        accounts: Accounts::Own,
        backend,
        oversight: OversightArgs::default(),
        subscriptions: true,
    }
}

fn cli(arguments: &[&str]) -> Request {
    Request::Cli {
        arguments: arguments.iter().map(OsString::from).collect(),
        policy: None,
    }
}

#[test]
fn serving() {
    let check = |line: &[&str], listen: &[&str], backend: Backend| {
        assert_eq!(request(line), serve(listen, backend), "{line:?}");
    };
    check(&[], &["stdio"], Backend::Process);
    check(&["--backend", "process"], &["stdio"], Backend::Process);
    check(&["--backend", "rehearsal"], &["stdio"], Backend::Rehearsal(None));
    check(&["--backend=rehearsal"], &["stdio"], Backend::Rehearsal(None));
    check(
        &["--backend=rehearsal=a.json"],
        &["stdio"],
        Backend::Rehearsal(Some("a.json".into())),
    );
    check(
        &["--listen", "tcp://127.0.0.1:0"],
        &["tcp://127.0.0.1:0"],
        Backend::Process,
    );
    check(
        &[
            "--listen",
            "stdio",
            "--listen=unix:/run/a.sock",
            "--listen",
            "tcp://[::1]:4000",
        ],
        &["stdio", "unix:/run/a.sock", "tcp://[::1]:4000"],
        Backend::Process,
    );
    check(
        &["--listen=tcp://127.0.0.1:0", "--listen=tcp://127.0.0.1:0"],
        &["tcp://127.0.0.1:0", "tcp://127.0.0.1:0"],
        Backend::Process,
    );
}

#[test]
fn other_accounts_are_let_in_on_request_and_only_to_listeners() {
    match request(&["--listen", "tcp://localhost:0", "--allow-any-local-user"]) {
        Request::Serve { accounts, .. } => assert_eq!(accounts, Accounts::Any),
        other => panic!("{other:?}"),
    }
    let error = parse(vec!["claude-acp".into(), "--allow-any-local-user".into()]).unwrap_err();
    assert!(error.to_string().contains("--listen"), "{error}");
}

#[test]
fn a_registrys_start_line_hides_subscriptions() {
    let hidden = Request::Serve {
        listen: vec!["stdio".parse().unwrap()],
        accounts: Accounts::Own,
        backend: Backend::Process,
        oversight: OversightArgs::default(),
        subscriptions: false,
    };
    assert_eq!(request(&["--hide-claude-auth"]), hidden);
    // The login that such an agent offers is started with the same arguments.
    let login = ["--hide-claude-auth", "--cli", "auth", "login", "--console"];
    assert_eq!(request(&login), cli(&["auth", "login", "--console"]));
    for line in [
        &["--hide-claude-auth", "chat"][..],
        &["--hide-claude-auth", "rehearsal", "list"],
    ] {
        refuses(line, HIDE_CLAUDE_AUTH_WITH_COMMAND);
    }
}

#[test]
fn chatting() {
    let check = |line: &[&str], expected: Request| assert_eq!(request(line), expected, "{line:?}");
    check(&["chat"], chat(None, None, None));
    check(&["chat", "hello"], chat(None, None, Some("hello")));
    check(&["chat", "--rehearse"], chat(Some(None), None, None));
    check(
        &["chat", "--rehearse", "hello"],
        chat(Some(None), None, Some("hello")),
    );
    check(
        &["chat", "--rehearse=a.json", "hello"],
        chat(Some(Some("a.json")), None, Some("hello")),
    );
    check(
        &["chat", "--rehearse=", "hello"],
        chat(Some(None), None, Some("hello")),
    );
    check(
        &["chat", "--connect", "tcp://127.0.0.1:1"],
        chat(None, Some("tcp://127.0.0.1:1"), None),
    );
    check(
        &["chat", "--connect=unix:/a", "hello"],
        chat(None, Some("unix:/a"), Some("hello")),
    );
    check(&["chat", "--", "--cli"], chat(None, None, Some("--cli")));
    check(
        &["--log-level", "debug", "chat", "hello"],
        chat(None, None, Some("hello")),
    );
}

#[test]
fn conversations_are_listed_shown_and_exported() {
    let check = |line: &[&str], expected: SessionsCommand| {
        assert_eq!(request(line), Request::Sessions(expected), "{line:?}");
    };
    let listed = |all, json| SessionsCommand::List { all, json };
    check(&["sessions", "list"], listed(false, false));
    check(&["sessions", "list", "--all", "--json"], listed(true, true));
    check(
        &["sessions", "show", "an-id"],
        SessionsCommand::Show {
            id: "an-id".to_owned(),
        },
    );
    check(
        &["sessions", "export", "an-id", "-o", "a.html"],
        SessionsCommand::Export {
            id: "an-id".to_owned(),
            output: Some("a.html".into()),
        },
    );
    refuses(&["--listen=stdio", "sessions", "list"], SERVING_WITH_SESSIONS);
    refuses(&["--policy=a", "sessions", "list"], SERVING_WITH_SESSIONS);
    refuses(&["sessions", "show"], "<ID>");
}

#[test]
fn a_chat_goes_on_with_one_conversation() {
    let check = |line: &[&str], expected: Conversation| match request(line) {
        Request::Chat(chat) => assert_eq!(chat.conversation(), expected, "{line:?}"),
        other => panic!("{line:?}: {other:?}"),
    };
    check(&["chat", "hello"], Conversation::New);
    check(&["chat", "--continue", "hello"], Conversation::Newest);
    check(&["chat", "--resume"], Conversation::Chosen);
    check(
        &["chat", "--resume", "an-id", "hello"],
        Conversation::Named("an-id".to_owned()),
    );
    refuses(&["chat", "--continue", "--resume"], "cannot be used with");
    refuses(&["chat", "--continue", "--rehearse"], "cannot be used with");
}

#[test]
fn sessions_run_under_a_policy_and_on_the_record() {
    let check = |line: &[&str], listen: &str, expected: OversightArgs| match request(line) {
        Request::Serve {
            listen: at,
            oversight,
            ..
        } => assert_eq!(
            (at, oversight),
            (vec![listen.parse().unwrap()], expected),
            "{line:?}"
        ),
        other => panic!("{line:?}: {other:?}"),
    };
    check(&["--policy", "p.json"], "stdio", overseen(Some("p.json"), None));
    check(&["--audit=a.log"], "stdio", overseen(None, Some("a.log")));
    check(
        &[
            "--listen=unix:/a",
            "--policy=p.json",
            "--audit=a.log",
            "--backend=rehearsal",
        ],
        "unix:/a",
        overseen(Some("p.json"), Some("a.log")),
    );
    for line in [
        &["--policy=p.json", "--audit=a.log", "chat", "hello"][..],
        &["chat", "--policy=p.json", "--audit=a.log", "hello"],
        &["--policy=p.json", "chat", "hello", "--audit=a.log"],
    ] {
        match request(line) {
            Request::Chat(chat) => {
                assert_eq!(
                    chat.oversight,
                    overseen(Some("p.json"), Some("a.log")),
                    "{line:?}"
                );
            }
            other => panic!("{line:?}: {other:?}"),
        }
    }
    let passed = Request::Cli {
        arguments: vec!["auth".into(), "--policy=x".into()],
        policy: Some("p.json".into()),
    };
    assert_eq!(
        request(&["--policy=p.json", "--audit=a.log", "--cli", "auth", "--policy=x"]),
        passed
    );
}

fn explaining() -> ExplainArgs {
    ExplainArgs {
        tool: Some("Bash".to_owned()),
        input: Some(Given::Here(json!({"command": "ls"}))),
        command: None,
        cwd: None,
        mode: None,
        policy: None,
        json: false,
    }
}

#[test]
fn explaining_takes_a_command_or_an_input_from_here_or_from_standard_input() {
    let check = |line: &[&str], expected: ExplainArgs| {
        let expected = PolicyCommand::Explain(expected);
        assert_eq!(request(line), Request::Policy(expected), "{line:?}");
    };
    let plain = explaining();
    check(
        &["policy", "explain", "--command=ls", "--mode=manual", "--json"],
        ExplainArgs {
            tool: None,
            input: None,
            command: Some(Given::Here("ls".to_owned())),
            mode: Some(PermissionMode::Default),
            json: true,
            ..plain.clone()
        },
    );
    check(
        &["policy", "explain", "--tool=Bash", "--input=-"],
        ExplainArgs {
            input: Some(Given::Stdin),
            ..plain.clone()
        },
    );
    check(
        &["policy", "explain", "--command", "-"],
        ExplainArgs {
            tool: None,
            input: None,
            command: Some(Given::Stdin),
            ..plain.clone()
        },
    );
}

#[test]
fn checking_and_explaining_policies() {
    let check = |line: &[&str], expected: PolicyCommand| {
        assert_eq!(request(line), Request::Policy(expected), "{line:?}");
    };
    check(
        &["policy", "check", "a.json", "b.json"],
        PolicyCommand::Check {
            files: vec!["a.json".into(), "b.json".into()],
        },
    );
    let plain = explaining();
    let input = "--input={\"command\":\"ls\"}";
    check(
        &["policy", "explain", "--tool", "Bash", input],
        PolicyCommand::Explain(plain.clone()),
    );
    let full = ExplainArgs {
        cwd: Some("/repo".into()),
        mode: Some(PermissionMode::BypassPermissions),
        policy: Some("p.json".into()),
        ..plain
    };
    let rest = ["--tool=Bash", input, "--cwd=/repo", "--mode=bypassPermissions"];
    let behind = [&["policy", "explain"][..], &rest, &["--policy=p.json"]].concat();
    let before = [&["--policy=p.json", "policy", "explain"][..], &rest].concat();
    check(&behind, PolicyCommand::Explain(full.clone()));
    check(&before, PolicyCommand::Explain(full));
}

#[test]
fn telling_about_scripts() {
    let check = |line: &[&str], expected: RehearsalCommand| {
        assert_eq!(request(line), Request::Rehearsal(expected), "{line:?}");
    };
    check(&["rehearsal", "list"], RehearsalCommand::List);
    check(&["rehearsal", "schema"], RehearsalCommand::Schema);
    check(
        &[
            "rehearsal",
            "check",
            "a.json",
            "--log-level=debug",
            "b.json",
            "--",
            "--cli",
        ],
        RehearsalCommand::Check {
            files: vec!["a.json".into(), "b.json".into(), "--cli".into()],
        },
    );
}

#[test]
fn passing_through() {
    let check = |line: &[&str], expected: &[&str]| assert_eq!(request(line), cli(expected), "{line:?}");
    check(&["--cli"], &[]);
    check(
        &["--cli", "auth", "login", "--claudeai"],
        &["auth", "login", "--claudeai"],
    );
    check(&["--cli", "--version"], &["--version"]);
    check(&["--cli", "--help"], &["--help"]);
    check(&["--cli", "-p", "--", "x", "--cli"], &["-p", "--", "x", "--cli"]);
    check(&["--cli", "chat", "--listen", "x"], &["chat", "--listen", "x"]);
    check(
        &["--log-level=debug", "--cli", "--log-level", "x"],
        &["--log-level", "x"],
    );
}

#[cfg(unix)]
#[test]
fn arguments_of_the_cli_may_be_any_bytes() {
    use std::os::unix::ffi::OsStringExt as _;

    let bytes = OsString::from_vec(vec![b'a', 0xff]);
    let line = vec![
        OsString::from("claude-acp"),
        OsString::from("--cli"),
        bytes.clone(),
    ];
    let expected = Request::Cli {
        arguments: vec![bytes],
        policy: None,
    };
    assert_eq!(parse(line).unwrap().1, expected);
}

#[test]
fn logging_options_go_with_everything() {
    let check = |line: &[&str]| {
        let (logging, _) = parsed(line).unwrap();
        let log_file = Some(PathBuf::from("a.log"));
        assert_eq!(
            logging,
            LoggingArgs {
                log_level: "debug".parse().unwrap(),
                log_file
            },
            "{line:?}"
        );
    };
    check(&["--log-level", "debug", "--log-file", "a.log"]);
    check(&["chat", "--log-level=debug", "--log-file=a.log", "hello"]);
    check(&["--log-level=debug", "--log-file=a.log", "--cli", "doctor"]);
    let unless_given = LoggingArgs {
        log_level: LevelFilter::WARN,
        log_file: None,
    };
    assert_eq!(parsed(&[]).unwrap().0, unless_given);
}

#[test]
fn the_version_has_three_spellings() {
    for flag in ["--version", "-V", "-v"] {
        let error = parsed(&[flag]).expect_err("printed");
        assert_eq!(error.exit_code(), 0);
        assert_eq!(
            error.to_string(),
            format!("claude-acp {}\n", env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_a_way_out() {
    let check = refuses;
    check(&["--listen", "stdio", "chat"], LISTEN_WITH_CHAT);
    check(&["--backend=rehearsal", "chat", "hello"], BACKEND_WITH_CHAT);
    check(&["--backend=rehearsal", "--cli", "auth"], CLI_WITH_SERVING);
    check(&["--listen=stdio", "--listen=stdio"], LISTEN_TWICE);
    check(&["--listen=stdio", "rehearsal", "list"], SERVING_WITH_REHEARSAL);
    check(
        &["--backend", "rehearsal", "rehearsal", "list"],
        SERVING_WITH_REHEARSAL,
    );
    check(
        &["rehearsal", "list", "--cli", "auth"],
        "unexpected argument '--cli'",
    );
    check(
        &["rehearsal", "list", "--listen=stdio"],
        "unexpected argument '--listen'",
    );
    check(&["rehearsal", "check"], "<FILE>...");
    check(&["rehearsal"], "rehearsal [OPTIONS] <COMMAND>");
    check(&["chat", "--connect", "stdio"], CONNECT_STDIO);
    check(
        &["chat", "--rehearse", "--connect", "unix:/a"],
        "cannot be used with",
    );
    check(&["chat", "--listen", "stdio"], "unexpected argument '--listen'");
    check(&["--connect", "unix:/a"], "unexpected argument '--connect'");
    check(
        &["--backend", "magic"],
        "expected `process`, `rehearsal` or `rehearsal=SCRIPT`",
    );
    check(
        &["--backend", "rehearsal="],
        "expected `process`, `rehearsal` or `rehearsal=SCRIPT`",
    );
    check(
        &["--log-level", "loud"],
        "expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", \"trace\"",
    );
    check(&["chat", "hello", "world"], "unexpected argument 'world'");
    check(&["serve"], "unrecognized subcommand 'serve'");
}

#[test]
fn what_does_not_go_with_policies_is_refused_with_a_way_out() {
    let check = refuses;
    let explain = |input| ["policy", "explain", "--tool=Bash", input];
    check(&explain("--input=ls"), NO_OBJECT);
    check(&explain("--input=[1]"), NO_OBJECT);
    check(&explain("--input={"), "EOF while parsing");
    check(
        &["policy", "explain", "--tool=Bash", "--input={}", "--mode=fast"],
        "expected one of default, acceptEdits, plan, auto, bypassPermissions, dontAsk",
    );
    check(&["policy", "explain", "--input={}"], "--tool <NAME>");
    check(&["policy", "explain", "--tool=Bash"], "--input <JSON>");
    check(
        &["policy", "explain", "--tool=Bash", "--input={}", "--command=ls"],
        "cannot be used with",
    );
    check(&["policy", "check"], "<FILE>...");
    check(&["policy"], "policy [OPTIONS] <COMMAND>");
    check(&["--listen=stdio", "policy", "check", "a"], SERVING_WITH_POLICY);
    check(
        &["--backend=rehearsal", "policy", "check", "a"],
        SERVING_WITH_POLICY,
    );
    check(&["--audit=a", "policy", "check", "a"], AUDIT_WITH_POLICY);
    check(&["--policy=a", "policy", "check", "a"], POLICY_WITH_CHECK);
    check(
        &[
            "--policy=a",
            "policy",
            "explain",
            "--tool=Bash",
            "--input={}",
            "--policy=b",
        ],
        POLICY_TWICE,
    );
    check(&["--policy=a", "chat", "--policy=b"], POLICY_TWICE);
    check(&["--audit=a", "chat", "--audit=a"], AUDIT_TWICE);
    check(&["--policy=a", "--policy=b"], "cannot be used multiple times");
    check(&["--policy="], "a value is required");
    check(&["--policy=a", "rehearsal", "list"], OVERSIGHT_WITH_REHEARSAL);
    check(&["--audit=a", "rehearsal", "list"], OVERSIGHT_WITH_REHEARSAL);
    check(
        &["--policy=a", "chat", "--connect=unix:/a"],
        OVERSIGHT_WITH_CONNECT,
    );
    check(
        &["chat", "--connect=unix:/a", "--audit=a"],
        OVERSIGHT_WITH_CONNECT,
    );
}

#[test]
fn addresses_that_cannot_be_served_are_refused() {
    for address in [
        "tcp://0.0.0.0:1",
        "tcp://example.com:1",
        "http://127.0.0.1:1",
        "unix:",
        "tcp://127.0.0.1",
    ] {
        let refusal = refusal(&["--listen", address]);
        assert!(refusal.contains("--listen"), "{address}: {refusal}");
    }
}

#[test]
fn a_script_behind_rehearse_is_taken_for_the_prompt_and_hinted_at() {
    let hint = |line: &[&str]| match parsed(line).unwrap().1 {
        Request::Chat(chat) => chat.hint(),
        other => panic!("{other:?}"),
    };
    for script in ["plan", "my.json"] {
        let expected = wording::script_is_prompt(script);
        assert_eq!(hint(&["chat", "--rehearse", script]).as_ref(), Some(&expected));
        let refusal = refusal(&["chat", "--rehearse", script, "hello"]);
        assert!(refusal.contains(&expected), "{refusal}");
    }
    for line in [
        &["chat", "--rehearse", "hello"][..],
        &["chat", "--rehearse=plan", "plan"],
        &["chat", "plan"],
    ] {
        assert_eq!(hint(line), None, "{line:?}");
    }
}

#[test]
fn help_as_it_is_printed() {
    let help = |line: &[&str]| parsed(line).expect_err("printed").to_string();
    insta::assert_snapshot!("help", help(&["--help"]));
    insta::assert_snapshot!("help_chat", help(&["chat", "--help"]));
    insta::assert_snapshot!("help_rehearsal", help(&["rehearsal", "--help"]));
    insta::assert_snapshot!("help_sessions", help(&["sessions", "--help"]));
    insta::assert_snapshot!("help_policy", help(&["policy", "--help"]));
    insta::assert_snapshot!("help_policy_explain", help(&["policy", "explain", "--help"]));
    assert_eq!(help(&["-h"]), help(&["--help"]));
}

#[test]
fn refusals_as_they_are_printed() {
    let messages = [
        LISTEN_WITH_CHAT,
        BACKEND_WITH_CHAT,
        CLI_WITH_CHAT,
        SERVING_WITH_REHEARSAL,
        CLI_WITH_SERVING,
        LISTEN_TWICE,
        CONNECT_STDIO,
        OVERSIGHT_WITH_REHEARSAL,
        SERVING_WITH_POLICY,
        SERVING_WITH_SESSIONS,
        AUDIT_WITH_POLICY,
        POLICY_WITH_CHECK,
        OVERSIGHT_WITH_CONNECT,
        POLICY_TWICE,
        AUDIT_TWICE,
        HIDE_CLAUDE_AUTH_WITH_COMMAND,
    ];
    insta::assert_snapshot!("refusals", messages.join("\n"));
}
