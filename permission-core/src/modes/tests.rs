//! Tables of mode ids and spellings.
//!
//! Place in the flow: tests only.

use serde_json::json;

use super::*;

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
fn every_mode_is_shown_with_its_name() {
    let shown = PermissionMode::ALL.map(|mode| {
        format!(
            "{mode} | {} | {} | {}",
            mode.name(),
            mode.kind(),
            mode.description()
        )
    });
    insta::assert_snapshot!(shown.join("\n"));
}
