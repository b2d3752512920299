//! An operator's policy: read once, before anything is served, and strictly. Says what the file means to a session only
//! by handing it on.

mod audit;
mod command;
mod wording;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claude_sdk_bridge::paths::FileSystemPaths;
use claude_sdk_bridge::settings::{Locations, SettingsText, read_all};
use permission_core::explain::{ExplainedSession, unmet_examples};
use permission_core::policy::{Policy, PolicyMistake};
use permission_core::settings::HostFacts;

pub(crate) use audit::AuditFile;
pub(crate) use command::run;

use crate::args::OversightArgs;
use crate::surroundings;

/// How often a link may lead to another one before it is a circle; the system gives up at the same number.
const MAX_LINKS: usize = 40;

/// Under whose eyes sessions run.
#[derive(Debug, Default)]
pub(crate) struct Oversight {
    /// The operator's policy.
    pub(crate) policy: Option<Arc<Policy>>,
    /// The record.
    pub(crate) audit: Option<Arc<AuditFile>>,
    /// What this program must be started with to be under the same policy, from any directory.
    pub(crate) arguments: Vec<String>,
}

impl Oversight {
    /// Reads the policy and opens the record.
    ///
    /// # Errors
    /// With everything that is wrong; then nothing may start.
    pub(crate) fn begin(args: OversightArgs) -> anyhow::Result<Self> {
        let mut policy = None;
        let mut arguments = Vec::new();
        if let Some(file) = &args.policy {
            let (read, path) = load(file)?;
            arguments = vec!["--policy".to_owned(), path];
            policy = Some(read);
        }
        let mut audit = None;
        if let Some(file) = &args.audit {
            let opened = AuditFile::open(file);
            audit = Some(Arc::new(opened.map_err(|error| {
                anyhow::anyhow!(wording::audit_unopenable(file, &error))
            })?));
            if let Some(policy) = &mut policy {
                policy.protected.extend(names_of(file).unwrap_or_default());
            }
        }
        Ok(Self {
            policy: policy.map(Arc::new),
            audit,
            arguments,
        })
    }
}

/// Reads a policy that is to be kept to, and its absolute path.
///
/// # Errors
/// With every mistake in it.
pub(crate) fn load(file: &Path) -> anyhow::Result<(Policy, String)> {
    let failed = |why: String| anyhow::anyhow!(wording::unusable(file, &why));
    let text = text_of(file).map_err(failed)?;
    let names = names_of(file).ok_or_else(|| failed(wording::NOT_TEXT.to_owned()))?;
    let path = names.first().cloned().unwrap_or_default();
    let mut policy =
        tried(Path::new(&path), &text).map_err(|mistakes| failed(wording::mistakes(&mistakes)))?;
    policy.protected.extend(names.into_iter().skip(1));
    Ok((policy, path))
}

/// The directory of the session that a policy's examples are tried in. Nothing of this machine's is in it.
const EXAMPLES_IN: &str = "/project";

/// The policy of a text whose examples come true.
fn tried(file: &Path, text: &str) -> Result<Policy, Vec<PolicyMistake>> {
    let policy = Arc::new(Policy::read(file, text)?);
    let claude = surroundings::settings();
    let session = ExplainedSession {
        cwd: EXAMPLES_IN,
        home: claude.home.as_deref().and_then(Path::to_str),
        plans: None,
        settings: &[],
        host: HostFacts::default(),
        mode: None,
        policy: Some(&policy),
        paths: &FileSystemPaths,
    };
    let unmet = unmet_examples(&session);
    if unmet.is_empty() {
        Ok(Arc::unwrap_or_clone(policy))
    } else {
        Err(unmet)
    }
}

/// What stands in the file. Its kind and size are checked as those of settings files are.
fn text_of(file: &Path) -> Result<String, String> {
    let only = Locations {
        managed: Some(file.to_owned()),
        ..Locations::default()
    };
    match read_all(&only).into_iter().next() {
        Some(SettingsText { text: Ok(text), .. }) => Ok(text),
        Some(SettingsText { text: Err(error), .. }) => Err(error.to_string()),
        None => Err(wording::MISSING.to_owned()),
    }
}

/// The absolute paths by which a file can be changed: the one without links in its directory first, and whatever links
/// it is reached through. `None` where one is not text, since then nothing could protect it.
fn names_of(file: &Path) -> Option<Vec<String>> {
    let mut names: Vec<PathBuf> = Vec::new();
    let mut next = std::path::absolute(file).ok()?;
    for _ in 0..MAX_LINKS {
        let really = without_links_before(&next);
        // A path that climbs may mean another place than it seems to; the one without links says the same.
        let given = next.clone();
        let climbs = given
            .components()
            .any(|part| part == std::path::Component::ParentDir);
        let target = std::fs::read_link(&next);
        for name in [really.clone(), (!climbs).then_some(given)].into_iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match target {
            Ok(target) => next = really.unwrap_or(next).parent()?.join(target),
            Err(_) => break,
        }
    }
    names
        .into_iter()
        .map(|name| name.into_os_string().into_string().ok())
        .collect()
}

/// The path with the links in its directory resolved, but not the last one.
fn without_links_before(path: &Path) -> Option<PathBuf> {
    let directory: io::Result<PathBuf> = path.parent()?.canonicalize();
    Some(directory.ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests;
