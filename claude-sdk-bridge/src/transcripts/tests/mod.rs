//! Transcripts of the real CLI, and what no recording holds: broken lines, circles, half lines, old CLIs.

mod crafted;
mod ends;
mod view;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::TranscriptFile;

fn recorded(name: &str) -> TranscriptFile {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    file(fixtures.join(format!("{name}.jsonl")))
}

fn file(path: PathBuf) -> TranscriptFile {
    TranscriptFile {
        id: "0a0c4f6e-1111-4222-8333-abcdefabcdef".into(),
        path,
        modified: SystemTime::UNIX_EPOCH,
    }
}
