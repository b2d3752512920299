//! Policies as they are read from files, and what is said about them.

use std::fs;
use std::os::unix::fs::symlink;

use permission_core::LexicalPaths;
use permission_core::explain::{ExplainedSession, explain};
use permission_core::settings::HostFacts;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::exit;

/// A directory by its path without links.
fn directory() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    (directory, path)
}

fn refusal(file: &Path) -> String {
    format!("{:#}", load(file).map(|_| ()).unwrap_err())
}

/// What `policy check` says, with the directory's name taken out.
fn checked(at: &Path, files: &[&str]) -> (u8, String, String) {
    let files: Vec<PathBuf> = files.iter().map(|file| at.join(file)).collect();
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let code = command::check(&files, &mut out, &mut complaints).unwrap();
    let text = |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        text.replace(&format!("{}/", at.display()), "")
    };
    (code, text(out), text(complaints))
}

#[test]
fn a_policy_protects_every_name_that_leads_to_it() {
    let (_directory, at) = directory();
    fs::create_dir(at.join("real")).unwrap();
    fs::write(at.join("real/policy.json"), "{}").unwrap();
    symlink("policy.json", at.join("real/current.json")).unwrap();
    symlink("real", at.join("link")).unwrap();
    let check = |given: &str, expected: &[&str]| {
        let (policy, path) = load(&at.join(given)).unwrap();
        let expected: Vec<String> = expected
            .iter()
            .map(|name| format!("{}/{name}", at.display()))
            .collect();
        assert_eq!(policy.protected, expected, "{given}");
        assert_eq!(Some(&path), expected.first(), "{given}");
    };
    check("real/policy.json", &["real/policy.json"]);
    check("link/policy.json", &["real/policy.json", "link/policy.json"]);
    check("real/current.json", &["real/current.json", "real/policy.json"]);
    check(
        "link/current.json",
        &["real/current.json", "link/current.json", "real/policy.json"],
    );
    check("link/../real/policy.json", &["real/policy.json"]);
}

#[test]
fn a_record_is_protected_by_the_policy_and_the_login_stays_under_it() {
    let (_directory, at) = directory();
    fs::write(at.join("policy.json"), "{}").unwrap();
    let begin = |policy: Option<&str>, audit: Option<&str>| {
        Oversight::begin(OversightArgs {
            policy: policy.map(|file| at.join(file)),
            audit: audit.map(|file| at.join(file)),
        })
    };
    let name = |file: &str| format!("{}/{file}", at.display());
    let both = begin(Some("policy.json"), Some("audit.jsonl")).unwrap();
    assert_eq!(both.arguments, ["--policy".to_owned(), name("policy.json")]);
    let protected = &both.policy.unwrap().protected;
    assert_eq!(*protected, [name("policy.json"), name("audit.jsonl")]);
    assert!(both.audit.is_some());
    let none = begin(None, None).unwrap();
    assert!(none.policy.is_none() && none.audit.is_none() && none.arguments.is_empty());
    let error = format!("{:#}", begin(None, Some("nowhere/a.jsonl")).unwrap_err());
    assert!(error.starts_with("`--audit`: cannot append to"), "{error}");
}

#[test]
fn whatever_cannot_be_a_policy_is_refused_with_every_reason() {
    let (_directory, at) = directory();
    fs::write(
        at.join("typo.json"),
        "{\n  \"permisions\": {},\n  \"hooks\": []\n}",
    )
    .unwrap();
    fs::write(at.join("large.json"), " ".repeat(2 * 1024 * 1024)).unwrap();
    fs::create_dir(at.join("directory")).unwrap();
    symlink("circle.json", at.join("circle.json")).unwrap();
    let refusals: Vec<String> = [
        "typo.json",
        "large.json",
        "directory",
        "missing.json",
        "circle.json",
    ]
    .iter()
    .map(|file| refusal(&at.join(file)).replace(&at.display().to_string(), "DIR"))
    .collect();
    insta::assert_snapshot!(refusals.join("\n\n"));
    assert!(refusal(Path::new("/dev/zero")).contains("not a regular file"));
}

