//! `cargo xtask e2e`: builds the agent and the drivers, installs what is missing, and runs the end-to-end suite.
//!
//! The suite itself decides what can run; it learns of the tools through variables that are set here.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::tally::Tally;
use crate::{install, run};

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) backend: String,
    pub(crate) transport: String,
    /// The version of the Claude CLI's package.
    pub(crate) claude: String,
    pub(crate) release: bool,
    /// Arguments for the runner: a filter, `--skip`, `--test-threads`, …
    pub(crate) rest: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: "all".into(),
            transport: "all".into(),
            claude: install::CLAUDE_VERSION.into(),
            release: false,
            rest: Vec::new(),
        }
    }
}

/// The task.
pub(crate) fn task(arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    let mut tally = Tally::default();
    run(&options, &mut tally)?;
    println!("\n{}", tally.summary());
    Ok(tally.success(run::skips_fail()))
}

/// Builds, installs and runs; counts into the tally.
pub(crate) fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let profile: &[&str] = if options.release {
        &["--profile", "dist"]
    } else {
        &[]
    };
    let built =
        run::passes(run::cargo(&["build", "-p", "agent-bin", "-p", "e2e-tests", "--bins"]).args(profile))?;
    if !built {
        tally.check("build of the agent", false);
        return Ok(());
    }
    let mut suite = run::cargo(&["test", "-p", "e2e-tests", "--test", "e2e"]);
    suite.args(profile).arg("--").args(&options.rest);
    if !options
        .rest
        .iter()
        .any(|argument| argument.starts_with("--test-threads"))
    {
        suite.args(["--test-threads", &threads().to_string()]);
    }
    suite
        .env("E2E_BACKEND", &options.backend)
        .env("E2E_TRANSPORT", &options.transport);
    if options.backend != "rehearsal" {
        if let Some(driver) = official_client()? {
            suite.env("E2E_OFFICIAL_CLIENT", driver);
        }
        match install::claude_cli(&options.claude) {
            Ok(cli) => drop(suite.env("E2E_CLAUDE_CLI", cli)),
            Err(error) => println!("the Claude CLI is not there: {error:#}"),
        }
        match install::node_tools() {
            Ok(tools) => drop(suite.env("E2E_NODE", tools.node).env("E2E_ACPX", tools.acpx)),
            Err(error) => println!("Node and acpx are not there: {error:#}"),
        }
    }
    run::count("end-to-end suite", &mut suite, tally)
}

/// Builds the driver on the official client crate, a workspace of its own; `None` when it does not build.
pub(crate) fn official_client() -> Result<Option<PathBuf>> {
    let target = target_folder().join("official-client");
    let manifest = run::root().join("tests/official-client/Cargo.toml");
    let mut build = run::cargo(&["build", "--locked", "--manifest-path"]);
    build.arg(manifest).arg("--target-dir").arg(&target);
    let driver = target
        .join("debug")
        .join(format!("official-client{}", std::env::consts::EXE_SUFFIX));
    Ok(run::passes(&mut build)?.then_some(driver))
}

/// The target folder that we ourselves were built into.
fn target_folder() -> PathBuf {
    let ours = std::env::current_exe().ok();
    let target = ours
        .as_deref()
        .and_then(|path| path.ancestors().nth(2))
        .map(Path::to_owned);
    target.unwrap_or_else(|| run::root().join("target"))
}

/// How many tests run at once: more than there are processors, since most of them wait most of the time.
fn threads() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--backend" => options.backend = one_of(given.next(), &["rehearsal", "claude", "all"])?,
            "--transport" => options.transport = one_of(given.next(), &["stdio", "tcp", "unix", "all"])?,
            "--claude" => match given.next() {
                Some(version) => options.claude = version.clone(),
                None => bail!(
                    "give a version of the Claude CLI's package, such as {}",
                    install::CLAUDE_VERSION
                ),
            },
            "--release" => options.release = true,
            rest => options.rest.push(rest.to_owned()),
        }
    }
    Ok(options)
}

fn one_of(value: Option<&String>, allowed: &[&str]) -> Result<String> {
    match value {
        Some(value) if allowed.contains(&value.as_str()) => Ok(value.clone()),
        _ => bail!("give one of {}", allowed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Options> {
        parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_taken_and_the_rest_goes_to_the_runner() {
        let options = parsed(&[
            "--backend",
            "claude",
            "cancel",
            "--transport",
            "tcp",
            "--claude",
            "0.3.332",
            "--skip",
            "late",
        ])
        .unwrap();
        assert_eq!(
            (
                options.backend.as_str(),
                options.transport.as_str(),
                options.claude.as_str()
            ),
            ("claude", "tcp", "0.3.332")
        );
        assert_eq!(options.rest, ["cancel", "--skip", "late"]);
    }

    #[test]
    fn an_unknown_backend_is_refused_with_those_there_are() {
        let error = parsed(&["--backend", "gpt"]).unwrap_err();
        assert_eq!(error.to_string(), "give one of rehearsal, claude, all");
    }
}
