//! Several files: who wins, what adds up, whom nobody trusts.
//!
//! Place in the flow: tests only.

use super::*;
use crate::modes::PermissionMode;
use SettingsSource::{Flag, Local, Managed, Project, User};

const SOURCES: [SettingsSource; 5] = [User, Project, Local, Flag, Managed];

#[test]
fn a_scalar_is_the_strongest_files() {
    for (strength, source) in SOURCES.into_iter().enumerate() {
        let texts: Vec<_> = SOURCES[..=strength]
            .iter()
            .map(|source| parse(*source, r#"{"permissions": {"defaultMode": "plan"}}"#))
            .collect();
        for files in [texts.clone(), texts.into_iter().rev().collect()] {
            let mode = merge(files).values.default_mode.unwrap();
            assert_eq!(mode.origin.source, source);
        }
    }
}

#[test]
fn a_value_that_cannot_be_used_leaves_the_weaker_one() {
    let settings = effective(&[
        (User, r#"{"permissions": {"defaultMode": "plan"}}"#),
        (Local, r#"{"model": 5, "permissions": {"defaultMode": "auto"}}"#),
        (Project, "{"),
    ]);
    assert_eq!(settings.values.default_mode.unwrap().origin.source, User);
    assert_eq!(
        complaints(&settings.problems),
        [("model", Some(1)), ("", Some(1))]
    );
}

#[test]
fn lists_add_up_with_the_strongest_first() {
    let text = |name: &str| {
        format!(
            r#"{{"permissions": {{"allow": ["A{name}"], "deny": ["D{name}"], "ask": ["Q{name}"],
               "additionalDirectories": ["{name}"]}}, "hooks": {{"Stop": "{name}"}}}}"#
        )
    };
    let settings =
        merge([(Project, "p"), (Local, "l"), (User, "u")].map(|(source, name)| parse(source, &text(name))));
    let values = settings.values;
    assert_eq!(lined(&values.rules.allow), [("Al", 1), ("Ap", 1), ("Au", 1)]);
    assert_eq!(lined(&values.rules.deny), [("Dl", 1), ("Dp", 1), ("Du", 1)]);
    assert_eq!(lined(&values.rules.ask), [("Ql", 1), ("Qp", 1), ("Qu", 1)]);
    assert_eq!(
        lined(&values.additional_directories),
        [("l", 2), ("p", 2), ("u", 2)]
    );
    assert_eq!(values.hooks.len(), 3);
    let sources: Vec<_> = values.rules.deny.iter().map(|rule| rule.origin.source).collect();
    assert_eq!(sources, [Local, Project, User]);
}

#[test]
fn a_managed_file_keeps_rules_for_itself_if_it_says_so() {
    let weak = r#"{"permissions": {"allow": ["Bash"], "deny": ["Read"]}}"#;
    let merged = |managed| effective(&[(Managed, managed), (Flag, weak), (User, weak)]).values;
    for managed in [
        r#"{"allowManagedPermissionRulesOnly": true, "permissions": {"ask": ["Edit"]}}"#,
        r#"{"allowManagedPermissionRulesOnly": "yes", "permissions": {"ask": ["Edit"]}}"#,
    ] {
        let rules = merged(managed).rules;
        assert_eq!(
            (rules.allow.len(), rules.deny.len(), rules.ask.len()),
            (0, 0, 1),
            "{managed}"
        );
    }
    assert_eq!(
        merged(r#"{"allowManagedPermissionRulesOnly": false}"#)
            .rules
            .allow
            .len(),
        2
    );
    let unmanaged = effective(&[
        (Local, r#"{"allowManagedPermissionRulesOnly": true}"#),
        (User, weak),
    ]);
    assert_eq!(
        unmanaged.values.rules.allow.len(),
        1,
        "only a managed file may say so"
    );
}

#[test]
fn no_file_takes_back_what_another_disables() {
    let disable =
        r#"{"permissions": {"disableBypassPermissionsMode": "disable", "disableAutoMode": "disable"}}"#;
    let enable = r#"{"permissions": {"disableBypassPermissionsMode": "enable", "disableAutoMode": false}}"#;
    for source in SOURCES {
        let mut files = vec![(source, disable)];
        files.extend(
            SOURCES
                .into_iter()
                .filter(|other| *other != source)
                .map(|other| (other, enable)),
        );
        let values = effective(&files).values;
        assert_eq!(values.bypass_disabled.unwrap().source, source);
        assert_eq!(values.auto_disabled.unwrap().source, source);
    }
}

#[test]
fn a_project_may_choose_a_mode_that_tightens_and_none_that_loosens() {
    let mode = |name: &str| format!(r#"{{"permissions": {{"defaultMode": "{name}"}}}}"#);
    for source in SOURCES {
        for (name, loosens) in [
            ("acceptEdits", true),
            ("AUTO", true),
            (" bypass ", true),
            ("bypassPermissions", true),
            ("plan", false),
            ("dontAsk", false),
            ("manual", false),
            ("default", false),
        ] {
            let settings = effective(&[(source, &mode(name))]);
            let dropped = source == Project && loosens;
            assert_eq!(
                settings.values.default_mode.is_none(),
                dropped,
                "{source:?} {name}"
            );
            let spelled = matches!(name, "AUTO" | " bypass ");
            let told = usize::from(dropped) + usize::from(spelled);
            assert_eq!(settings.problems.len(), told, "{source:?} {name}");
        }
    }
    let settings = effective(&[(User, &mode("plan")), (Project, &mode("bypassPermissions"))]);
    let kept = settings.values.default_mode.unwrap();
    assert_eq!(
        kept.value,
        ModeSetting::Mode(PermissionMode::Plan),
        "the user's own choice stands"
    );
    assert_eq!(kept.origin.source, User);
}
