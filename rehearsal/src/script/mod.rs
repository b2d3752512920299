//! The script format: what Claude does, turn by turn, read strictly.
//!
//! Place in the flow: a `Script` is loaded once and shared; `engine` plays it, one copy of the state per session.
//! The format is described for its writers in the crate's README. Nothing here may know frames or time.

mod builtin;
mod error;
#[cfg(test)]
mod schema;
mod session;
mod settings;
mod shorthand;
mod step;
mod tool;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claude_sdk_bridge::settings::SettingsText;
use permission_core::PermissionMode;
use permission_core::settings::{HostFacts, SettingsSource, initial_mode, merge};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use builtin::{DEFAULT, names};
pub use error::{Place, ScriptError};
pub use session::{Command, Grandchild, Plan, Process, Session};
pub use step::{
    Chunk, ExitStep, Failure, FailureKind, ForeignResult, HostEvent, LateResult, Repeat, StartStep, Step,
    Stream,
};
pub use tool::{Ask, AskAt, Hook, HookDecision, ToolResult, ToolStep};

/// The version of the format this crate reads.
pub const VERSION: u64 = 1;

/// The format as a JSON schema, for editors and other tools. The parser has the last word: a schema cannot say that names
/// of scenes differ, or what settings of Claude's mean.
pub const SCHEMA: &str = include_str!("../../schema.json");

/// What the settings of a script are called.
const SETTINGS: &str = "the settings of the script";

/// A scripted Claude.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What the script is for.
    pub about: String,
    /// What the session is like.
    pub session: Session,
    /// How the process behaves; only the executable form has one.
    pub process: Process,
    /// What happens before anything is answered.
    pub startup: Arc<[Step]>,
    /// The scenes, played one after the other.
    pub scenes: Vec<Scene>,
}

/// A named run of turns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Its name, by which a prompt can pick it.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub about: String,
    /// Its turns.
    pub turns: Vec<Turn>,
}

/// What Claude does with one prompt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Which prompts the turn is for; any, in order, when absent.
    #[cfg_attr(test, schemars(with = "schema::OrText<PromptPattern>"))]
    #[serde(default, deserialize_with = "pattern")]
    pub prompt: Option<PromptPattern>,
    /// Whether the turn can be played again and again.
    #[serde(default)]
    pub sticky: bool,
    /// What an interrupt does to the turn.
    #[serde(default)]
    pub on_interrupt: OnInterrupt,
    /// The tokens each of its requests to the model costs.
    #[serde(default)]
    pub usage: TokenUsage,
    /// What happens.
    #[serde(deserialize_with = "step::shared")]
    pub steps: Arc<[Step]>,
}

/// Which prompts a turn is for. A plain string is `contains`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PromptPattern {
    /// Prompts with this text somewhere in them.
    Contains(String),
    /// Exactly this prompt.
    Exact(String),
    /// Prompts that begin with this text.
    Prefix(String),
}

impl From<String> for PromptPattern {
    fn from(text: String) -> Self {
        Self::Contains(text)
    }
}

impl PromptPattern {
    /// Whether the pattern fits the prompt.
    #[must_use]
    pub fn matches(&self, prompt: &str) -> bool {
        match self {
            Self::Contains(text) => prompt.contains(text.as_str()),
            Self::Exact(text) => prompt == text,
            Self::Prefix(text) => prompt.starts_with(text.as_str()),
        }
    }
}

/// What an interrupt does to a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnInterrupt {
    /// Aborts it, as the CLI does.
    #[default]
    Abort,
    /// Aborts it, but its result never comes (or comes as a later turn's `late_result`).
    WithholdResult,
    /// Aborts it, but the result says success.
    Succeed,
    /// Is acknowledged, and the turn goes on.
    Ignore,
}

/// The tokens one request to the model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_tokens: u64,
    pub cache_read_tokens: u64,
}

impl TokenUsage {
    /// No tokens at all.
    pub const NONE: Self = Self {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_tokens: 0,
        cache_read_tokens: 0,
    };

    /// Adds what another request cost.
    pub fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_creation_tokens += other.cache_creation_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
    }
}

impl Default for TokenUsage {
    fn default() -> Self {
        Self {
            input_tokens: 10,
            output_tokens: 20,
            cache_creation_tokens: 100,
            cache_read_tokens: 1000,
        }
    }
}

