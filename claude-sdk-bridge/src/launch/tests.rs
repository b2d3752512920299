//! Tests of the way from options to argv and back, of the environment, and of the private MCP file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use permission_core::PermissionMode;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn new_session() -> LaunchOptions {
    LaunchOptions::new(
        "/home/user/project",
        SessionStart::New {
            id: "11111111-1111-4111-8111-111111111111".into(),
        },
    )
}

fn lines(args: &[OsString]) -> String {
    args.iter()
        .map(|arg| arg.to_string_lossy())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn an_ordinary_session_asks_us_streams_and_reads_all_settings() {
    insta::assert_snapshot!(lines(&argv(&new_session(), None)), @"
    --output-format
    stream-json
    --verbose
    --input-format
    stream-json
    --permission-prompt-tool=stdio
    --tools=default
    --setting-sources=user,project,local
    --include-partial-messages
    --session-id=11111111-1111-4111-8111-111111111111
    ");
}

/// Options of which none is as usual.
fn unusual() -> LaunchOptions {
    LaunchOptions {
        session: SessionStart::Fork {
            from: "-dash".into(),
            id: Some("fork".into()),
            at: Some("entry".into()),
        },
        permission_mode: Some(PermissionMode::Plan),
        allow_bypass: true,
        model: Some("opus".to_owned()),
        fallback_model: Some("haiku".to_owned()),
        effort: Some("high".to_owned()),
        thinking: Some(Thinking::Budget { tokens: 2048 }),
        agent: Some("rev".to_owned()),
        max_turns: Some(7),
        tools: Tools::Only(vec!["Bash".to_owned(), "Read".to_owned()]),
        allowed_tools: vec!["Bash(ls:*)".to_owned(), "Read".to_owned()],
        disallowed_tools: vec!["WebFetch".to_owned()],
        setting_sources: Some(Vec::new()),
        settings_file: Some("/s.json".into()),
        managed_settings: Some(json!({"permissions": {"deny": ["Bash(rm *)"]}})),
        strict_mcp_config: true,
        additional_directories: vec!["/a".into(), "/b c".into()],
        hook_events: true,
        replay_user_messages: true,
        persist_session: false,
        debug_file: Some("/log".into()),
        extra_args: vec![
            ("name".to_owned(), Some("foo".to_owned())),
            ("await-initialize".to_owned(), None),
        ],
        ..new_session()
    }
}

#[test]
fn every_option_has_its_flag_in_the_order_of_the_official_sdk() {
    let args = argv(&unusual(), Some(Path::new("/tmp/mcp.json")));
    insta::assert_snapshot!(lines(&args), @r#"
    --output-format
    stream-json
    --verbose
    --input-format
    stream-json
    --max-thinking-tokens=2048
    --effort=high
    --max-turns=7
    --model=opus
    --agent=rev
    --debug-file=/log
    --permission-prompt-tool=stdio
    --resume=-dash
    --allowedTools=Bash(ls:*),Read
    --disallowedTools=WebFetch
    --tools=Bash,Read
    --mcp-config=/tmp/mcp.json
    --setting-sources=
    --strict-mcp-config
    --permission-mode=plan
    --allow-dangerously-skip-permissions
    --fallback-model=haiku
    --include-hook-events
    --include-partial-messages
    --add-dir=/a
    --add-dir=/b c
    --fork-session
    --resume-session-at=entry
    --session-id=fork
    --no-session-persistence
    --replay-user-messages
    --name=foo
    --await-initialize
    --settings=/s.json
    --managed-settings={"permissions":{"deny":["Bash(rm *)"]}}
    "#);
}

#[test]
fn the_cli_refuses_what_we_refuse_and_takes_what_we_take() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cli");
    let refused = [
        // Refused by argv alone; the other refusals of the recordings need a look at sessions and files.
        "session_resume_with_session_id.jsonl",
    ];
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let args = head["argv"]
            .as_array()
            .unwrap()
            .iter()
            .skip(1)
            .map(|arg| OsString::from(arg.as_str().unwrap()));
        let parsed = parse_argv(args);
        let name = file.file_name().to_string_lossy().into_owned();
        assert_eq!(
            parsed.is_err(),
            refused.contains(&name.as_str()),
            "{name}: {parsed:?}"
        );
    }
}

#[test]
fn argv_that_makes_no_sense_says_what_to_do() {
    let cases: [(&[&str], &str); 9] = [
        (
            &["hello"],
            "unexpected argument `hello`, only flags are understood here",
        ),
        (
            &["-p"],
            "unexpected argument `-p`, only flags are understood here",
        ),
        (
            &["--model"],
            "`--model` needs a value, give it as `--model=VALUE`",
        ),
        (
            &["--model", "--verbose"],
            "`--model` needs a value, give it as `--model=VALUE`",
        ),
        (&["--max-turns=many"], "`--max-turns` does not take `many`"),
        (
            &["--permission-mode=yolo"],
            "`--permission-mode` does not take `yolo`",
        ),
        (&["--verbose=1"], "`--verbose` does not take `1`"),
        (
            &["--fork-session"],
            "`--fork-session` cannot be used without `--resume`",
        ),
        (
            &["--resume=a", "--session-id=b"],
            "`--session-id` cannot be used with `--resume` unless `--fork-session` is given",
        ),
    ];
    for (args, expected) in cases {
        let error = parse_argv(args.iter().map(OsString::from)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

fn rule() -> impl Strategy<Value = String> {
    prop_oneof!["[A-Za-z_]{1,8}", r"[A-Za-z]{1,5}\([^(),]{0,6}(, ?[^(),]{0,4})?\)"]
        .prop_filter("a word of its own", |rule| rule != "default")
}

fn path() -> impl Strategy<Value = PathBuf> {
    proptest::collection::vec(1..=255_u8, 1..10).prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

fn session() -> impl Strategy<Value = SessionStart> {
    let at = || proptest::option::of("[a-z-]{1,6}".prop_map(Into::into));
    prop_oneof![
        Just(SessionStart::Unnamed),
        ".{1,6}".prop_map(|id| SessionStart::New { id: id.into() }),
        (".{1,6}", at()).prop_map(|(id, at)| SessionStart::Resume { id: id.into(), at }),
        (".{1,6}", proptest::option::of(".{1,6}"), at()).prop_map(|(from, id, at)| SessionStart::Fork {
            from: from.into(),
            id: id.map(Into::into),
            at
        }),
    ]
}

/// A choice of everything about permissions, on options that are otherwise bare.
fn permissions() -> impl Strategy<Value = LaunchOptions> {
    let rules = || proptest::collection::vec(rule(), 0..4);
    let tools = prop_oneof![
        Just(Tools::Preset),
        Just(Tools::Unspecified),
        rules().prop_map(Tools::Only)
    ];
    let prompts = prop_oneof![
        Just(PermissionPrompts::Host),
        Just(PermissionPrompts::Nobody),
        "mcp__[a-z]{1,5}".prop_map(PermissionPrompts::Tool)
    ];
    let mode = proptest::option::of(prop::sample::select(PermissionMode::ALL.to_vec()));
    let sources = proptest::option::of(prop::sample::subsequence(SettingSource::ALL.to_vec(), 0..=3));
    (prompts, mode, any::<bool>(), tools, rules(), rules(), sources).prop_map(
        |(permission_prompts, permission_mode, allow_bypass, tools, allowed, disallowed, setting_sources)| {
            LaunchOptions {
                permission_prompts,
                permission_mode,
                allow_bypass,
                tools,
                allowed_tools: allowed,
                disallowed_tools: disallowed,
                setting_sources,
                ..LaunchOptions::new("", SessionStart::Unnamed)
            }
        },
    )
}

fn options() -> impl Strategy<Value = LaunchOptions> {
    let text = || proptest::option::of(".{1,6}");
    let thinking = proptest::option::of(prop_oneof![
        Just(Thinking::Adaptive),
        Just(Thinking::Disabled),
        any::<u32>().prop_map(|tokens| Thinking::Budget { tokens })
    ]);
    let model = (
        text(),
        text(),
        text(),
        text(),
        thinking,
        proptest::option::of(any::<u32>()),
    );
    let paths = (
        proptest::collection::vec(path(), 0..3),
        proptest::option::of(path()),
        proptest::option::of(path()),
    );
    let extra = proptest::collection::vec(("x-[a-z]{1,5}", text()), 0..3);
    let managed = proptest::option::of(".{0,6}".prop_map(|rule| json!({"permissions": {"deny": [rule]}})));
    (
        permissions(),
        session(),
        model,
        paths,
        any::<[bool; 5]>(),
        (extra, managed),
    )
        .prop_map(
            |(permissions, session, model, paths, flags, (extra_args, managed_settings))| LaunchOptions {
                session,
                model: model.0,
                fallback_model: model.1,
                effort: model.2,
                agent: model.3,
                thinking: model.4,
                max_turns: model.5,
                additional_directories: paths.0,
                debug_file: paths.1,
                settings_file: paths.2,
                managed_settings,
                strict_mcp_config: flags[0],
                partial_messages: flags[1],
                hook_events: flags[2],
                replay_user_messages: flags[3],
                persist_session: flags[4],
                extra_args,
                ..permissions
            },
        )
}

proptest! {
    #[test]
    fn what_argv_says_is_what_was_meant(options in options(), config in proptest::option::of(path())) {
        let parsed = parse_argv(argv(&options, config.as_deref())).unwrap();
        prop_assert_eq!(parsed, ParsedArgv { options, mcp_configs: config.into_iter().collect() });
    }

    #[test]
    fn no_argv_panics(args in proptest::collection::vec(
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..12).prop_map(OsString::from_vec),
            "--(resume|tools|session-id|thinking|max-turns|setting-sources|settings)(=.{0,5})?".prop_map(OsString::from),
        ],
        0..6,
    )) {
        let _ = parse_argv(args);
    }
}

fn of<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_os_str())
}

fn inherited(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[test]
fn the_environment_is_inherited_without_the_marks_of_an_outer_claude() {
    let outer = inherited(&[
        ("HOME", "/home/user"),
        ("PATH", "/usr/bin"),
        ("ANTHROPIC_API_KEY", "k"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        ("LINES_OF_TEXT", "one\ntwo"),
        ("PWD", "/elsewhere"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", "outer"),
        ("CLAUDE_CODE_MESSAGING_TOKEN", "t"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("AI_AGENT", "claude"),
        ("NODE_OPTIONS", "--inspect"),
        ("DEBUG", "*"),
    ]);
    let names_and_values: Vec<String> = environment(&new_session(), outer)
        .into_iter()
        .map(|(name, value)| {
            format!("{}={}", name.display(), value.display()).replace(env!("CARGO_PKG_VERSION"), "VERSION")
        })
        .collect();
    insta::assert_snapshot!(names_and_values.join("\n"), @"
    ANTHROPIC_API_KEY=k
    CLAUDE_AGENT_SDK_CLIENT_APP=claude-acp/VERSION
    CLAUDE_CODE_ENTRYPOINT=sdk-ts
    CLAUDE_CODE_MAX_RETRIES=3
    CLAUDE_CODE_SDK_READS_SESSION_STATE=1
    CLAUDE_CONFIG_DIR=/c
    HOME=/home/user
    LINES_OF_TEXT=one
    two
    PATH=/usr/bin
    PWD=/home/user/project
    ");
}

#[test]
fn bytes_that_are_no_text_pass() {
    let odd = OsStr::from_bytes(b"a\xffb");
    let environment = environment(&new_session(), [(OsString::from("ODD"), odd.to_owned())]);
    assert_eq!(of(&environment, "ODD"), Some(odd));
}

#[test]
fn the_sessions_own_variables_win_over_everything() {
    let own = [
        ("CLAUDE_CODE_ENTRYPOINT", "mine"),
        ("NODE_OPTIONS", "--mine"),
        ("PATH", "/mine"),
        ("TEXT", "a\nb"),
    ];
    let env = own
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let options = LaunchOptions { env, ..new_session() };
    let environment = environment(
        &options,
        inherited(&[("PATH", "/usr/bin"), ("NODE_OPTIONS", "--other")]),
    );
    for (name, value) in own {
        assert_eq!(of(&environment, name), Some(OsStr::new(value)), "{name}");
    }
}

#[test]
fn an_empty_environment_is_no_error() {
    let environment = environment(&new_session(), []);
    assert_eq!(of(&environment, "PWD"), Some(OsStr::new("/home/user/project")));
}

fn servers() -> Vec<McpServer> {
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    vec![
        McpServer::Stdio {
            name: "my files. v2".to_owned(),
            command: "/bin/x".to_owned(),
            args: vec!["--a b".to_owned(), String::new()],
            env: pair("TOKEN", "secret-1\nnext"),
        },
        McpServer::Http {
            name: "日本 \"api\"".to_owned(),
            url: "https://example.com/mcp".to_owned(),
            headers: pair("Authorization", "Bearer secret-2"),
        },
        McpServer::Sse {
            name: "old".to_owned(),
            url: "https://example.com/sse".to_owned(),
            headers: Vec::new(),
        },
    ]
}

#[test]
fn mcp_servers_reach_the_cli_through_a_private_file_that_does_not_stay() {
    let file = McpConfigFile::write(&servers()).unwrap().unwrap();
    let path = file.path().to_owned();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(read_mcp_config(&path).unwrap(), servers());
    drop(file);
    assert!(!path.exists());
}

#[test]
fn the_mcp_configuration_is_a_map_of_servers() {
    let config = serde_json::to_string_pretty(&mcp_config(&servers()).unwrap()).unwrap();
    insta::assert_snapshot!(config, @r#"
    {
      "mcpServers": {
        "my files. v2": {
          "type": "stdio",
          "command": "/bin/x",
          "args": [
            "--a b",
            ""
          ],
          "env": {
            "TOKEN": "secret-1\nnext"
          }
        },
        "日本 \"api\"": {
          "type": "http",
          "url": "https://example.com/mcp",
          "headers": {
            "Authorization": "Bearer secret-2"
          }
        },
        "old": {
          "type": "sse",
          "url": "https://example.com/sse",
          "headers": {}
        }
      }
    }
    "#);
}

#[test]
fn neither_argv_nor_debug_output_holds_a_secret_of_an_mcp_server() {
    let options = LaunchOptions {
        mcp_servers: servers(),
        ..new_session()
    };
    let file = McpConfigFile::write(&options.mcp_servers).unwrap().unwrap();
    let args = argv(&options, Some(file.path()));
    assert!(args.contains(&OsString::from(format!("--mcp-config={}", file.path().display()))));
    assert!(!format!("{args:?} {options:?} {file:?}").contains("secret"));
}

#[test]
fn without_servers_there_is_no_file() {
    assert!(McpConfigFile::write(&[]).unwrap().is_none());
}

#[test]
fn servers_that_would_get_lost_are_refused_by_name() {
    let twice = [servers(), servers()].concat();
    let error = McpConfigFile::write(&twice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two MCP servers are called `my files. v2`, give them different names"
    );

    let alike = ["a b", "a.b"].map(|name| McpServer::Sse {
        name: name.to_owned(),
        url: String::new(),
        headers: Vec::new(),
    });
    let error = McpConfigFile::write(&alike).unwrap_err();
    let expected = "the tools of the MCP servers `a b` and `a.b` would both be called `mcp__a_b__…`, rename one of the servers";
    assert_eq!(error.to_string(), expected);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let cases = [
        (
            r#"{"mcpServers":{"a":{"type":"ws"}}}"#,
            "the MCP server `a` is of an unknown kind or incomplete",
        ),
        (
            r#"{"mcpServers":{"a":{"type":"http"}}}"#,
            "the MCP server `a` is of an unknown kind or incomplete",
        ),
        (
            r#"{"mcpServers":{"a":{"command":"x","env":{"PORT":80}}}}"#,
            "the MCP server `a` is of an unknown kind or incomplete",
        ),
        (
            r#"{"mcpServers":{"a":{"command":"x","args":"y"}}}"#,
            "the MCP server `a` is of an unknown kind or incomplete",
        ),
        (
            "[]",
            "the MCP configuration is not an object with `mcpServers`: the key is missing",
        ),
    ];
    for (config, expected) in cases {
        std::fs::write(&path, config).unwrap();
        assert_eq!(read_mcp_config(&path).unwrap_err().to_string(), expected);
    }
}
