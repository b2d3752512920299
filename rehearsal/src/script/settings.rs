//! The settings that a script gives its session.
//!
//! Place in the flow: read with `script::Session`; the agent and `call::by_rules` go by them. They must count as they are
//! written: what Claude would only pass over is a mistake here.

use std::path::Path;

use permission_core::rules::judged;
use permission_core::settings::{SettingsFile, SettingsSource};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::{Map, Value};

/// Hooks of settings are commands, and nothing runs here.
const HOOKS: &str = "no hook of the settings runs in a rehearsal; write what it says into the call: \
                     `\"hook\": {\"decision\": \"deny\", \"reason\": \"…\"}`";

/// Reads settings.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let settings = Map::<String, Value>::deserialize(deserializer)?;
    if settings.contains_key("hooks") {
        return Err(D::Error::custom(HOOKS));
    }
    let text = Value::Object(settings.clone()).to_string();
    let file = judged(SettingsFile::parse(
        SettingsSource::Local,
        Path::new("settings"),
        &text,
    ));
    match file.problems.first() {
        Some(problem) => {
            let key = problem.key.as_deref().map(|key| format!("`{key}` "));
            Err(D::Error::custom(format!(
                "{}{}",
                key.unwrap_or_default(),
                problem.message
            )))
        }
        None => Ok(settings),
    }
}
