//! `cargo xtask test`: everything that must hold, in the order in which it is cheapest to fail.
//!
//! The last line is exactly `N passed, N failed, N skipped`.

use anyhow::{Result, bail};

use crate::tally::Tally;
use crate::{e2e, fuzz, install, run};

/// How many random cases a property test tries in a long run.
const LONG_CASES: &str = "5000";

/// The task.
pub(crate) fn task(arguments: &[String]) -> Result<bool> {
    let long = match arguments {
        [] => false,
        [only] if only == "--long" => true,
        _ => bail!("`test` takes no argument but `--long`"),
    };
    let mut tally = Tally::default();
    style(&mut tally)?;
    licences(&mut tally)?;
    unit_tests(&mut tally, long)?;
    if long {
        fuzz::all(&mut tally)?;
    }
    end_to_end(&mut tally, long)?;
    report(&tally);
    Ok(tally.success(run::skips_fail()))
}

fn style(tally: &mut Tally) -> Result<()> {
    let official = "tests/official-client/Cargo.toml";
    tally.check(
        "format",
        run::passes(&mut run::cargo(&["fmt", "--all", "--check"]))?,
    );
    let mut fmt = run::cargo(&["fmt", "--manifest-path", official, "--check"]);
    tally.check("format of the official client", run::passes(&mut fmt)?);
    let lints = ["--", "-D", "warnings"];
    let mut clippy = run::cargo(&["clippy", "--workspace", "--all-targets"]);
    tally.check("lints", run::passes(clippy.args(lints))?);
    let mut doc = run::cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    tally.check(
        "documentation",
        run::passes(doc.env("RUSTDOCFLAGS", "-D warnings"))?,
    );
    Ok(())
}

/// Licences, banned crates and sources; the advisory database is not consulted, since it needs a network of its own.
fn licences(tally: &mut Tally) -> Result<()> {
    let installed = run::cargo(&["deny", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    if installed {
        let mut deny = run::cargo(&["deny", "-L", "error", "check", "licenses", "bans", "sources"]);
        tally.check("licences, bans and sources", run::passes(&mut deny)?);
    } else {
        tally.skip(
            "licences, bans and sources",
            "`cargo install --locked cargo-deny`",
        );
    }
    Ok(())
}

fn unit_tests(tally: &mut Tally, long: bool) -> Result<()> {
    let mut unit = run::cargo(&["test", "--workspace", "--exclude", "e2e-tests", "--no-fail-fast"]);
    if long {
        unit.env("PROPTEST_CASES", LONG_CASES);
    }
    run::count("unit tests", &mut unit, tally)?;
    let mut tree = run::cargo(&[
        "test",
        "-p",
        "e2e-tests",
        "--lib",
        "--test",
        "tree",
        "--no-fail-fast",
    ]);
    run::count("checks of the tree", &mut tree, tally)
}

fn end_to_end(tally: &mut Tally, long: bool) -> Result<()> {
    tally.check("build of the official client", e2e::official_client()?.is_some());
    e2e::run(&e2e::Options::default(), tally)?;
    if long {
        let released = e2e::Options {
            release: true,
            ..e2e::Options::default()
        };
        e2e::run(&released, tally)?;
        let older = e2e::Options {
            backend: "claude".into(),
            claude: install::OLDER_CLAUDE_VERSION.into(),
            ..e2e::Options::default()
        };
        e2e::run(&older, tally)?;
    }
    Ok(())
}

fn report(tally: &Tally) {
    println!();
    for name in &tally.skipped {
        println!("skipped: {name}");
    }
    for name in &tally.failures {
        println!("failed: {name}");
    }
    if run::skips_fail() && !tally.skipped.is_empty() {
        println!("with `CI` set, what is skipped counts as failed");
    }
    println!("{}", tally.summary());
}
