//! `cargo xtask`: the developer's tasks. Reads the command line and hands over to one file a task.
//!
//! It builds, installs and runs; it knows nothing of the product but the names of its crates.
#![expect(
    clippy::print_stdout,
    reason = "a developer's tool reports on its standard output"
)]

mod e2e;
mod fuzz;
mod install;
mod run;
mod suite;
mod tally;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask TASK

  claude-cli                  installs the pinned Claude CLI into the cache folder and prints its path
  node-tools                  installs Node and acpx into the cache folder and prints their folder
  e2e [OPTIONS] [FILTER] …    builds everything and runs the end-to-end suite
      --backend NAME          rehearsal, claude or all (the default)
      --transport NAME        stdio, tcp, unix or all (the default)
      --claude VERSION        another version of the Claude CLI's package than the pinned one
      --release               tests the build that is shipped (profile `dist`)
  test [--long]               everything that must hold: format, lints, docs, licences, unit tests, end-to-end
      --long                  more random cases, a minute of fuzzing for each decoder of foreign bytes, and the
                              end-to-end suite a second time on the build that is shipped

The cache folder is `$XDG_CACHE_HOME/claude-acp`, by default `~/.cache/claude-acp`. What cannot be installed is
reported as skipped by name; with `CI=true` that is a failure.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = arguments
        .split_first()
        .map_or(("", &[][..]), |(task, rest)| (task.as_str(), rest));
    let done = match task {
        "claude-cli" => install::claude_cli(install::CLAUDE_VERSION).map(|path| announce(&path)),
        "node-tools" => install::node_tools().map(|tools| announce(&tools.node) & announce(&tools.acpx)),
        "e2e" => e2e::task(rest),
        "test" => suite::task(rest),
        "" | "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(!task.is_empty())
        }
        unknown => Err(anyhow::anyhow!(
            "there is no task `{unknown}`; try `cargo xtask help`"
        )),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn announce(path: &std::path::Path) -> bool {
    println!("{}", path.display());
    true
}
