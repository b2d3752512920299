//! Settings and host together: the mode at the start, and the modes on offer.
//!
//! Place in the flow: tests only.

use super::*;
use crate::modes::PermissionMode;
use SettingsSource::{Managed, Project, User};

const FREE: HostFacts = HostFacts {
    root: false,
    sandboxed: false,
    client_opted_out: false,
    model_supports_auto: Some(true),
};

fn ids(settings: &EffectiveSettings, host: &HostFacts) -> String {
    let modes = offered_modes(settings, host);
    let ids: Vec<_> = modes.into_iter().map(PermissionMode::wire_id).collect();
    ids.join(" ")
}

#[test]
fn what_is_offered_follows_host_and_settings() {
    let nothing = EffectiveSettings::default();
    let root = HostFacts { root: true, ..FREE };
    let rows = [
        (FREE, "default acceptEdits plan auto bypassPermissions"),
        (root, "default acceptEdits plan auto"),
        (
            HostFacts {
                sandboxed: true,
                ..root
            },
            "default acceptEdits plan auto bypassPermissions",
        ),
        (
            HostFacts {
                client_opted_out: true,
                ..FREE
            },
            "default acceptEdits plan auto",
        ),
        (
            HostFacts {
                model_supports_auto: Some(false),
                ..FREE
            },
            "default acceptEdits plan bypassPermissions",
        ),
        (
            HostFacts {
                model_supports_auto: None,
                ..FREE
            },
            "default acceptEdits plan auto bypassPermissions",
        ),
    ];
    for (host, expected) in rows {
        assert_eq!(ids(&nothing, &host), expected, "{host:?}");
    }
    let policy =
        r#"{"disableAutoMode": "disable", "permissions": {"disableBypassPermissionsMode": "disable"}}"#;
    for source in [Managed, Project] {
        let settings = effective(&[(source, policy)]);
        assert_eq!(ids(&settings, &FREE), "default acceptEdits plan");
        assert!(!may_bypass(&settings, &FREE));
    }
    assert_eq!(
        ids(&effective(&[(Managed, "{\"perm")]), &FREE),
        "default acceptEdits plan"
    );
}

#[test]
fn a_session_starts_in_the_mode_that_its_settings_and_host_allow() {
    let root = HostFacts { root: true, ..FREE };
    let opted_out = HostFacts {
        client_opted_out: true,
        ..FREE
    };
    let no_auto = HostFacts {
        model_supports_auto: Some(false),
        ..FREE
    };
    let rows = [
        (r#""acceptEdits""#, FREE, PermissionMode::AcceptEdits, None),
        (r#""manual""#, FREE, PermissionMode::Default, None),
        (r#""dontAsk""#, FREE, PermissionMode::DontAsk, None),
        (r#""bypass""#, FREE, PermissionMode::BypassPermissions, None),
        (
            r#""bypass""#,
            root,
            PermissionMode::Default,
            Some(Departure::BypassNotAllowed),
        ),
        (
            r#""bypass""#,
            opted_out,
            PermissionMode::Default,
            Some(Departure::BypassNotAllowed),
        ),
        (r#""auto""#, FREE, PermissionMode::Auto, None),
        (
            r#""auto""#,
            no_auto,
            PermissionMode::AcceptEdits,
            Some(Departure::AutoUnsupported),
        ),
        (
            r#""nonsense""#,
            FREE,
            PermissionMode::Default,
            Some(Departure::UnknownSetting),
        ),
        (
            "7",
            FREE,
            PermissionMode::Default,
            Some(Departure::UnknownSetting),
        ),
    ];
    for (value, host, mode, departure) in rows {
        let settings = effective(&[(User, &format!(r#"{{"permissions": {{"defaultMode": {value}}}}}"#))]);
        let start = initial_mode(&settings, &host);
        assert_eq!((start.mode, start.departure), (mode, departure), "{value}");
        let told = settings.problems.len() + start.notes.len();
        let spelled = value.contains("bypass");
        assert_eq!(
            told,
            usize::from(departure.is_some()) + usize::from(spelled),
            "each departure is told once: {value}"
        );
    }
    let start = initial_mode(&EffectiveSettings::default(), &FREE);
    assert_eq!((start.mode, start.departure), (PermissionMode::Default, None));
}

#[test]
fn a_file_that_breaks_off_starts_in_the_default_mode_with_a_problem() {
    let settings = effective(&[(User, r#"{"permissions": {"defaultMode": "bypassPermissions"}, "#)]);
    assert_eq!(initial_mode(&settings, &FREE).mode, PermissionMode::Default);
    assert_eq!(complaints(&settings.problems), [("", Some(1))]);
}

#[test]
fn a_projects_escalation_never_starts_a_session() {
    for mode in ["bypassPermissions", "auto", "acceptEdits"] {
        let text = format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#);
        let settings = effective(&[(Project, &text)]);
        assert_eq!(
            initial_mode(&settings, &FREE).mode,
            PermissionMode::Default,
            "{mode}"
        );
        assert_eq!(settings.problems.len(), 1, "{mode}");
    }
}
