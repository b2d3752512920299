//! The settings files of a sandbox: laid out once, read at every turn, changed by what the user allows for longer.
//!
//! Place in the flow: `Sandbox` answers the engine with these. A file is replaced whole, so that a reader sees the old one
//! or the new one; what is not understood in it is kept, and a file that is broken is left alone.

use std::io;
use std::path::{Path, PathBuf};

use claude_sdk_bridge::settings::{Locations, SettingsText, read_all};
use permission_core::settings::{SettingsFile, SettingsSource};
use permission_core::{PermissionBehavior, PermissionRule, PermissionUpdate};
use serde_json::{Map, Value, json};

use crate::engine::{Places, Seed};

/// Writes the project's settings, unless there are some: what was decided before counts more than the script.
pub(super) fn lay_out(places: &Places, seed: &Seed) -> io::Result<()> {
    let Some(file) = path(places, SettingsSource::Project).filter(|file| !file.exists()) else {
        return Ok(());
    };
    if seed.settings.is_empty() {
        return Ok(());
    }
    let mut settings = seed.settings.clone();
    places.fill_fields(&mut settings);
    write(&file, &settings)
}

/// Reads the files that are there.
pub(super) fn read(places: &Places) -> Vec<SettingsFile> {
    texts(places).iter().map(SettingsText::parse).collect()
}

fn texts(places: &Places) -> Vec<SettingsText> {
    read_all(&Locations {
        user: path(places, SettingsSource::User),
        project: path(places, SettingsSource::Project),
        local: path(places, SettingsSource::Local),
        managed: None,
    })
}

/// Changes a file.
pub(super) fn change(
    places: &Places,
    source: SettingsSource,
    update: &PermissionUpdate,
) -> Result<(), String> {
    let Some(file) = path(places, source) else {
        return Err("these settings are not in a file that can be changed".to_owned());
    };
    let failed = |why: String| format!("`{}` was not changed: {why}", file.display());
    let found = texts(places).into_iter().find(|found| found.source == source);
    let text = found
        .map_or_else(|| Ok(String::new()), |found| found.text)
        .map_err(|error| failed(format!("it {error}")))?;
    let mut settings: Map<String, Value> = if text.trim().is_empty() {
        Map::new()
    } else {
        serde_json::from_str(&text).map_err(|error| failed(format!("it is not valid: {error}")))?
    };
    let permissions = settings.entry("permissions").or_insert_with(|| json!({}));
    let Some(permissions) = permissions.as_object_mut() else {
        return Err(failed("`permissions` is not an object".to_owned()));
    };
    apply(permissions, update);
    write(&file, &settings).map_err(|error| failed(error.to_string()))
}

fn path(places: &Places, source: SettingsSource) -> Option<PathBuf> {
    let (root, name) = match source {
        SettingsSource::User => (&places.home, "settings.json"),
        SettingsSource::Project => (&places.project, "settings.json"),
        SettingsSource::Local => (&places.project, "settings.local.json"),
        SettingsSource::Flag | SettingsSource::Managed => return None,
    };
    Some(Path::new(root).join(".claude").join(name))
}

fn write(file: &Path, settings: &Map<String, Value>) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let mut beside = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer_pretty(&mut beside, settings).map_err(io::Error::other)?;
    beside.persist(file).map_err(|error| error.error)?;
    Ok(())
}

fn apply(permissions: &mut Map<String, Value>, update: &PermissionUpdate) {
    let texts = |rules: &[PermissionRule]| -> Vec<String> { rules.iter().map(ToString::to_string).collect() };
    match update {
        PermissionUpdate::AddRules { rules, behavior, .. } => {
            add(permissions, key(*behavior), &texts(rules));
        }
        PermissionUpdate::ReplaceRules { rules, behavior, .. } => {
            permissions.insert(key(*behavior).to_owned(), json!(texts(rules)));
        }
        PermissionUpdate::RemoveRules { rules, behavior, .. } => {
            remove(permissions, key(*behavior), &texts(rules));
        }
        PermissionUpdate::SetMode { mode, .. } => {
            permissions.insert("defaultMode".to_owned(), json!(mode));
        }
        PermissionUpdate::AddDirectories { directories, .. } => {
            add(permissions, "additionalDirectories", directories);
        }
        PermissionUpdate::RemoveDirectories { directories, .. } => {
            remove(permissions, "additionalDirectories", directories);
        }
    }
}

fn add(permissions: &mut Map<String, Value>, key: &str, texts: &[String]) {
    let list = permissions.entry(key).or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    for text in texts {
        if !list.iter().any(|one| one.as_str() == Some(text)) {
            list.push(json!(text));
        }
    }
}

fn remove(permissions: &mut Map<String, Value>, key: &str, texts: &[String]) {
    if let Some(list) = permissions.get_mut(key).and_then(Value::as_array_mut) {
        list.retain(|one| !texts.iter().any(|text| one.as_str() == Some(text)));
    }
}

fn key(behavior: PermissionBehavior) -> &'static str {
    match behavior {
        PermissionBehavior::Allow => "allow",
        PermissionBehavior::Deny => "deny",
        PermissionBehavior::Ask => "ask",
    }
}
