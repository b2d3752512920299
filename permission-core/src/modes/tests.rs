//! Tables of mode ids, spellings, catalogues and switches.
//!
//! Place in the flow: tests only.

use serde_json::json;

use super::*;

fn ids(modes: &[PermissionMode]) -> Vec<&'static str> {
    modes.iter().map(|mode| mode.wire_id()).collect()
}

#[test]
fn every_wire_id_reads_back_and_aliases_do_not() {
    for mode in PermissionMode::ALL {
        assert_eq!(PermissionMode::from_wire_id(mode.wire_id()), Some(mode));
        assert_eq!(mode.to_string().parse(), Ok(mode));
        assert_eq!(serde_json::to_value(mode).unwrap(), json!(mode.wire_id()));
        assert_eq!(
            serde_json::from_value::<PermissionMode>(json!(mode.wire_id())).unwrap(),
            mode
        );
    }
    for alias in ["manual", "Default", "bypass", "accept_edits", ""] {
        assert_eq!(PermissionMode::from_wire_id(alias), None, "{alias}");
        assert!(alias.parse::<PermissionMode>().is_err(), "{alias}");
    }
}

#[test]
fn a_setting_is_trimmed_and_read_in_any_case() {
    let mode = ModeSetting::Mode;
    let rows = [
        (None, ModeSetting::Absent),
        (Some(json!("default")), mode(PermissionMode::Default)),
        (Some(json!("MANUAL")), mode(PermissionMode::Default)),
        (Some(json!("acceptEdits")), mode(PermissionMode::AcceptEdits)),
        (Some(json!(" dontask ")), mode(PermissionMode::DontAsk)),
        (Some(json!("Plan")), mode(PermissionMode::Plan)),
        (Some(json!("auto\n")), mode(PermissionMode::Auto)),
        (
            Some(json!("bypassPermissions")),
            mode(PermissionMode::BypassPermissions),
        ),
        (Some(json!("Bypass")), mode(PermissionMode::BypassPermissions)),
        (Some(json!("accept_edits")), ModeSetting::Unknown),
        (Some(json!("  ")), ModeSetting::Unknown),
        (Some(json!(null)), ModeSetting::Unknown),
        (Some(json!(["plan"])), ModeSetting::Unknown),
    ];
    for (setting, expected) in rows {
        assert_eq!(
            PermissionMode::from_setting(setting.as_ref()),
            expected,
            "{setting:?}"
        );
    }
}

#[test]
fn the_catalogue_follows_model_settings_and_process() {
    let facts = |auto, auto_disabled, bypass_allowed| ModeFacts {
        model_supports_auto: auto,
        auto_disabled,
        bypass_allowed,
    };
    let base = ["default", "acceptEdits", "plan"];
    let rows = [
        (facts(None, false, false), vec!["auto"]),
        (facts(Some(true), false, true), vec!["auto", "bypassPermissions"]),
        (facts(Some(false), false, true), vec!["bypassPermissions"]),
        (facts(Some(true), true, false), vec![]),
    ];
    for (facts, more) in rows {
        assert_eq!(ids(&facts.advertised()), [&base[..], &more].concat(), "{facts:?}");
    }
}

#[test]
fn bypass_is_for_nobody_who_must_not_have_it() {
    let free = BypassFacts::default();
    assert!(free.allowed());
    assert!(!BypassFacts { root: true, ..free }.allowed());
    assert!(
        BypassFacts {
            root: true,
            sandboxed: true,
            ..free
        }
        .allowed()
    );
    assert!(
        !BypassFacts {
            disabled_by_settings: true,
            ..free
        }
        .allowed()
    );
    assert!(
        !BypassFacts {
            client_opted_out: true,
            ..free
        }
        .allowed()
    );
    let disable = |key: &str| json!({ "permissions": { key: "disable" } });
    assert!(settings_disable_bypass(&disable("disableBypassPermissionsMode")));
    assert!(settings_disable_auto(&disable("disableAutoMode")));
    assert!(settings_disable_auto(&json!({ "disableAutoMode": "disable" })));
    assert!(!settings_disable_auto(&json!({ "disableAutoMode": true })));
    assert!(!settings_disable_bypass(
        &json!({ "disableBypassPermissionsMode": "disable" })
    ));
}

#[test]
fn a_session_starts_in_the_mode_of_its_settings_if_it_may() {
    let facts = ModeFacts {
        model_supports_auto: Some(true),
        auto_disabled: false,
        bypass_allowed: true,
    };
    let start = |facts: ModeFacts, setting: Option<&str>| {
        let initial = facts.initial(setting.map(serde_json::Value::from).as_ref());
        (initial.mode, initial.departure)
    };
    assert_eq!(start(facts, None), (PermissionMode::Default, None));
    assert_eq!(start(facts, Some("auto")), (PermissionMode::Auto, None));
    assert_eq!(
        start(facts, Some("dontAsk")),
        (PermissionMode::DontAsk, None),
        "kept, though not advertised"
    );
    let no_auto = ModeFacts {
        model_supports_auto: Some(false),
        ..facts
    };
    assert_eq!(
        start(no_auto, Some("auto")),
        (PermissionMode::AcceptEdits, Some(Departure::AutoUnsupported))
    );
    let disabled = ModeFacts {
        auto_disabled: true,
        ..no_auto
    };
    assert_eq!(
        start(disabled, Some("auto")),
        (PermissionMode::Default, Some(Departure::AutoDisabled))
    );
    assert_eq!(
        no_auto.effective(PermissionMode::Auto),
        PermissionMode::AcceptEdits
    );
    assert_eq!(no_auto.effective(PermissionMode::Plan), PermissionMode::Plan);
    let unknown = ModeFacts {
        model_supports_auto: None,
        ..facts
    };
    assert_eq!(unknown.effective(PermissionMode::Auto), PermissionMode::Auto);
}

#[test]
fn a_committed_setting_may_tighten_but_not_loosen() {
    for (setting, trusted) in [
        ("bypass", false),
        ("auto", false),
        ("ACCEPTEDITS", false),
        ("plan", true),
        ("dontAsk", true),
        ("manual", true),
        ("weird", true),
    ] {
        assert_eq!(trusted_from_project(&json!(setting)), trusted, "{setting}");
    }
}

#[test]
fn only_advertised_modes_can_be_chosen() {
    let advertised = [PermissionMode::Default, PermissionMode::Plan];
    assert_eq!(
        requested_mode("plan", &advertised, None),
        Ok(PermissionMode::Plan)
    );
    assert_eq!(
        requested_mode("manual", &advertised, None),
        Err(ModeRefusal::Invalid)
    );
    let bypass = PermissionMode::BypassPermissions;
    assert_eq!(
        requested_mode("bypassPermissions", &advertised, None),
        Err(ModeRefusal::NotAvailable(bypass))
    );
    insta::assert_snapshot!(
        [ModeRefusal::Invalid, ModeRefusal::NotAvailable(bypass)]
            .map(|refusal| refusal.to_string())
            .join("\n")
    );
}

#[test]
fn every_mode_is_shown_with_its_name() {
    let shown = PermissionMode::ALL.map(|mode| {
        let entry = mode.entry();
        format!("{mode} | {} | {} | {}", entry.name, entry.kind, entry.description)
    });
    insta::assert_snapshot!(shown.join("\n"));
}
