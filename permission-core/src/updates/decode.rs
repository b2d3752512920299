//! Reads one `PermissionUpdate` strictly: every field, every bound, no coercion.
//!
//! Place in the flow: called for each element of a suggestion bundle, and by `Deserialize`. Written by hand because
//! a derived reader takes a list where an object belongs and `null` where text belongs. Must not keep unknown
//! fields: the echo to Claude uses the original value.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};
use crate::modes::PermissionMode;
use crate::safe_text::{is_removed_control, trim, utf16_len};

const MAX_ENTRIES: usize = 100;
const MAX_TOOL_NAME: usize = 512;
const MAX_RULE_CONTENT: usize = 10_000;
const MAX_DIRECTORY: usize = 4_096;

/// Why a value is not a `PermissionUpdate`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUpdate {
    /// Not a JSON object.
    #[error("`{0}` must be an object")]
    NotAnObject(&'static str),
    /// A field is missing, or its value is none of the allowed ones.
    #[error("`{0}` is missing or has a value that is not allowed")]
    Field(&'static str),
    /// A list is missing, too short or too long.
    #[error("`{0}` must be a list of an allowed length")]
    List(&'static str),
    /// A text is blank, too long or holds control characters.
    #[error("`{0}` must be a text of an allowed length without control characters")]
    Text(&'static str),
}

/// Takes any JSON value, so that `Deserialize` runs through the strict reader below.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Raw(Value);

impl TryFrom<Raw> for PermissionUpdate {
    type Error = InvalidUpdate;

    fn try_from(raw: Raw) -> Result<Self, InvalidUpdate> {
        Self::try_from(&raw.0)
    }
}

impl TryFrom<Raw> for PermissionRule {
    type Error = InvalidUpdate;

    fn try_from(raw: Raw) -> Result<Self, InvalidUpdate> {
        rule(&raw.0)
    }
}

impl TryFrom<&Value> for PermissionUpdate {
    type Error = InvalidUpdate;

    fn try_from(value: &Value) -> Result<Self, InvalidUpdate> {
        let fields = value.as_object().ok_or(InvalidUpdate::NotAnObject("update"))?;
        let destination = || known::<PermissionDestination>(fields, "destination");
        let behavior = || known::<PermissionBehavior>(fields, "behavior");
        match text_field(fields, "type")? {
            "addRules" => Ok(Self::AddRules {
                rules: rules(fields, 1)?,
                behavior: behavior()?,
                destination: destination()?,
            }),
            "replaceRules" => Ok(Self::ReplaceRules {
                rules: rules(fields, 0)?,
                behavior: behavior()?,
                destination: destination()?,
            }),
            "removeRules" => Ok(Self::RemoveRules {
                rules: rules(fields, 1)?,
                behavior: behavior()?,
                destination: destination()?,
            }),
            "setMode" => Ok(Self::SetMode {
                mode: mode(fields)?,
                destination: destination()?,
            }),
            "addDirectories" => Ok(Self::AddDirectories {
                directories: directories(fields)?,
                destination: destination()?,
            }),
            "removeDirectories" => Ok(Self::RemoveDirectories {
                directories: directories(fields)?,
                destination: destination()?,
            }),
            _ => Err(InvalidUpdate::Field("type")),
        }
    }
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, InvalidUpdate> {
    fields
        .get(name)
        .and_then(Value::as_str)
        .ok_or(InvalidUpdate::Field(name))
}

/// A field whose value is one of the texts of an enum.
fn known<T: for<'de> Deserialize<'de>>(
    fields: &Map<String, Value>,
    name: &'static str,
) -> Result<T, InvalidUpdate> {
    let text = text_field(fields, name)?;
    T::deserialize(Value::from(text)).map_err(|_| InvalidUpdate::Field(name))
}

fn mode(fields: &Map<String, Value>) -> Result<PermissionMode, InvalidUpdate> {
    PermissionMode::from_wire_id(text_field(fields, "mode")?).ok_or(InvalidUpdate::Field("mode"))
}

fn rules(fields: &Map<String, Value>, min: usize) -> Result<Vec<PermissionRule>, InvalidUpdate> {
    list(fields, "rules", min)?.iter().map(rule).collect()
}

fn rule(value: &Value) -> Result<PermissionRule, InvalidUpdate> {
    let fields = value.as_object().ok_or(InvalidUpdate::NotAnObject("rule"))?;
    let tool_name = bounded(fields.get("toolName"), "toolName", MAX_TOOL_NAME)?;
    let rule_content = match fields.get("ruleContent") {
        None => None,
        present => Some(bounded(present, "ruleContent", MAX_RULE_CONTENT)?),
    };
    Ok(PermissionRule {
        tool_name,
        rule_content,
    })
}

fn directories(fields: &Map<String, Value>) -> Result<Vec<String>, InvalidUpdate> {
    list(fields, "directories", 1)?
        .iter()
        .map(|directory| bounded(Some(directory), "directories", MAX_DIRECTORY))
        .collect()
}

fn list<'a>(
    fields: &'a Map<String, Value>,
    name: &'static str,
    min: usize,
) -> Result<&'a [Value], InvalidUpdate> {
    let entries = fields
        .get(name)
        .and_then(Value::as_array)
        .ok_or(InvalidUpdate::List(name))?;
    if (min..=MAX_ENTRIES).contains(&entries.len()) {
        Ok(entries)
    } else {
        Err(InvalidUpdate::List(name))
    }
}

/// The length counts the text as it stands, in UTF-16 units; controls count after trimming.
fn bounded(value: Option<&Value>, name: &'static str, max: usize) -> Result<String, InvalidUpdate> {
    let text = value.and_then(Value::as_str).ok_or(InvalidUpdate::Text(name))?;
    let trimmed = trim(text);
    let fits = !trimmed.is_empty() && utf16_len(text) <= max && !trimmed.chars().any(is_removed_control);
    if fits {
        Ok(text.to_owned())
    } else {
        Err(InvalidUpdate::Text(name))
    }
}
