//! Replays the seeds of the fuzz targets as ordinary tests.

#![expect(clippy::expect_used, reason = "a test may fail")]

#[path = "../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut replayed = 0;
    for entry in fs::read_dir(&folder).expect("the seeds of the target") {
        let path = entry.expect("a seed").path();
        check(&fs::read(&path).expect("a readable seed"));
        replayed += 1;
    }
    assert!(replayed >= 5, "{replayed} seeds in {}", folder.display());
}

#[test]
fn every_seed_of_suggestions_is_taken_whole_or_not_at_all() {
    replay("suggestions", checks::suggestions);
}

#[test]
fn every_seed_of_responses_allows_only_what_was_selected() {
    replay("response", checks::response);
}

#[test]
fn every_seed_of_rules_limits_at_least_what_it_says() {
    replay("rule", checks::rule);
}

#[test]
fn every_seed_of_commands_keeps_allow_and_deny_apart() {
    replay("command", checks::command);
}
