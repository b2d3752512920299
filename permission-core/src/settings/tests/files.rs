//! One file: what is read, on which line, and what a mistake costs.
//!
//! Place in the flow: tests only.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::modes::PermissionMode;

const WHOLE: &str = r#"{
  "model": "opus[1m]",
  "availableModels": ["opus", "sonnet"],
  "effortLevel": "high",
  "env": {
    "TOKEN": "secret",
    "RETRIES": 3,
    "QUIET": true
  },
  "permissions": {
    "allow": [
      "Bash(npm run *)",
      "Read"
    ],
    "deny": ["Read(./.env)"],
    "ask": ["Bash(git push *)"],
    "additionalDirectories": ["../docs"],
    "defaultMode": "acceptEdits",
    "disableBypassPermissionsMode": "disable"
  },
  "disableAutoMode": "disable",
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]},
  "spinnerTipsEnabled": false
}"#;

#[test]
fn every_value_is_read_with_its_source_file_and_line() {
    let file = parse(SettingsSource::Local, WHOLE);
    assert_eq!(file.problems, []);
    let values = &file.values;
    assert_eq!(
        lined(&values.rules.allow),
        [("Bash(npm run *)", 12), ("Read", 13)]
    );
    assert_eq!(lined(&values.rules.deny), [("Read(./.env)", 15)]);
    assert_eq!(lined(&values.rules.ask), [("Bash(git push *)", 16)]);
    assert_eq!(lined(&values.additional_directories), [("../docs", 17)]);
    let mode = values.default_mode.clone().unwrap();
    assert_eq!(mode.value, ModeSetting::Mode(PermissionMode::AcceptEdits));
    assert_eq!(
        mode.origin,
        Origin {
            source: SettingsSource::Local,
            file: path(SettingsSource::Local).into(),
            line: 18
        }
    );
    assert_eq!(
        values.bypass_disabled.as_ref().map(|origin| origin.line),
        Some(19)
    );
    assert_eq!(values.auto_disabled.as_ref().map(|origin| origin.line), Some(21));
    assert_eq!(
        values
            .hooks
            .iter()
            .map(|hooks| (&hooks.value, hooks.origin.line))
            .collect::<Vec<_>>(),
        [(&json!({"PreToolUse": [{"matcher": "Bash", "hooks": []}]}), 22)]
    );
}

#[test]
fn a_mark_at_the_beginning_and_any_line_break_change_nothing() {
    let plain = parse(SettingsSource::Local, WHOLE);
    assert_eq!(parse(SettingsSource::Local, &format!("\u{feff}{WHOLE}")), plain);
    assert_eq!(parse(SettingsSource::Local, &WHOLE.replace('\n', "\r\n")), plain);
}

#[test]
fn nothing_is_wrong_with_an_empty_file() {
    for text in ["", "\u{feff}", " \n\t", "{}"] {
        let file = user(text);
        assert_eq!((file.values, file.problems), Default::default(), "{text:?}");
    }
}

