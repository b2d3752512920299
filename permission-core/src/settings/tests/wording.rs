//! Every sentence as a user reads it.
//!
//! Place in the flow: tests only.

use super::*;
use SettingsSource::{Flag, Local, Managed, Project, User};

#[test]
fn every_problem_names_its_place_and_what_is_allowed() {
    let wrong_types = r#"{
  "model": 1, "env": {"A": []}, "hooks": 1,
  "permissions": {"allow": {}, "deny": [1], "defaultMode": "yo\u202elo", "disableAutoMode": 1},
  "allowManagedPermissionRulesOnly": 1,
  "model": ""
}"#;
    let files = [
        (Managed, wrong_types),
        (
            Flag,
            "{\"permissions\": {\"allow\": [\"Bash\"], \"defaultMode\": \"auto\"},\n\"model\": \"é\" oops",
        ),
        (Local, "{\"model\": \"opus\",\n"),
        (Project, r#"{"permissions": {"defaultMode": "bypass"}}"#),
        (User, "[]"),
    ];
    let mut files: Vec<_> = files.map(|(source, text)| parse(source, text)).into();
    files.push(parse(User, r#"{"permissions": {"defaultMode": 5}}"#));
    files.push(SettingsFile::unreadable(
        Managed,
        Path::new("/etc/\u{202e}x"),
        "is too large",
    ));
    let lines: Vec<_> = merge(files).problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_mode_that_claude_does_not_start_in_is_told() {
    let settings = effective(&[(User, r#"{"permissions": {"defaultMode": "auto"}}"#)]);
    let note = refused_mode(
        &settings,
        crate::PermissionMode::Auto,
        crate::PermissionMode::Default,
    )
    .unwrap()
    .to_string();
    let (_, said) = note.split_once(": ").unwrap();
    insta::assert_snapshot!(said, @"`permissions.defaultMode` is `auto`, which Claude does not have here; the session starts in `default`");
    assert_eq!(
        refused_mode(
            &settings,
            crate::PermissionMode::Plan,
            crate::PermissionMode::Default
        ),
        None
    );
}

#[test]
fn every_departure_says_why() {
    let mode = |mode: &str| (User, format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#));
    let policy = r#"{"disableAutoMode": "disable", "disableBypassPermissionsMode": "disable"}"#;
    let free = HostFacts::default();
    let rows = [
        (mode("bypass"), "{}", HostFacts { root: true, ..free }),
        (
            mode("bypass"),
            "{}",
            HostFacts {
                client_opted_out: true,
                ..free
            },
        ),
        (mode("bypass"), policy, free),
        (mode("auto"), policy, free),
        (
            mode("auto"),
            "{}",
            HostFacts {
                model_supports_auto: Some(false),
                ..free
            },
        ),
    ];
    let lines: Vec<_> = rows
        .iter()
        .flat_map(|((source, text), managed, host)| {
            let settings = effective(&[(*source, text), (Managed, managed)]);
            initial_mode(&settings, host).notes
        })
        .map(|note| note.to_string())
        .collect();
    assert_eq!(lines.len(), rows.len());
    insta::assert_snapshot!(lines.join("\n"));
}
