//! The end of every recorded turn, classified: one snapshot, a line each.

#![cfg(test)]

use std::path::{Path, PathBuf};

use claude_sdk_bridge::messages::{Message, TurnOutcome};
use serde_json::Value;

#[test]
fn every_recorded_turn_ends_the_way_the_protocol_describes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cli");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let outcomes = outcomes(&file);
        if outcomes.iter().any(|outcome| *outcome != TurnOutcome::Completed) {
            lines.extend(outcomes.iter().map(|outcome| format!("{name}: {outcome:?}")));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

fn outcomes(file: &Path) -> Vec<TurnOutcome> {
    let text = std::fs::read_to_string(file).unwrap();
    let out = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["dir"] == "out");
    out.filter_map(
        |mut line| match serde_json::from_value(line["msg"].take()).unwrap() {
            Message::Result(result) => Some(result.outcome()),
            _ => None,
        },
    )
    .collect()
}
