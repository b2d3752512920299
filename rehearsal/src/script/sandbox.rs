//! The files that a script lays out for its real tools.
//!
//! Place in the flow: read with `script::Session`; the sandbox writes them. A path here must not lead out of the sandbox.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error as _};

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

fn stays_inside(path: &str) -> bool {
    let relative = path.strip_prefix("~/").unwrap_or(path);
    let plain = |step: &str| !matches!(step, "" | "." | ".." | "~") && !step.contains('\0');
    relative.split('/').all(plain)
}