#[test]
fn a_wrong_type_costs_what_it_costs_claude() {
    let rows = [
        (r#"{"model": 5}"#, "model"),
        (r#"{"model": " "}"#, "model"),
        (r#"{"effortLevel": ["high"]}"#, "effortLevel"),
        (r#"{"availableModels": "opus"}"#, "availableModels"),
        (r#"{"env": ["A=b"]}"#, "env"),
        (r#"{"env": {"A": null}}"#, "env.A"),
        (r#"{"env": {"A\u202e": {}}}"#, "env.A\\u{202e}"),
        (r#"{"hooks": []}"#, "hooks"),
        (r#"{"permissions": []}"#, "permissions"),
        (r#"{"permissions": {"deny": "Read"}}"#, "permissions.deny"),
        (r#"{"permissions": {"deny": [{}]}}"#, "permissions.deny[0]"),
        (r#"{"permissions": {"ask": ["\ud800"]}}"#, "permissions.ask[0]"),
        (
            r#"{"permissions": {"additionalDirectories": 1}}"#,
            "permissions.additionalDirectories",
        ),
        (r#"{"disableAutoMode": true}"#, "disableAutoMode"),
        (
            r#"{"permissions": {"disableBypassPermissionsMode": "yes"}}"#,
            "permissions.disableBypassPermissionsMode",
        ),
    ];
    for (text, key) in rows {
        let file = user(text);
        assert_eq!(complaints(&file.problems), [(key, Some(1))], "{text}");
        assert_eq!(file.values, SettingsValues::default(), "{text}");
    }
    for text in ["[]", "null", "\"bypass\"", "7"] {
        assert_eq!(complaints(&user(text).problems), [("", Some(1))], "{text}");
    }
}

#[test]
fn a_wrong_kind_costs_the_file_where_it_does_for_claude() {
    let with = |more: &str| {
        let deny = "\"permissions\": {\n\"deny\": [\"Read(a)\",\n 5, \"Read(b)\"]";
        user(&format!("{{\n{deny}{more}}}"))
    };
    // Seen on the real Claude: its rules are those that are left.
    for kept in [
        "}",
        "}, \"effortLevel\": 5",
        "}, \"hooks\": []",
        "}, \"hooks\": {\"Stop\": 5}",
        "}, \"env\": {\"A\": {}}",
        "}, \"disableBypassPermissionsMode\": true",
        ", \"denny\": 5}, \"permission\": 5",
    ] {
        let file = with(kept);
        assert_eq!(
            lined(&file.values.rules.deny),
            [("Read(a)", 3), ("Read(b)", 4)],
            "{kept}"
        );
        assert!(!file.problems.is_empty(), "{kept}");
    }
    for lost in [
        "}, \"model\": 5",
        "}, \"env\": []",
        "}, \"availableModels\": [5]",
        "}, \"disableAutoMode\": true",
        "}, \"statusLine\": 5",
        "}, \"cleanupPeriodDays\": \"x\"",
        "}, \"hooks\": {\"PreToolUse\": {}}",
        "}, \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"command\": \"x\"}]}]}",
        ", \"allow\": {}}",
        ", \"defaultMode\": \"fast\"}",
        ", \"defaultMode\": \"Plan\"}",
        ", \"additionalDirectories\": [5]}",
        ", \"disableBypassPermissionsMode\": \"off\"}",
    ] {
        let file = with(lost);
        assert_eq!(lined(&file.values.rules.deny), [], "{lost}");
        let told = file
            .problems
            .iter()
            .any(|problem| problem.message.contains("takes nothing from this file"));
        assert!(told, "{lost}: {:?}", file.problems);
    }
}

#[test]
fn a_name_that_says_nothing_has_the_name_that_is_meant() {
    let rows = [
        (
            r#"{"permission": {"deny": ["Read"]}}"#,
            "permission",
            "permissions",
        ),
        (r#"{"Permissions": {}}"#, "Permissions", "permissions"),
        (r#"{"permisions": {}}"#, "permisions", "permissions"),
        (r#"{"deny": ["Read"]}"#, "deny", "permissions.deny"),
        (
            r#"{"permissions": {"denny": []}}"#,
            "permissions.denny",
            "permissions.deny",
        ),
        (r#"{"permissions": {"allowed": []}}"#, "permissions.allowed", ""),
        (
            r#"{"permissions": {"asks": []}}"#,
            "permissions.asks",
            "permissions.ask",
        ),
        (
            r#"{"permissions": {"defaultmode": "plan"}}"#,
            "permissions.defaultmode",
            "permissions.defaultMode",
        ),
        (r#"{"hook": {}}"#, "hook", "hooks"),
        (
            r#"{"modelSettings": {}, "theme": "x", "models": 5}"#,
            "models",
            "model",
        ),
    ];
    for (text, key, meant) in rows {
        let file = user(text);
        let told: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        if meant.is_empty() {
            assert_eq!(told, [""; 0], "{text}");
        } else {
            assert_eq!(complaints(&file.problems), [(key, Some(1))], "{text}");
            assert!(told[0].contains(&format!("did you mean `{meant}`?")), "{told:?}");
        }
    }
}

#[test]
fn an_unknown_mode_is_kept_as_unknown_and_reported() {
    for value in [
        r#""nonsense""#,
        r#""accept_edits""#,
        "null",
        "[]",
        r#"" ""#,
        r#""\ud800""#,
    ] {
        let file = user(&format!(r#"{{"permissions": {{"defaultMode": {value}}}}}"#));
        let mode = file.values.default_mode.map(|mode| mode.value);
        assert_eq!(mode, Some(ModeSetting::Unknown), "{value}");
        assert_eq!(
            complaints(&file.problems),
            [("permissions.defaultMode", Some(1))],
            "{value}"
        );
    }
}

#[test]
fn both_switches_count_at_both_places() {
    for text in [
        r#"{"disableBypassPermissionsMode": "disable", "disableAutoMode": "disable"}"#,
        r#"{"permissions": {"disableBypassPermissionsMode": "disable", "disableAutoMode": "disable"}}"#,
    ] {
        let values = user(text).values;
        assert!(
            values.bypass_disabled.is_some() && values.auto_disabled.is_some(),
            "{text}"
        );
    }
}

#[test]
fn the_last_of_two_equal_keys_counts_and_the_user_is_told() {
    let file = user("{\"permissions\": {\"deny\": [\"Read(a)\"]},\n\"permissions\": {\"ask\": [\"Bash\"]}}");
    assert_eq!(lined(&file.values.rules.deny), []);
    assert_eq!(lined(&file.values.rules.ask), [("Bash", 2)]);
    assert_eq!(complaints(&file.problems), [("permissions", Some(2))]);
}

#[test]
fn nothing_counts_of_a_file_that_breaks_off() {
    let (text, _) = WHOLE.split_once("\"disableBypass").unwrap();
    for text in [
        text,
        r#"{"permissions": {"defaultMode": "plan"}, "model""#,
        "{\"model\": \"opus\",}",
    ] {
        let file = user(text);
        assert_eq!(file.values, SettingsValues::default(), "{text}");
        assert_eq!(file.problems.len(), 1, "{text}");
    }
    let problem = &user(text).problems[0];
    assert_eq!((problem.line, problem.column), (Some(19), Some(5)));
}

#[test]
fn a_managed_file_that_cannot_be_read_allows_no_escalation() {
    let source = SettingsSource::Managed;
    let broken = [
        parse(source, r#"{"permissions": {"disableByp"#),
        parse(source, "garbage"),
        parse(source, "[]"),
        parse(source, r#"{"permissions": "none"}"#),
        SettingsFile::unreadable(source, path(source), "is too large"),
    ];
    for file in broken {
        assert!(
            file.values.bypass_disabled.is_some() && file.values.auto_disabled.is_some(),
            "{file:?}"
        );
    }
    let other = SettingsFile::unreadable(SettingsSource::User, path(SettingsSource::User), "is too large");
    assert_eq!(other.values, SettingsValues::default());
    assert_eq!(complaints(&other.problems), [("", None)]);
}

#[test]
fn the_value_of_a_variable_is_never_shown_by_accident() {
    let file = user(r#"{"env": {"TOKEN": "sk-secret", "OTHER": {"deep": "sk-secret"}}}"#);
    assert!(!format!("{file:?}").contains("sk-secret"), "{file:?}");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fail(text in "[\\[\\]{}:,\"\\\\/ntrue0-9.e\n permissionsdeny\u{e9}\u{feff}]{0,120}") {
        let file = user(&text);
        prop_assert!(file.problems.iter().all(|problem| !problem.message.is_empty()));
    }

    #[test]
    fn a_file_cut_anywhere_says_no_more_than_the_whole(cut in 0usize..900) {
        let text = WHOLE.get(..cut).unwrap_or(WHOLE);
        let (part, whole) = (parse(SettingsSource::Local, text).values, parse(SettingsSource::Local, WHOLE).values);
        prop_assert!(whole.rules.deny.starts_with(&part.rules.deny));
        prop_assert!(whole.rules.ask.starts_with(&part.rules.ask));
        prop_assert!(part.default_mode.is_none() || part.default_mode == whole.default_mode);
        prop_assert!(part.rules.allow.is_empty() || text.len() == WHOLE.len());
    }
}
