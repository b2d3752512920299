//! Which choices of a client are taken, and how the others are refused.

use claude_sdk_bridge::launch::{McpServer, SessionStart, argv};
use serde_json::json;

use super::*;

fn options() -> LaunchOptions {
    LaunchOptions::new("/", SessionStart::Unnamed)
}

fn wanted(meta: Value, policy: Option<&Policy>) -> Result<Wanted, String> {
    let mut wanted = Wanted::new(options());
    let applied = apply(meta.as_object(), policy, &mut wanted);
    applied.map(|()| wanted).map_err(|error| error.to_string())
}

fn applied(chosen: Value, policy: Option<&Policy>) -> Result<LaunchOptions, String> {
    wanted(json!({"claudeCode": {"options": chosen}}), policy).map(|wanted| wanted.options)
}

#[test]
fn what_narrows_or_only_shows_passes_with_and_without_a_policy() {
    let chosen = json!({
        "model": "opus", "effort": "high", "agent": "rev", "maxTurns": 3, "tools": ["Read"], "disallowedTools": ["Bash"],
        "additionalDirectories": ["/srv"], "promptSuggestions": false, "allowDangerouslySkipPermissions": false,
    });
    for policy in [None, Some(&Policy::default())] {
        let expected = LaunchOptions {
            model: Some("opus".to_owned()),
            effort: Some("high".to_owned()),
            agent: Some("rev".to_owned()),
            max_turns: Some(3),
            tools: Tools::Only(vec!["Read".to_owned()]),
            disallowed_tools: vec!["Bash".to_owned()],
            additional_directories: vec!["/srv".into()],
            ..options()
        };
        let all = json!({"claudeCode": {"options": chosen}});
        assert!(wanted(all, policy).unwrap().bypass_declined);
        assert_eq!(applied(chosen.clone(), policy), Ok(expected));
    }
    let preset = json!({"tools": {"type": "preset", "preset": "claude_code"}});
    assert_eq!(applied(preset, None).unwrap().tools, Tools::Preset);
}

/// What is different from a session whose client chooses nothing.
fn changes(options: &LaunchOptions) -> Vec<String> {
    let line = |options: &LaunchOptions| -> Vec<String> {
        let args = argv(options, None).into_iter();
        let args = args.map(|arg| arg.into_string().unwrap());
        let env = options.env.iter().map(|(name, value)| format!("{name}={value}"));
        args.chain(env)
            .chain(options.settings.as_ref().map(Value::to_string))
            .collect()
    };
    let usual = line(&self::options());
    line(options)
        .into_iter()
        .filter(|word| !usual.contains(word))
        .collect()
}

