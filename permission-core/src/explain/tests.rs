//! What explanations say, for commands and files of every kind.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::policy::Policy;
use crate::rules::judged;
use crate::settings::{HostFacts, SettingsFile, SettingsSource};
use crate::testing::Links;
use crate::{LexicalPaths, PathResolver, PermissionMode};

const USER: &str = r#"{
  "permissions": {
    "allow": ["Bash(git status *)", "Bash(npm test *)", "Read(~/notes/**)", "mcp__db__read"],
    "deny": ["Read(.env)"],
    "additionalDirectories": ["~/lib"]
  },
  "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
    { "type": "command", "command": "notify" },
    { "type": "prompt", "prompt": "fine?" }
  ] }] }
}"#;
const PROJECT: &str = r#"{
  "permissions": {
    "allow": ["Bash(make *)", "B*"],
    "deny": ["Bash(rm *)"],
    "ask": ["Bash(git push *)"]
  }
}"#;
const POLICY: &str = r#"{
  "permissions": {
    "deny": ["Bash(curl *)", "WebFetch"],
    "ask": ["Bash(npm publish *)"],
    "allow": ["Bash(npm *)"]
  },
  "hooks": { "PreToolUse": [
    { "matcher": "Bash|Write", "hooks": [{ "type": "command", "command": "/usr/local/bin/audit" }] }
  ] }
}"#;

fn settings(files: &[(SettingsSource, &str, &str)]) -> Vec<SettingsFile> {
    let files = files.iter();
    files
        .map(|(source, file, text)| judged(SettingsFile::parse(*source, Path::new(file), text)))
        .collect()
}

fn usual() -> Vec<SettingsFile> {
    settings(&[
        (SettingsSource::User, "/home/u/.claude/settings.json", USER),
        (SettingsSource::Project, "/repo/.claude/settings.json", PROJECT),
    ])
}