impl Script {
    /// Reads a script file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a script; the message says where the mistake is.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a script from text; `name` is what error messages call it.
    ///
    /// # Errors
    /// When the text is not a script.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let script = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let path = error.path().to_string();
            ScriptError::mistake(name, text, path, &error.into_inner())
        })?;
        let rest = deserializer.end();
        rest.map_err(|error| ScriptError::mistake(name, text, String::new(), &error))?;
        Ok(script)
    }

    /// One of the scripts that come with the crate.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn builtin(name: &str) -> Result<Self, ScriptError> {
        match builtin::text(name) {
            Some(text) => Self::parse(name, text),
            None => Err(ScriptError::UnknownBuiltin {
                name: name.to_owned(),
            }),
        }
    }

    /// A built-in script if there is one of this name, else the file at this path.
    ///
    /// # Errors
    /// As [`Script::load`].
    pub fn find(name_or_path: &str) -> Result<Self, ScriptError> {
        match builtin::text(name_or_path) {
            Some(text) => Self::parse(name_or_path, text),
            None if !name_or_path.contains(['/', '.']) && !Path::new(name_or_path).exists() => {
                Err(ScriptError::UnknownBuiltin {
                    name: name_or_path.to_owned(),
                })
            }
            None => Self::load(Path::new(name_or_path)),
        }
    }

    /// The settings that its session has, as those of the person who plays it.
    #[must_use]
    pub fn settings(&self) -> Option<SettingsText> {
        let settings = &self.session.settings;
        (!settings.is_empty()).then(|| SettingsText {
            source: SettingsSource::Local,
            path: PathBuf::from(SETTINGS),
            text: Ok(Value::Object(settings.clone()).to_string()),
        })
    }

    /// The mode that those settings say a session starts in.
    pub(crate) fn default_mode(&self) -> PermissionMode {
        let settings = merge(self.settings().iter().map(SettingsText::parse));
        initial_mode(&settings, &HostFacts::default()).mode
    }

    /// All turns, in the order of the scenes.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.scenes.iter().flat_map(|scene| &scene.turns)
    }
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "A rehearsal script for claude-acp, version 1", extend("$id" = "urn:claude-acp:rehearsal-script:1", "oneOf" = [{ "required": ["turns"] }, { "required": ["scenes"] }])))]
#[serde(deny_unknown_fields)]
struct RawScript {
    /// For editors.
    #[serde(default, rename = "$schema")]
    _schema: String,
    /// The version of the format.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    #[serde(deserialize_with = "known_version", rename = "version")]
    _version: u64,
    /// What the script is for.
    #[serde(default)]
    about: String,
    #[serde(default)]
    session: Session,
    #[serde(default)]
    process: Process,
    /// What happens before anything is answered.
    #[serde(default)]
    startup: Vec<StartStep>,
    /// The only scene.
    #[cfg_attr(test, schemars(with = "Vec<Turn>"))]
    #[serde(default)]
    turns: Option<Vec<Turn>>,
    /// Named runs of turns, played one after the other unless a prompt picks one.
    #[cfg_attr(test, schemars(with = "Vec<Scene>"))]
    #[serde(default)]
    scenes: Option<Vec<Scene>>,
}

impl<'de> Deserialize<'de> for Script {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawScript::deserialize(deserializer)?;
        let scenes = match (raw.turns, raw.scenes) {
            (Some(turns), None) => vec![Scene {
                name: "main".to_owned(),
                about: raw.about.clone(),
                turns,
            }],
            (None, Some(scenes)) => distinct(scenes)?,
            (Some(_), Some(_)) => {
                return Err(D::Error::custom(
                    "`turns` and `scenes` exclude each other; keep one of them",
                ));
            }
            (None, None) => return Err(D::Error::custom("missing field `turns` (or `scenes`)")),
        };
        let startup = raw.startup.into_iter().map(Step::from).collect();
        Ok(Self {
            about: raw.about,
            session: raw.session,
            process: raw.process,
            startup,
            scenes,
        })
    }
}

/// Scenes are picked by their names.
fn distinct<E: serde::de::Error>(scenes: Vec<Scene>) -> Result<Vec<Scene>, E> {
    let mut names = HashSet::new();
    match scenes.iter().find(|scene| !names.insert(scene.name.as_str())) {
        Some(twice) => Err(E::custom(format!(
            "two scenes are named `{}`; give each a name of its own",
            twice.name
        ))),
        None => Ok(scenes),
    }
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PromptPattern>, D::Error> {
    shorthand::string_or_struct(deserializer).map(Some)
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!(
            "unknown version `{other}`, expected `{VERSION}`"
        ))),
    }
}

#[cfg(test)]
mod tests;
