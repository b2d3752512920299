//! The places where a Claude CLI may be, best first. Only absolute ones: a project must not be able to bring its own.

use std::path::{Path, PathBuf};

use super::Surroundings;

/// The name of the program.
const PROGRAM: &str = "claude";

/// Every place to look at, each once.
pub(super) fn candidates(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut places = Places(Vec::new());
    if let Some(directory) = surroundings.own_executable.as_deref().and_then(Path::parent) {
        places.add(directory.join(PROGRAM));
        for ancestor in directory.ancestors() {
            places.packages_if_any(&ancestor.join("node_modules"));
        }
    }
    if let Some(path) = &surroundings.path {
        std::env::split_paths(path).for_each(|directory| places.add(directory.join(PROGRAM)));
    }
    if let Some(home) = &surroundings.home {
        for directory in [
            ".local/bin",
            ".claude/local",
            ".npm-global/bin",
            "node_modules/.bin",
            ".yarn/bin",
        ] {
            places.add(home.join(directory).join(PROGRAM));
        }
        places.packages_if_any(&home.join(".npm-global/lib/node_modules"));
        places.packages_if_any(&home.join("node_modules"));
    }
    for prefix in surroundings
        .npm_prefix
        .iter()
        .chain(&surroundings.system_prefixes)
    {
        places.add(prefix.join("bin").join(PROGRAM));
        places.packages_if_any(&prefix.join("lib/node_modules"));
    }
    places.0
}

struct Places(Vec<PathBuf>);

impl Places {
    fn add(&mut self, place: PathBuf) {
        if place.is_absolute() && !self.0.contains(&place) {
            self.0.push(place);
        }
    }

    /// The SDK's platform packages in `node_modules`, where that folder has any of Claude's packages.
    fn packages_if_any(&mut self, node_modules: &Path) {
        let scope = node_modules.join("@anthropic-ai");
        if scope.is_dir() {
            for package in platform_packages() {
                self.add(scope.join(package).join(PROGRAM));
            }
        }
    }
}

/// The packages that hold a CLI for this platform, likeliest first.
fn platform_packages() -> Vec<String> {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let glibc = format!("claude-agent-sdk-{os}-{arch}");
    let musl = format!("{glibc}-musl");
    if cfg!(not(target_os = "linux")) {
        vec![glibc]
    } else {
        vec![glibc, musl]
    }
}
