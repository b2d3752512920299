//! What a script lays out for its real tools: files, and the settings of their project.
//!
//! Place in the flow: read with `script::Session`; the sandbox writes them. A path must not lead out of the sandbox, and
//! settings must count as they are written: what Claude would only pass over is a mistake here.

use std::collections::BTreeMap;
use std::path::Path;

use permission_core::pipeline::hooks::Hooks;
use permission_core::rules::RuleSet;
use permission_core::settings::{SettingsFile, SettingsSource};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::{Map, Value};

/// Reads texts of files by their paths.
pub(super) fn files<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let files = BTreeMap::<String, String>::deserialize(deserializer)?;
    match files.keys().find(|path| !stays_inside(path)) {
        Some(path) => Err(D::Error::custom(format!(
            "the file `{path}` is not one of the sandbox; give a path relative to the project, or one that begins with `~/`"
        ))),
        None => Ok(files),
    }
}

/// Reads settings.
pub(super) fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let settings = Map::<String, Value>::deserialize(deserializer)?;
    match problem(&Value::Object(settings.clone())) {
        Some(problem) => Err(D::Error::custom(problem)),
        None => Ok(settings),
    }
}

fn problem(settings: &Value) -> Option<String> {
    let file = SettingsFile::parse(
        SettingsSource::Project,
        Path::new("settings"),
        &settings.to_string(),
    );
    let key = |key: Option<&str>| key.map(|key| format!("`{key}` ")).unwrap_or_default();
    let value = file.problems.first();
    let value = value.map(|problem| format!("{}{}", key(problem.key.as_deref()), problem.message));
    let (_, rules) = RuleSet::read(&file.values.rules);
    let rule = rules.first();
    let rule =
        rule.map(|problem| format!("the {} rule `{}` {}", problem.kind, problem.text, problem.message));
    let (_, hooks) = Hooks::of_claude(&file.values.hooks);
    let hook = hooks.first().map(|problem| format!("a hook {}", problem.message));
    value.or(rule).or(hook)
}

fn stays_inside(path: &str) -> bool {
    let relative = path.strip_prefix("~/").unwrap_or(path);
    let plain = |step: &str| !matches!(step, "" | "." | ".." | "~") && !step.contains('\0');
    relative.split('/').all(plain)
}
