//! Which settings must be of which kind, and which names are hardly meant as they are written.
//!
//! Place in the flow: `parse` asks about the settings that it does not use itself. Seen on the real Claude, which takes
//! nothing from a file in which one of these is wrong. Must not know what a setting does.

use serde_json::Value;

use super::wording;

/// What a setting must be.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Switch,
    Object,
    List,
}

const KINDS: [(&str, Kind); 15] = [
    ("allowManagedPermissionRulesOnly", Kind::Switch),
    ("alwaysThinkingEnabled", Kind::Switch),
    ("apiKeyHelper", Kind::Text),
    ("cleanupPeriodDays", Kind::Number),
    ("companyAnnouncements", Kind::List),
    ("disableAllHooks", Kind::Switch),
    ("enableAllProjectMcpServers", Kind::Switch),
    ("enabledPlugins", Kind::Object),
    ("fallbackModel", Kind::List),
    ("includeCoAuthoredBy", Kind::Switch),
    ("language", Kind::Text),
    ("outputStyle", Kind::Text),
    ("sandbox", Kind::Object),
    ("spinnerTipsEnabled", Kind::Switch),
    ("statusLine", Kind::Object),
];

/// Hooks that may guard: a mistake in one of them costs the file.
const GUARDING: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// Settings that are mistaken for others, and where they stand.
const NAMES: [(&str, &str); 10] = [
    ("", "permissions"),
    ("", "hooks"),
    ("", "env"),
    ("", "model"),
    ("", "availableModels"),
    ("permissions", "allow"),
    ("permissions", "deny"),
    ("permissions", "ask"),
    ("permissions", "defaultMode"),
    ("permissions", "additionalDirectories"),
];

/// What is wrong with a setting of the top level.
pub(super) fn wrong_kind(name: &str, value: &Value) -> Option<&'static str> {
    let (_, kind) = KINDS.iter().find(|(known, _)| *known == name)?;
    let (fits, message) = match kind {
        Kind::Text => (value.is_string(), wording::NOT_A_STRING),
        Kind::Number => (value.is_number(), wording::NOT_A_NUMBER),
        Kind::Switch => (value.is_boolean(), wording::NOT_A_SWITCH),
        Kind::Object => (value.is_object(), wording::NOT_AN_OBJECT),
        Kind::List => (value.is_array(), wording::NOT_A_LIST),
    };
    (!fits).then_some(message)
}

/// What is wrong with the hooks that may guard: the key and what it must be.
pub(super) fn wrong_hooks(hooks: &Value) -> Option<(String, &'static str)> {
    GUARDING.into_iter().find_map(|event| {
        let key = wording::member("hooks", event);
        let Some(matchers) = hooks.get(event)?.as_array() else {
            return Some((key, wording::NOT_MATCHERS));
        };
        let wrong = matchers.iter().position(|matcher| !is_matcher(matcher))?;
        Some((wording::element(&key, wrong), wording::NOT_A_MATCHER))
    })
}

fn is_matcher(matcher: &Value) -> bool {
    let text = |value: Option<&Value>| value.is_none_or(Value::is_string);
    let hooks = matcher.get("hooks").and_then(Value::as_array);
    text(matcher.get("matcher")) && hooks.is_some_and(|hooks| hooks.iter().all(is_hook))
}

fn is_hook(hook: &Value) -> bool {
    let kind = hook.get("type").and_then(Value::as_str);
    let timeout = hook.get("timeout").is_none_or(Value::is_number);
    match kind {
        Some("command") => timeout && hook.get("command").is_some_and(Value::is_string),
        Some("prompt" | "agent" | "http" | "mcp_tool") => timeout,
        Some(_) | None => false,
    }
}

/// The setting that a name is hardly anything else than, with the object that it stands in.
pub(super) fn meant(parent: &str, name: &str) -> Option<String> {
    let exact = |(place, known): &(&str, &str)| *place == parent && *known == name;
    if NAMES.iter().any(exact) {
        return None;
    }
    let plain = |text: &str| text.trim().to_lowercase().replace(['_', '-'], "");
    let plain_name = plain(name);
    let close = |known: &str| {
        let known = plain(known);
        known == plain_name
            || known.trim_end_matches('s') == plain_name.trim_end_matches('s')
            || known.len() > 3 && is_one_off(&known, &plain_name)
    };
    let found = NAMES.iter().find(|(place, known)| {
        *place == parent && close(known) || *place == "permissions" && parent.is_empty() && *known == name
    })?;
    Some(wording::below(found.0, found.1))
}

/// Whether one letter more, less or other, or two changed about, make the one text the other.
fn is_one_off(left: &str, right: &str) -> bool {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let same = left
        .iter()
        .zip(&right)
        .take_while(|(left, right)| left == right)
        .count();
    let rest = |text: &[char], skipped: usize| text.get(same + skipped..).unwrap_or_default().to_vec();
    let swapped = || {
        let (mut first, second) = (rest(&left, 0), rest(&right, 0));
        first.len() > 1 && {
            first.swap(0, 1);
            first == second
        }
    };
    rest(&left, 1) == rest(&right, 0)
        || rest(&left, 0) == rest(&right, 1)
        || rest(&left, 1) == rest(&right, 1)
        || swapped()
}