fn policy(text: &str) -> Arc<Policy> {
    Arc::new(Policy::read(Path::new("/etc/policy.json"), text).unwrap())
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

fn file(tool: &'static str, path: &str) -> (&'static str, Value) {
    (tool, json!({ "file_path": path }))
}

struct World {
    settings: Vec<SettingsFile>,
    policy: Option<Arc<Policy>>,
    mode: Option<PermissionMode>,
    host: HostFacts,
}

impl World {
    fn new(policy: Option<&str>, mode: Option<PermissionMode>) -> Self {
        Self {
            settings: usual(),
            policy: policy.map(self::policy),
            mode,
            host: HostFacts::default(),
        }
    }

    fn explain_at(&self, paths: &dyn PathResolver, (tool, input): &(&str, Value)) -> Account {
        let session = ExplainedSession {
            cwd: "/repo",
            home: Some("/home/u"),
            plans: Some("/home/u/.claude/plans"),
            settings: &self.settings,
            host: self.host,
            mode: self.mode,
            policy: self.policy.as_ref(),
            paths,
        };
        explain(&session, tool, input)
    }

    fn explain(&self, call: &(&str, Value)) -> Account {
        self.explain_at(&LexicalPaths, call)
    }
}

fn texts(world: &World, calls: &[(&str, Value)]) -> String {
    let texts: Vec<String> = calls.iter().map(|call| world.explain(call).to_string()).collect();
    texts.join("\n\n----\n\n")
}

#[test]
fn claudes_own_rules() {
    let calls = [
        bash("ls"),
        bash("npm test"),
        bash("npm test && git status -s"),
        bash("npm test && id"),
        bash("npm test > log.txt"),
        bash("npm test $(id)"),
        bash("PATH=. npm test"),
        bash("NODE_ENV=test timeout 30 npm test"),
        bash("rm -rf build"),
        bash("FOO=1 rm a"),
        bash("echo $(rm c)"),
        bash("sudo rm a"),
        bash("git push origin main"),
        bash("make all"),
        bash("cat .env"),
        file("Read", "src/main.rs"),
        file("Read", "/home/u/notes/today.md"),
        file("Read", "/home/u/lib/x.rs"),
        file("Read", ".env"),
        file("Edit", ".env"),
        file("Write", "src/new.rs"),
        ("mcp__db__read", json!({})),
        ("mcp__db__write", json!({})),
        ("WebFetch", json!({ "url": "https://example.com" })),
        ("TaskList", json!({})),
        ("AskUserQuestion", json!({ "questions": [] })),
    ];
    insta::assert_snapshot!(texts(&World::new(None, None), &calls));
}

#[test]
fn under_a_policy() {
    let calls = [
        bash("ls"),
        bash("npm test"),
        bash("npm install"),
        bash("npm publish --dry-run"),
        bash("echo a; curl example.com"),
        bash("npm install $(id)"),
        bash("rm a"),
        file("Write", "/repo/.claude/settings.local.json"),
        file("Write", "/etc/policy.json"),
        ("WebFetch", json!({ "url": "https://example.com" })),
        ("WebSearch", json!("no object")),
    ];
    insta::assert_snapshot!(texts(&World::new(Some(POLICY), None), &calls));
}

#[test]
fn modes() {
    let calls = [
        bash("ls"),
        bash("touch a"),
        bash("git push"),
        bash("rm a"),
        file("Write", "src/new.rs"),
        file("Write", "/home/u/.claude/plans/p.md"),
        ("ExitPlanMode", json!({})),
    ];
    let mut lines = Vec::new();
    for with in [None, Some(POLICY)] {
        for mode in PermissionMode::ALL {
            let world = World::new(with, Some(mode));
            for call in &calls {
                let Account { verdict, by, .. } = world.explain(call);
                let input = call.1.get("command").or(call.1.get("file_path"));
                let policy = with.map_or("no policy", |_| "policy");
                let input = input.and_then(Value::as_str).unwrap_or("-");
                lines.push(format!(
                    "{policy:<9} {:<17} {:<12} {input:<26} {verdict:?} {by:?}",
                    mode.wire_id(),
                    call.0
                ));
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

/// The world with one switch in its policy.
fn with(switch: &str) -> World {
    let rules = r#""allow": ["Bash(npm *)"], "ask": ["Bash(git *)"]"#;
    World::new(Some(&format!("{{\"permissions\": {{{switch}, {rules}}}}}")), None)
}

#[test]
fn switches_of_a_policy() {
    let check = |switch: &str, call: (&str, Value), expected: &str| {
        let account = with(switch).explain(&call);
        let said = format!("{:?} {:?}", account.verdict, account.by);
        assert_eq!(said, expected, "{switch}: {account}");
    };
    check(r#""autoAllow": true"#, bash("npm ci"), "Runs Policy");
    check(r#""autoAllow": false"#, bash("npm ci"), "Asked Claude");
    check(r#""autoAllow": true"#, bash("npm ci; id"), "Asked Claude");
    check(r#""autoAllow": true"#, bash("rm a"), "Denied Claude");
    check(r#""headless": true"#, bash("npm ci"), "Denied Policy");
    check(r#""headless": true"#, bash("git log"), "Denied Policy");
    check(r#""headless": true"#, bash("npm test"), "Runs Claude");
    check(r#""confine": true"#, file("Write", "/etc/a"), "Denied Policy");
    check(
        r#""confine": true"#,
        file("Read", "/home/u/lib/a"),
        "Denied Policy",
    );
    check(r#""confine": true"#, bash("echo $(id)"), "Asked Policy");
    let srv = r#""confine": true, "additionalDirectories": ["/srv"]"#;
    check(srv, file("Read", "/srv/a"), "Runs Claude");
    let headless = with(r#""headless": true"#);
    insta::assert_snapshot!(texts(&headless, &[bash("npm ci"), bash("git log")]));
}

#[test]
fn links_are_followed() {
    let links = Links::new(&[("/repo/out", Some("/etc")), ("/repo/secret", Some("/repo/.env"))]);
    let world = World::new(Some("{\"permissions\": {\"confine\": true}}"), None);
    let rows = [
        (file("Read", "out/passwd"), Verdict::Denied, DecidedBy::Policy),
        (file("Read", "secret"), Verdict::Denied, DecidedBy::Claude),
        (file("Read", "plain"), Verdict::Runs, DecidedBy::Claude),
    ];
    for (call, verdict, by) in rows {
        let account = world.explain_at(&links, &call);
        assert_eq!((account.verdict, account.by), (verdict, by), "{account}");
    }
}

#[test]
fn the_mode_has_its_reason() {
    let plan = "{\"permissions\": {\"defaultMode\": \"plan\"}}";
    let bypass = "{\"permissions\": {\"defaultMode\": \"bypassPermissions\",\n \"disableBypassPermissionsMode\": \"disable\"}}";
    let mut world = World::new(None, None);
    let mut lines = Vec::new();
    let mut note = |world: &World| {
        let account = world.explain(&bash("ls"));
        let place = account.to_string().lines().nth(1).unwrap().to_owned();
        lines.push([vec![place], account.warnings].concat().join("\n  "));
    };
    note(&world);
    world.settings = settings(&[(SettingsSource::Local, "/repo/.claude/settings.local.json", plan)]);
    note(&world);
    world.policy = Some(policy("{\"permissions\": {\"defaultMode\": \"acceptEdits\"}}"));
    note(&world);
    world.policy = Some(policy(bypass));
    note(&world);
    world.mode = Some(PermissionMode::BypassPermissions);
    note(&world);
    world.policy = None;
    world.host.root = true;
    note(&world);
    world.mode = None;
    world.settings = settings(&[
        (SettingsSource::User, "/u.json", bypass),
        (SettingsSource::Managed, "/m.json", "{"),
    ]);
    note(&world);
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn managed_settings_keep_rules_and_under_a_policy_hooks_to_themselves() {
    let managed = r#"{
      "allowManagedPermissionRulesOnly": true,
      "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "managed" }] }] }
    }"#;
    let mut world = World::new(Some("{}"), None);
    world.settings = settings(&[
        (SettingsSource::User, "/home/u/.claude/settings.json", USER),
        (
            SettingsSource::Managed,
            "/etc/claude-code/managed-settings.json",
            managed,
        ),
    ]);
    insta::assert_snapshot!(texts(&world, &[bash("npm test")]));
}

#[test]
fn nothing_in_a_call_can_disguise_itself() {
    let account =
        World::new(None, None).explain(&("Bash\u{202e}\n", json!({ "command": "ls\u{1b}[2K\u{202e}\"x\"" })));
    let text = account.to_string();
    assert_eq!(
        text.lines().next(),
        Some(r#"Bash\u{202e}\n {"command":"ls\u001b[2K\u{202e}\"x\""}"#)
    );
    let long = World::new(None, None).explain(&bash(&"x".repeat(10_000)));
    assert!(long.to_string().lines().all(|line| line.chars().count() < 500));
}
