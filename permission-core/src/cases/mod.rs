//! The case table of the permission extension, row by row; each row carries its number in the table.
//!
//! Place in the flow: tests only, through the public `prepare` and `settle`. Rows that need a session (hand-off,
//! cancellation, announcement) stand here only as far as this crate decides. Must not test parts on their own.

mod answers;
mod durable;
mod extension;
mod files;
mod plan;
mod properties;
mod shell;
mod suggestions;
mod tools;
mod wording;

use serde_json::Value;

use crate::testing::Scene;

/// A row: its number, the question, and the label of the durable option if one is offered.
type Row = (&'static str, Scene, Option<&'static str>);

/// Checks that exactly allow-once, perhaps the durable option, and reject are offered.
fn check(rows: impl IntoIterator<Item = Row>) {
    for (number, scene, label) in rows {
        let durable = label.map(|label| format!("allow-with-updates: {label}"));
        let expected: Vec<String> = [Some("allow-once".to_owned()), durable, Some("reject".to_owned())]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(scene.offers(), expected, "case {number}");
    }
}

fn row(number: &'static str, scene: Scene, label: &'static str) -> Row {
    (number, scene, Some(label))
}

fn once(number: &'static str, scene: Scene) -> Row {
    (number, scene, None)
}

/// The result of a selection, as it goes to Claude.
fn result_of(scene: &Scene, option_id: &str) -> Value {
    let settled = scene
        .prepare()
        .settle(&crate::Answer::selected(option_id))
        .unwrap();
    serde_json::to_value(settled.result).unwrap()
}
