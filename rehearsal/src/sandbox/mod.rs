//! The sandbox: a private directory in which real tools work, with a project, a home directory and settings of its own.
//!
//! Place in the flow: `backend` and `cli` keep a [`Sandboxes`] and give it to their engines as the ground of real tools.
//! Reading order: `tools` (what each refuses), `run` (doing a job), `shell`, `files`, `search`, `settings`. File tools do not
//! leave it; a shell command can reach whatever the user can, and nothing here claims otherwise.

mod files;
mod patch;
mod run;
mod search;
mod settings;
mod shell;
mod tools;

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use claude_sdk_bridge::paths::FileSystemPaths;
use permission_core::pipeline::Tool;
use permission_core::settings::{SettingsFile, SettingsSource};
use permission_core::{PathResolver, PermissionUpdate};
use tempfile::TempDir;

use crate::engine::{Done, Ground, Grounds, Job, Places, Seed};

/// The sandboxes of a working directory: one for each seed, made when it is needed.
#[derive(Debug)]
pub struct Sandboxes {
    below: Option<PathBuf>,
    made: Mutex<HashMap<String, Arc<Sandbox>>>,
}

/// A sandbox. Its directory goes when the last user of it does, unless it stands below a directory that lasts.
#[derive(Debug)]
struct Sandbox {
    places: Places,
    _directory: Option<TempDir>,
}

impl Sandboxes {
    /// Sandboxes that end with their users.
    #[must_use]
    pub fn private() -> Self {
        Self {
            below: None,
            made: Mutex::default(),
        }
    }

    /// Sandboxes in this directory, which another process finds again.
    #[must_use]
    pub fn below(directory: PathBuf) -> Self {
        Self {
            below: Some(directory),
            made: Mutex::default(),
        }
    }

    fn make(&self, key: &str, seed: &Seed) -> io::Result<Sandbox> {
        let (root, directory) = match &self.below {
            None => {
                let directory = tempfile::Builder::new()
                    .prefix("claude-acp-rehearsal-")
                    .permissions(std::fs::Permissions::from_mode(0o700))
                    .tempdir()?;
                (directory.path().to_owned(), Some(directory))
            }
            Some(below) => {
                let root = below.join(key);
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(&root)?;
                (root, None)
            }
        };
        let root = std::fs::canonicalize(root)?;
        let (project, home) = (root.join("project"), root.join("home"));
        let plan = home.join(".claude").join("plans").join("plan.md");
        let places = Places {
            root: text(&root)?,
            project: text(&project)?,
            home: text(&home)?,
            plan: text(&plan)?,
        };
        for directory in [Some(project.as_path()), plan.parent()].into_iter().flatten() {
            std::fs::create_dir_all(directory)?;
        }
        settings::lay_out(&places, seed)?;
        Ok(Sandbox {
            places,
            _directory: directory,
        })
    }
}

impl Grounds for Sandboxes {
    fn open(&self, seed: &Seed) -> Result<Arc<dyn Ground>, String> {
        let key = key(seed);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sandbox) = made.get(&key) {
            return Ok(Arc::clone(sandbox) as Arc<dyn Ground>);
        }
        let sandbox = self.make(&key, seed);
        let sandbox = Arc::new(sandbox.map_err(|error| format!("its sandbox could not be made: {error}"))?);
        made.insert(key, Arc::clone(&sandbox));
        Ok(sandbox)
    }
}

impl PathResolver for Sandbox {
    fn resolve(&self, path: &str) -> Option<String> {
        FileSystemPaths.resolve(path)
    }
}

impl Ground for Sandbox {
    fn places(&self) -> &Places {
        &self.places
    }

    fn lay_out(&self, seed: &Seed) -> Result<(), String> {
        // A plan belongs to the session that made it.
        let _ = std::fs::remove_file(&self.places.plan);
        files::lay_out(&self.places, &seed.files)
            .map_err(|error| format!("the files of the script could not be laid out: {error}"))
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        tools::tool(name, &self.places)
    }

    fn settings(&self) -> Vec<SettingsFile> {
        settings::read(&self.places)
    }

    fn change(&self, file: SettingsSource, update: &PermissionUpdate) -> Result<(), String> {
        settings::change(&self.places, file, update)
    }

    fn plan(&self) -> Option<String> {
        std::fs::read_to_string(&self.places.plan).ok()
    }

    fn begin(&self, job: Job) -> Pin<Box<dyn Future<Output = Done> + Send>> {
        Box::pin(run::run(self.places.clone(), job))
    }
}

/// Seeds that differ get sandboxes of their own.
fn key(seed: &Seed) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    seed.files.hash(&mut hasher);
    serde_json::Value::Object(seed.settings.clone())
        .to_string()
        .hash(&mut hasher);
    format!("sandbox-{:016x}", hasher.finish())
}

fn text(path: &Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("the path is not valid UTF-8"))
}

#[cfg(test)]
mod tests;
