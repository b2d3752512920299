//! Where real tools work, as the engine sees it: places, settings, tools, and work that takes its time.
//!
//! Place in the flow: a host of the engine gives one in `Setup` (`sandbox` is the one there is); the engine asks it at once
//! for what decides, and hands out [`Work`] for what takes time. The engine itself touches no file and starts no process.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use permission_core::pipeline::Tool;
use permission_core::pipeline::hooks::{HookCommand, HookRun};
use permission_core::settings::{SettingsFile, SettingsSource};
use permission_core::{PathResolver, PermissionUpdate};
use serde_json::{Map, Value};

use crate::script::Session;

/// Makes the ground for a script's real tools.
pub trait Grounds: fmt::Debug + Send + Sync {
    /// The ground for tools that find this; the same for the same seed.
    ///
    /// # Errors
    /// What is told to the model, where there can be none.
    fn open(&self, seed: &Seed) -> Result<Arc<dyn Ground>, String>;
}

/// What real tools find at first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seed {
    /// Texts of files, by their paths in the project or below `~/`.
    pub files: BTreeMap<String, String>,
    /// The project's settings.
    pub settings: Map<String, Value>,
}

/// The directories and files of a ground, absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// What file tools cannot leave.
    pub root: String,
    /// The working directory of tools.
    pub project: String,
    /// Their home directory.
    pub home: String,
    /// Where a plan is written.
    pub plan: String,
}

/// A ground.
pub trait Ground: PathResolver + fmt::Debug + Send + Sync {
    /// Its places.
    fn places(&self) -> &Places;

    /// Writes the files of the seed again, for a session that begins.
    ///
    /// # Errors
    /// What is told to the model.
    fn lay_out(&self, seed: &Seed) -> Result<(), String>;

    /// The tool of this name, if there is one that is real.
    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>>;

    /// The settings files of user, project and machine as they are now.
    fn settings(&self) -> Vec<SettingsFile>;

    /// Changes a settings file, keeping what else stands in it.
    ///
    /// # Errors
    /// Why it cannot be changed.
    fn change(&self, file: SettingsSource, update: &PermissionUpdate) -> Result<(), String>;

    /// The plan, if one has been written.
    fn plan(&self) -> Option<String>;

    /// Begins with a job. Dropping the future ends it, with everything it has started.
    fn begin(&self, job: Job) -> Pin<Box<dyn Future<Output = Done> + Send>>;
}

/// Something that takes its time.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Running a hook.
    Hook {
        /// The hook.
        hook: Arc<HookCommand>,
        /// What it reads.
        payload: Value,
    },
    /// Running a tool that may run.
    Tool {
        /// Its name.
        name: String,
        /// Its input.
        input: Map<String, Value>,
    },
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// How the hook ended.
    Hook(HookRun),
    /// What came out of the tool.
    Tool(ToolOutput),
}

/// What came out of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// What a host shows.
    pub structured: Value,
    /// Whether it failed.
    pub is_error: bool,
}

/// A job that is to be done while the engine goes on listening. What comes of it is `Input::Done` with its number.
#[derive(Debug, Clone)]
pub struct Work {
    /// Its number.
    pub number: u64,
    /// Where.
    pub ground: Arc<dyn Ground>,
    /// What.
    pub job: Job,
}

impl Seed {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            files: session.files.clone(),
            settings: session.settings.clone(),
        }
    }
}

impl ToolOutput {
    /// A failure, as the model and a host read it.
    pub fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            structured: format!("Error: {text}").into(),
            text,
            is_error: true,
        }
    }
}

impl Places {
    /// A path of settings or of a call, absolute.
    pub(crate) fn absolute(&self, path: &str) -> String {
        match path.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.home),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.project),
        }
    }

    /// Puts the places into the texts of an input: `{project}`, `{home}`, `{plan}`.
    pub(crate) fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.fill_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => self.fill_fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The same for the fields of an object.
    pub(crate) fn fill_fields(&self, fields: &mut Map<String, Value>) {
        fields.values_mut().for_each(|value| self.fill(value));
    }

    fn fill_text(&self, text: &mut String) {
        for (name, place) in [
            ("{project}", &self.project),
            ("{home}", &self.home),
            ("{plan}", &self.plan),
        ] {
            if text.contains(name) {
                *text = text.replace(name, place);
            }
        }
    }
}

/// No ground at all: every real call fails.
#[derive(Debug)]
pub(crate) struct NoGrounds;

impl Grounds for NoGrounds {
    fn open(&self, _: &Seed) -> Result<Arc<dyn Ground>, String> {
        Err("there is no sandbox here".to_owned())
    }
}