#[test]
fn without_a_policy_every_key_that_can_be_heeded_is() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("s.json");
    std::fs::write(&file, "\u{feff}{\"model\":\"haiku\"}").unwrap();
    let rows = [
        (json!({"settings": {"env": {"A": "1"}}}), r#"{"env":{"A":"1"}}"#),
        (json!({"settings": "{\"a\": 1}"}), r#"{"a":1}"#),
        (json!({"settings": file}), r#"{"model":"haiku"}"#),
        (
            json!({"settingSources": ["user", "local"]}),
            "--setting-sources=user,local",
        ),
        (json!({"settingSources": []}), "--setting-sources="),
        (
            json!({"permissionMode": "acceptEdits"}),
            "--permission-mode=acceptEdits",
        ),
        (
            json!({"allowedTools": ["Bash(npm test)", "Read"]}),
            "--allowedTools=Bash(npm test),Read",
        ),
        (json!({"env": {"TOKEN": "x", "EMPTY": ""}}), "TOKEN=x EMPTY="),
        (json!({"fallbackModel": "haiku"}), "--fallback-model=haiku"),
        (json!({"strictMcpConfig": true}), "--strict-mcp-config"),
        (json!({"maxThinkingTokens": 0}), "--max-thinking-tokens=0"),
        (json!({"thinking": {"type": "disabled"}}), "--thinking=disabled"),
        (json!({"thinking": {"type": "enabled"}}), "--thinking=adaptive"),
        (
            json!({"thinking": {"type": "enabled", "budgetTokens": 9}}),
            "--max-thinking-tokens=9",
        ),
        (json!({"maxBudgetUsd": 1.5}), "--max-budget-usd=1.5"),
        (json!({"betas": ["a", "b"]}), "--betas=a,b"),
        (
            json!({"plugins": [{"type": "local", "path": "/"}]}),
            "--plugin-dir=/",
        ),
        (json!({"allowDangerouslySkipPermissions": true}), ""),
    ];
    for (chosen, expected) in rows {
        let options = applied(chosen.clone(), None).unwrap();
        assert_eq!(changes(&options).join(" "), expected, "{chosen}");
        let forbidden = applied(chosen, Some(&Policy::default())).unwrap_err();
        assert!(forbidden.starts_with("the operator's policy"), "{forbidden}");
    }
}

#[test]
fn agents_servers_and_prompts_go_where_they_belong() {
    let agents = json!({"rev": {"description": "Reviews", "prompt": "Review.", "model": "haiku", "more": 1}});
    let servers = json!({"s": {"command": "x"}});
    let options = json!({"agents": agents, "mcpServers": servers, "systemPrompt": "whole"});
    let meta = json!({"claudeCode": {"options": options}, "systemPrompt": {"append": "older"}});
    let all = wanted(meta, None).unwrap();
    assert_eq!(
        serde_json::to_value(&all.greeting).unwrap(),
        json!({"agents": agents, "systemPrompt": ["whole"]})
    );
    assert_eq!(Value::Object(all.servers), servers);
    // It allows nothing, so an operator needs no word in it.
    for meta in [
        json!({"systemPrompt": "s"}),
        json!({"claudeCode": {"options": {"systemPrompt": "s"}}}),
    ] {
        let greeting = wanted(meta, Some(&Policy::default())).unwrap().greeting;
        assert_eq!(
            serde_json::to_value(&greeting).unwrap(),
            json!({"systemPrompt": ["s"]})
        );
    }
}

#[test]
fn older_keys_beside_the_options_are_heeded_and_give_way() {
    let tools = |meta: Value| wanted(meta, None).map(|wanted| wanted.options.tools);
    let none = json!({"disableBuiltInTools": true});
    assert_eq!(tools(none), Ok(Tools::Only(Vec::new())));
    let both = json!({"disableBuiltInTools": true, "claudeCode": {"options": {"tools": ["Read"]}}});
    assert_eq!(tools(both), Ok(Tools::Only(vec!["Read".to_owned()])));
    let roots = wanted(json!({"additionalRoots": ["/srv"]}), None).unwrap();
    assert_eq!(roots.options.additional_directories, [PathBuf::from("/srv")]);
    let nothing = json!({
        "traceparent": "00-1", "systemPrompt": null, "additionalRoots": null, "disableBuiltInTools": false,
        "claudeCode": {"options": {}, "emitRawSDKMessages": false},
    });
    assert_eq!(wanted(nothing, None), Ok(Wanted::new(options())));
}

#[test]
fn case_99_every_other_key_is_refused_by_name_under_a_policy() {
    let keys = [
        "settings",
        "env",
        "extraArgs",
        "allowedTools",
        "permissionMode",
        "hooks",
        "mcpServers",
        "cwd",
        "resume",
        "allowDangerouslySkipPermissions",
        "managedSettings",
        "pathToClaudeCodeExecutable",
    ];
    for key in keys {
        let refused = applied(json!({ key: true }), Some(&Policy::default())).unwrap_err();
        assert!(
            refused.contains(&format!("`_meta.claudeCode.options.{key}`")),
            "{refused}"
        );
    }
}

#[test]
fn what_cannot_be_heeded_is_refused_by_name() {
    let rows = [
        json!({"hooks": {"PreToolUse": []}}),
        json!({"cwd": "/"}),
        json!({"sandbox": {"enabled": true}}),
        json!({"resume": "x"}),
        json!({"extraArgs": {"bare": null}}),
        json!({"managedSettings": {}}),
        json!({"settingsources": []}),
    ];
    let mut refused: Vec<String> = rows
        .into_iter()
        .map(|row| applied(row, None).unwrap_err())
        .collect();
    for meta in [
        json!({"claudeCode": {"emitRawSDKMessages": true}}),
        json!({"claudeCode": {"option": {"model": "opus"}}}),
        json!({"claudeCode": {"options": []}}),
        json!({"claudeCode": "x"}),
        json!({"systemPrompt": 5}),
        json!({"disableBuiltInTools": "yes"}),
        json!({"additionalRoots": ["relative"]}),
    ] {
        refused.push(wanted(meta, None).unwrap_err());
    }
    insta::assert_snapshot!(refused.join("\n"), @r#"
    `_meta.claudeCode.options.hooks` is not supported; put hooks that are commands into `settings`
    `_meta.claudeCode.options.cwd` is not supported; give it as the session's own `cwd`
    `_meta.claudeCode.options.sandbox` is not supported; put it into `settings`
    `_meta.claudeCode.options.resume` is not supported; leave it out
    `_meta.claudeCode.options.extraArgs` is not supported; leave it out
    `_meta.claudeCode.options.managedSettings` is not supported; leave it out
    `_meta.claudeCode.options.settingsources` is not supported; leave it out
    `_meta.claudeCode.emitRawSDKMessages` is not supported; leave it out
    `_meta.claudeCode.option` is not supported; leave it out
    `_meta.claudeCode.options` must be an object
    `_meta.claudeCode` must be an object
    `_meta.systemPrompt` must be a string, a list of strings, or `{"type": "preset", "preset": "claude_code", "append": "…"}`
    `_meta.disableBuiltInTools` must be `true` or `false`
    `_meta.additionalRoots` must be a list of absolute paths
    "#);
}

#[test]
fn a_value_of_another_shape_is_refused_with_what_is_expected() {
    let rows = [
        json!({"model": 5}),
        json!({"agent": " "}),
        json!({"maxTurns": 0}),
        json!({"tools": "Read"}),
        json!({"disallowedTools": [1]}),
        json!({"additionalDirectories": ["relative"]}),
        json!({"settingSources": ["managed"]}),
        json!({"settings": "/no/such/file"}),
        json!({"settings": {"env": "CLAUDE_CODE_SIMPLE=1"}}),
        json!({"permissionMode": "yolo"}),
        json!({"env": {"PORT": 80}}),
        json!({"env": {"CLAUDE_CODE_SIMPLE": "1"}}),
        json!({"env": {"CLAUDE_CONFIG_DIR": "/x"}}),
        json!({"mcpServers": ["x"]}),
        json!({"agents": {"rev": {"description": "no prompt"}}}),
        json!({"thinking": {"type": "hard"}}),
        json!({"maxBudgetUsd": 0}),
        json!({"plugins": [{"type": "local", "path": "relative"}]}),
        json!({"plugins": [{"type": "local", "path": "/no/such/folder"}]}),
        json!({"allowDangerouslySkipPermissions": "no"}),
        json!({"includePartialMessages": 1}),
        json!({"systemPrompt": {"type": "preset", "preset": "other"}}),
    ];
    let refused: Vec<String> = rows
        .into_iter()
        .map(|row| applied(row, None).unwrap_err())
        .collect();
    insta::assert_snapshot!(refused.join("\n"), @r#"
    `_meta.claudeCode.options.model` must be a string that is not blank
    `_meta.claudeCode.options.agent` must be a string that is not blank
    `_meta.claudeCode.options.maxTurns` must be a whole number above 0
    `_meta.claudeCode.options.tools` must be a list of tool names, or `{"type": "preset", "preset": "claude_code"}`
    `_meta.claudeCode.options.disallowedTools` must be a list of strings that are not blank
    `_meta.claudeCode.options.additionalDirectories` must be a list of absolute paths
    `_meta.claudeCode.options.settingSources` must be a list of `user`, `project` and `local`
    `_meta.claudeCode.options.settings` must be an object in the shape of Claude's settings, whose `env` is one as well, or the path of a file that holds it
    `_meta.claudeCode.options.settings` must be an object in the shape of Claude's settings, whose `env` is one as well, or the path of a file that holds it
    `_meta.claudeCode.options.permissionMode` must be `default`, `acceptEdits`, `plan`, `auto`, `bypassPermissions` or `dontAsk`
    `_meta.claudeCode.options.env` must be an object of strings, without `HOME`, `CLAUDE_CONFIG_DIR` and the variables by which the agent drives Claude
    `_meta.claudeCode.options.env` must be an object of strings, without `HOME`, `CLAUDE_CONFIG_DIR` and the variables by which the agent drives Claude
    `_meta.claudeCode.options.env` must be an object of strings, without `HOME`, `CLAUDE_CONFIG_DIR` and the variables by which the agent drives Claude
    `_meta.claudeCode.options.mcpServers` must be an object of stdio, `http` and `sse` servers by their names
    `_meta.claudeCode.options.agents` must be an object of agents by their names, each with a `description` and a `prompt`
    `_meta.claudeCode.options.thinking` must be `{"type": "adaptive"}`, `{"type": "disabled"}` or `{"type": "enabled", "budgetTokens": 1024}`
    `_meta.claudeCode.options.maxBudgetUsd` must be a number above 0
    `_meta.claudeCode.options.plugins` must be a list of `{"type": "local", "path": "/absolute"}`, each of a folder that is there
    `_meta.claudeCode.options.plugins` must be a list of `{"type": "local", "path": "/absolute"}`, each of a folder that is there
    `_meta.claudeCode.options.allowDangerouslySkipPermissions` must be `true` or `false`
    `_meta.claudeCode.options.includePartialMessages` must be `true` or `false`
    `_meta.claudeCode.options.systemPrompt` must be a string, a list of strings, or `{"type": "preset", "preset": "claude_code", "append": "…"}`
    "#);
}

#[test]
fn a_policy_keeps_directories_inside_and_servers_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    for name in ["repo/sub", "shared", "elsewhere"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(root.join("elsewhere"), root.join("repo/link")).unwrap();
    let policy = Policy {
        additional_directories: vec!["~/shared".to_owned(), "/nowhere/at/all".to_owned()],
        ..Policy::default()
    };
    let limited = |directories: &[&str]| {
        let mut options = LaunchOptions::new(root.join("repo"), SessionStart::Unnamed);
        options.additional_directories = directories.iter().map(|name| root.join(name)).collect();
        limit(&policy, root.to_str(), &mut options).map(|()| options)
    };
    let inside = limited(&["repo/sub", "shared/new"]).unwrap();
    let expected = ["repo/sub", "shared/new", "shared"].map(|name| root.join(name));
    assert_eq!(inside.additional_directories, expected);
    for outside in ["elsewhere", "repo/link", "repo/../elsewhere", "."] {
        assert!(
            matches!(limited(&[outside]), Err(ClientOptionError::Outside(_))),
            "{outside}"
        );
    }
    let mut options = options();
    options.mcp_servers = vec![McpServer::Sse {
        name: "s".to_owned(),
        url: "http://localhost".to_owned(),
        headers: Vec::new(),
    }];
    let refused = limit(&policy, None, &mut options.clone())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("`s`") && refused.contains("`permissions.clientMcpServers`"),
        "{refused}"
    );
    let policy = Policy {
        client_mcp_servers: true,
        ..Policy::default()
    };
    assert_eq!(limit(&policy, None, &mut options), Ok(()));
}
