//! The schema of the format, as the types say it.
//!
//! Place in the flow: tests only. `schema.json` is what comes out here; the shipped program carries the text. Where a type reads
//! more than one form, the forms stand here.

#![expect(dead_code, reason = "only the derive looks at these")]

use schemars::JsonSchema;

use super::{Failure, FailureKind, RawScript, SCHEMA};

/// The short form or the whole one.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum OrText<T> {
    Short(String),
    Whole(T),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum OrFlag<T> {
    Short(bool),
    Whole(T),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum OrKind {
    Short(FailureKind),
    Whole(Failure),
}

/// The permission modes.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) enum Mode {
    Default,
    AcceptEdits,
    Plan,
    BypassPermissions,
    DontAsk,
    Auto,
}

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(RawScript);
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/schema.json"), &text).unwrap();
        return;
    }
    assert_eq!(
        SCHEMA, text,
        "write it anew: `UPDATE_SCHEMA=1 cargo test -p rehearsal`"
    );
}
