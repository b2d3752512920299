//! Where the Claude CLI is: `CLAUDE_CODE_EXECUTABLE`, beside this program, `PATH`, the usual install places, in that
//! order. What was tried and why it would not do is part of the error.
//!
//! Everything it knows of the process comes in through [`Surroundings`]; it looks at files and starts nothing.

mod places;
mod usable;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

pub use usable::Unusable;

/// The variable that names the CLI.
pub const EXECUTABLE_VARIABLE: &str = "CLAUDE_CODE_EXECUTABLE";

/// What discovery may know of this process and this machine.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Value of [`EXECUTABLE_VARIABLE`].
    pub explicit: Option<OsString>,
    /// This program's own file.
    pub own_executable: Option<PathBuf>,
    /// Value of `PATH`.
    pub path: Option<OsString>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Where npm installs global packages, when a variable says so.
    pub npm_prefix: Option<PathBuf>,
    /// Prefixes of system-wide installs, such as `/usr/local`.
    pub system_prefixes: Vec<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_this_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let prefixes = ["/usr/local", "/usr", "/opt/homebrew"];
        Surroundings {
            explicit: variable(EXECUTABLE_VARIABLE),
            own_executable: std::env::current_exe().ok(),
            path: variable("PATH"),
            home: variable("HOME").map(PathBuf::from),
            npm_prefix: variable("NPM_CONFIG_PREFIX")
                .or_else(|| variable("npm_config_prefix"))
                .map(PathBuf::from),
            system_prefixes: prefixes.map(PathBuf::from).to_vec(),
        }
    }
}

/// The CLI to start. A CLI that the user named and that cannot be used is an error; no other is taken in its place.
pub fn discover(surroundings: &Surroundings) -> Result<PathBuf, DiscoveryError> {
    let path = surroundings.path.as_deref();
    if let Some(explicit) = &surroundings.explicit {
        let explicit = PathBuf::from(explicit);
        return match usable::check(&explicit, path) {
            Ok(()) => Ok(explicit),
            Err(reason) => Err(DiscoveryError::ExplicitUnusable {
                path: explicit,
                reason,
            }),
        };
    }
    let own = surroundings
        .own_executable
        .as_deref()
        .and_then(|own| own.canonicalize().ok());
    let mut tried = Vec::new();
    for candidate in places::candidates(surroundings) {
        match check(&candidate, own.as_deref(), path) {
            Ok(()) => return Ok(candidate),
            Err(reason) => tried.push(Tried {
                path: candidate,
                reason,
            }),
        }
    }
    Err(DiscoveryError::NotFound {
        tried: TriedList(tried),
    })
}

fn check(candidate: &Path, own: Option<&Path>, path: Option<&std::ffi::OsStr>) -> Result<(), Unusable> {
    // The rehearsal may be installed under the name `claude`; it must not be taken for the real one.
    if own.is_some() && candidate.canonicalize().ok().as_deref() == own {
        return Err(Unusable::IsThisProgram);
    }
    usable::check(candidate, path)
}

/// Why there is no CLI to start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The user named one that cannot be used.
    #[error("{EXECUTABLE_VARIABLE} names `{}`, which {reason}; correct it, or unset it to search for `claude`", .path.display())]
    ExplicitUnusable {
        /// What the user named.
        path: PathBuf,
        /// What is wrong with it.
        reason: Unusable,
    },
    /// None was found.
    #[error(
        "no Claude CLI found; install it with `npm install -g @anthropic-ai/claude-code`, or set {EXECUTABLE_VARIABLE} to its path; tried:{tried}"
    )]
    NotFound {
        /// Where it was looked for.
        tried: TriedList,
    },
}

/// A place where the CLI was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The place.
    pub path: PathBuf,
    /// Why it would not do.
    pub reason: Unusable,
}

/// All places where the CLI was looked for; shown one a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriedList(pub Vec<Tried>);

impl fmt::Display for TriedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Tried { path, reason } in &self.0 {
            write!(f, "\n  `{}` {reason}", path.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
