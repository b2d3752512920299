//! What is laid over the settings of user and project, each time a Claude is started.
//!
//! Place in the flow: applied to the launch options of each process. For everybody: what would keep Claude from calling the
//! guard back. Under an operator's policy also what a project says about programs that Claude runs for itself and about their
//! environment: there the user's word counts, or none.

use std::ffi::OsString;

use claude_sdk_bridge::launch::{LaunchOptions, environment};
use claude_sdk_bridge::settings::SettingsText;
use permission_core::policy::Policy;
use permission_core::settings::SettingsSource;
use serde_json::{Map, Value, json};

/// Keys whose value is a command that Claude runs by itself.
const HELPERS: [&str; 6] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "proxyAuthHelper",
];

/// A variable that has Claude leave out its hooks, callbacks included; settings may bring it at any time.
const SWITCHES_GUARD_OFF: &str = "CLAUDE_CODE_SIMPLE";

/// Writes into the options what the next process must be told. `inherited` is the environment of this one.
pub(super) fn enforce(
    options: &mut LaunchOptions,
    policy: Option<&Policy>,
    files: &[SettingsText],
    inherited: &[(OsString, OsString)],
) {
    let mut settings = match policy {
        Some(policy) => of_policy(options, policy, files, inherited),
        None => match options.settings.take() {
            Some(Value::Object(clients)) => clients,
            Some(_) | None => Map::new(),
        },
    };
    let env = settings.entry("env").or_insert_with(|| json!({}));
    if let Some(env) = env.as_object_mut() {
        env.insert(SWITCHES_GUARD_OFF.to_owned(), json!("0"));
    }
    options.settings = Some(Value::Object(settings));
}

fn of_policy(
    options: &mut LaunchOptions,
    policy: &Policy,
    files: &[SettingsText],
    inherited: &[(OsString, OsString)],
) -> Map<String, Value> {
    // Servers of a project's files would start without a question.
    options.strict_mcp_config = true;
    options.managed_settings = Some(policy.managed_settings());
    let read: Vec<(SettingsSource, Value)> = files.iter().filter_map(read).collect();
    let users = |key: &str| {
        let user = read.iter().find(|(source, _)| *source == SettingsSource::User);
        user.and_then(|(_, settings)| settings.get(key)).cloned()
    };
    let mut settings = policy.flag_settings();
    for key in HELPERS {
        let value = users(key).filter(Value::is_string).unwrap_or_else(|| json!(""));
        settings.insert(key.to_owned(), value);
    }
    let inherited = environment(options, inherited.iter().cloned());
    let env = users("env").unwrap_or_default();
    let value = |name: &str| {
        let process = || {
            let (_, value) = inherited.iter().find(|(inherited, _)| inherited == name)?;
            value.to_str().map(Value::from)
        };
        env.get(name)
            .cloned()
            .or_else(process)
            .unwrap_or_else(|| json!(""))
    };
    let named = read
        .iter()
        .filter(|(source, _)| matches!(source, SettingsSource::Project | SettingsSource::Local))
        .filter_map(|(_, settings)| settings.get("env")?.as_object())
        .flat_map(Map::keys);
    let env: Map<String, Value> = named.map(|name| (name.clone(), value(name))).collect();
    settings.insert("env".to_owned(), Value::Object(env));
    settings
}

/// A file as Claude would read it; one that it cannot read says nothing.
fn read(file: &SettingsText) -> Option<(SettingsSource, Value)> {
    let text = file.text.as_deref().ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Some((file.source, serde_json::from_str(text).ok()?))
}

#[cfg(test)]
mod tests {
    use claude_sdk_bridge::launch::SessionStart;
    use permission_core::rules::{RuleKind, RuleOrigin};

    use super::*;

    fn file(source: SettingsSource, text: &str) -> SettingsText {
        SettingsText {
            source,
            path: "settings.json".into(),
            text: Ok(text.to_owned()),
        }
    }

    #[test]
    fn the_users_word_counts_for_programs_and_variables_that_a_project_names() {
        let mut policy = Policy {
            confine: true,
            bypass_disabled: true,
            ..Policy::default()
        };
        policy
            .rules
            .add(RuleKind::Deny, "Bash(rm *)", RuleOrigin::Arguments);
        let files = [
            file(
                SettingsSource::User,
                r#"{"apiKeyHelper": "/home/u/key", "env": {"FROM_USER": "user"}, "awsAuthRefresh": 5}"#,
            ),
            file(
                SettingsSource::Project,
                r#"{"apiKeyHelper": "./evil", "proxyAuthHelper": "./evil", "env": {"PATH": "./evil", "CLAUDE_CODE_SIMPLE": "1", "FROM_USER": "evil", "BASH_ENV": "./evil"}}"#,
            ),
            file(
                SettingsSource::Local,
                "\u{feff}{\"env\": {\"DEBUG\": \"evil\", \"CLAUDECODE\": \"evil\"}}",
            ),
            file(SettingsSource::Managed, r#"{"env": {"MANAGED": "x"}}"#),
            file(SettingsSource::Local, "{broken"),
        ];
        let inherited = [("PATH", "/bin"), ("FROM_USER", "process"), ("DEBUG", "process")];
        let inherited = inherited.map(|(name, value)| (name.into(), value.into()));
        let mut options = LaunchOptions::new("/repo", SessionStart::Unnamed);
        enforce(&mut options, Some(&policy), &files, &inherited);
        assert!(options.strict_mcp_config);
        assert_eq!(options.managed_settings, Some(policy.managed_settings()));
        insta::assert_snapshot!(serde_json::to_string_pretty(&options.settings.unwrap()).unwrap(), @r#"
        {
          "permissions": {
            "deny": [
              "Bash(rm *)"
            ],
            "ask": [],
            "disableBypassPermissionsMode": "disable",
            "blockReadsOutsideWorkingDirectories": true
          },
          "disableAllHooks": true,
          "apiKeyHelper": "/home/u/key",
          "awsAuthRefresh": "",
          "awsCredentialExport": "",
          "gcpAuthRefresh": "",
          "otelHeadersHelper": "",
          "proxyAuthHelper": "",
          "env": {
            "PATH": "/bin",
            "CLAUDE_CODE_SIMPLE": "0",
            "FROM_USER": "user",
            "BASH_ENV": "",
            "DEBUG": "",
            "CLAUDECODE": ""
          }
        }
        "#);
    }

    #[test]
    fn without_a_policy_only_the_guard_is_kept_on() {
        let files = [file(SettingsSource::Project, r#"{"env": {"PATH": "x"}}"#)];
        let mut options = LaunchOptions::new("/repo", SessionStart::Unnamed);
        enforce(&mut options, None, &files, &[]);
        assert_eq!(
            options.settings,
            Some(json!({"env": {"CLAUDE_CODE_SIMPLE": "0"}}))
        );
        options.settings = Some(json!({"model": "opus", "env": {"A": "1", "CLAUDE_CODE_SIMPLE": "1"}}));
        enforce(&mut options, None, &files, &[]);
        let clients = json!({"model": "opus", "env": {"A": "1", "CLAUDE_CODE_SIMPLE": "0"}});
        assert_eq!(options.settings, Some(clients));
        assert!(!options.strict_mcp_config && options.managed_settings.is_none());
    }
}
