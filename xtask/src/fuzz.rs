//! Fuzzing, for long runs: what decodes a stranger's bytes gets a minute of random ones.
//!
//! The seeds are replayed by ordinary tests; what a run finds beyond them stays in the target folder.

use std::path::Path;

use anyhow::{Context, Result};

use crate::run;
use crate::tally::Tally;

/// The crate whose decoders are fuzzed, and its targets.
const CRATE: &str = "permission-core";
const TARGETS: &[&str] = &["suggestions", "response", "rule", "command"];

/// How long each target runs.
const TIME: &str = "-max_total_time=60";

/// Runs every target from its seeds; installs `cargo fuzz` if it is not there.
pub(crate) fn all(tally: &mut Tally) -> Result<()> {
    if !is_installed() && !run::passes(&mut run::cargo(&["install", "--locked", "cargo-fuzz"]))? {
        for target in TARGETS {
            tally.skip(&name(target), "`cargo install --locked cargo-fuzz`");
        }
        return Ok(());
    }
    for target in TARGETS {
        let found = run::root().join("target/fuzz").join(target);
        std::fs::create_dir_all(&found).with_context(|| format!("cannot create `{}`", found.display()))?;
        let mut fuzz = run::cargo(&["fuzz", "run", target]);
        fuzz.arg(&found)
            .arg(Path::new("fuzz/seeds").join(target))
            .args(["--", TIME])
            .current_dir(run::root().join(CRATE))
            // The sanitizer's flags are refused by a stable compiler without this.
            .env("RUSTC_BOOTSTRAP", "1");
        tally.check(&name(target), run::passes(&mut fuzz)?);
    }
    Ok(())
}

fn name(target: &str) -> String {
    format!("fuzz target `{target}`")
}

fn is_installed() -> bool {
    run::cargo(&["fuzz", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}