#[test]
fn an_example_that_does_not_come_true_keeps_everything_from_starting() {
    let (_directory, at) = directory();
    let policy = |becomes: &str| {
        format!(
            "{{\"permissions\": {{\"deny\": [\"Bash(git push *)\"]}},\n\"examples\": [\n{{\"command\": \"git push\", \"becomes\": \"{becomes}\"}}]}}"
        )
    };
    fs::write(at.join("right.json"), policy("deny")).unwrap();
    fs::write(at.join("wrong.json"), policy("ask")).unwrap();
    let (code, out, complaints) = checked(&at, &["right.json", "wrong.json"]);
    assert_eq!(code, exit::FAILED);
    assert_eq!(
        out,
        "right.json: ok: 1 deny rule, 1 example, denial threshold 3\n"
    );
    let mistake = "`wrong.json`, line 3: `examples[0]` becomes `deny`, not `ask`: ";
    assert!(complaints.starts_with(mistake), "{complaints}");
    assert!(
        complaints.contains("`Bash(git push *)` (deny, wrong.json, line 1)"),
        "{complaints}"
    );
    assert!(load(&at.join("right.json")).is_ok());
    let refused = refusal(&at.join("wrong.json"));
    assert!(
        refused.contains("has a mistake:") && refused.ends_with("nothing was started"),
        "{refused}"
    );
}

#[test]
fn a_check_counts_what_a_policy_holds() {
    let (_directory, at) = directory();
    let full = r#"{
      "permissions": {
        "deny": ["Bash(rm *)", "WebFetch"], "ask": ["Bash(git push *)"], "allow": ["Bash(npm *)"],
        "additionalDirectories": ["/srv", "/opt"], "defaultMode": "plan", "disableBypassPermissionsMode": "disable",
        "denialThreshold": 0, "headless": true, "confine": true, "autoAllow": true, "clientMcpServers": true
      },
      "hooks": {
        "PreToolUse": [{ "hooks": [{ "type": "command", "command": "a" }, { "type": "command", "command": "b" }] }],
        "PostToolUse": [{ "hooks": [{ "type": "command", "command": "c" }] }]
      }
    }"#;
    fs::write(at.join("full.json"), full).unwrap();
    fs::write(at.join("empty.json"), "{}").unwrap();
    fs::write(at.join("bad.json"), "{\"permissions\": {\n\"denny\": []}}").unwrap();
    assert_eq!(checked(&at, &["full.json", "empty.json"]).0, exit::DONE);
    let (code, out, complaints) = checked(&at, &["full.json", "bad.json", "missing.json", "empty.json"]);
    assert_eq!(code, exit::FAILED);
    insta::assert_snapshot!(format!("{out}--\n{complaints}"));
}

const PAGE: &str = include_str!("../../../docs/policy.md");

/// The example of the operators' page.
fn documented() -> &'static str {
    let (_, rest) = PAGE.split_once("<!-- policy.json -->\n\n```json\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_documented_policy_has_no_mistake() {
    let (page, example) = (PAGE, documented());
    let policy = Policy::read(Path::new("/etc/claude/policy.json"), example).unwrap();
    let (_directory, at) = directory();
    fs::write(at.join("policy.json"), example).unwrap();
    let (code, out, _) = checked(&at, &["policy.json"]);
    assert_eq!(code, exit::DONE);
    assert!(page.contains(&out), "the page shows what the check says: {out}");
    assert!(policy.rules.iter().count() > 10);
}

#[test]
fn the_documented_explanations_are_what_is_said() {
    let policy = Policy::read(Path::new("/repo/policy.json"), documented()).unwrap();
    let session = ExplainedSession {
        cwd: "/repo",
        home: Some("/home/u"),
        plans: None,
        settings: &[],
        host: HostFacts::default(),
        mode: None,
        policy: Some(&Arc::new(policy)),
        paths: &LexicalPaths,
    };
    for command in ["cargo check && curl example.com", "cargo check"] {
        let text = explain(&session, "Bash", &json!({ "command": command })).to_string();
        assert!(PAGE.contains(&format!("\n{text}\n")), "{text}");
    }
}
