//! The settings files of a session, as they are now, and what an operator's policy lays over them.

mod enforced;
mod shell_lines;

use std::path::Path;
use std::sync::Arc;

use claude_sdk_bridge::launch::LaunchOptions;
use claude_sdk_bridge::settings::{
    Locations, SettingsSurroundings, SettingsText, SettingsTexts, SettingsWatcher, WatchedSettings,
};
use permission_core::policy::Policy;
use permission_core::settings::{EffectiveSettings, SettingsSource, merge};
use serde_json::Value;

pub(super) use shell_lines::ShellLines;

use crate::config::Environment;

/// How the name of the file begins in which Claude gets its settings.
const SETTINGS_FILE_PREFIX: &str = "claude-acp-settings-";

/// Where the client's own settings stand.
const FLAG: &str = "_meta.claudeCode.options.settings";

/// Watches the files as long as it lives.
pub(super) struct Settings {
    texts: Texts,
    /// What the client wants beside them.
    flag: Option<SettingsText>,
    policy: Option<Arc<Policy>>,
    /// The environment of this process.
    environment: Environment,
}

/// What stands in the files.
pub(super) enum Texts {
    Watched(WatchedSettings),
    /// They stay as they are.
    Given(SettingsTexts),
}

impl Texts {
    /// Reads the files, and watches them from then on. Files block, so this is done off the runtime's threads.
    pub(super) async fn watch(
        watcher: SettingsWatcher,
        surroundings: &SettingsSurroundings,
        options: &LaunchOptions,
    ) -> Self {
        let mut locations = Locations::of(surroundings, &options.cwd);
        if let Some(sources) = &options.setting_sources {
            locations.keep(sources);
        }
        match tokio::task::spawn_blocking(move || watcher.watch(&locations)).await {
            Ok(watched) => Self::Watched(watched),
            Err(error) => {
                tracing::error!(%error, "settings were not read");
                Self::Given(Arc::default())
            }
        }
    }

    fn now(&self) -> SettingsTexts {
        match self {
            Self::Watched(watched) => watched.texts(),
            Self::Given(texts) => texts.clone(),
        }
    }
}

impl Settings {
    /// The settings of a session whose processes are started with these options.
    pub(super) fn new(
        texts: Texts,
        options: &LaunchOptions,
        policy: Option<Arc<Policy>>,
        environment: Environment,
    ) -> Self {
        let flag = options.settings.as_ref().map(|settings| SettingsText {
            source: SettingsSource::Flag,
            path: FLAG.into(),
            text: Ok(settings.to_string()),
        });
        Self {
            texts,
            flag,
            policy,
            environment,
        }
    }

    /// What the files say together, and above them all what an operator's policy says about rules and modes.
    pub(super) fn effective(&self) -> EffectiveSettings {
        // Among managed files, whose word is the same, the first one counts.
        let policy = self.policy.as_ref().and_then(|policy| policy.settings.clone());
        let texts = self.texts.now();
        let files = texts.iter().chain(&self.flag).map(SettingsText::parse);
        merge(policy.into_iter().chain(files))
    }

    /// The shell lines of commands and skills, under these settings.
    pub(super) fn shell_lines(&self, options: &LaunchOptions) -> ShellLines {
        ShellLines::new(self.policy.is_some(), options.settings.as_ref())
    }

    /// Writes into the options what the next process must be told, whatever the files say.
    pub(super) fn enforce(&self, options: &mut LaunchOptions) {
        let inherited = self.environment.variables();
        enforced::enforce(options, self.policy.as_deref(), &self.texts.now(), inherited);
    }

    /// Waits until a file says something else. Cancel-safe.
    pub(super) async fn changed(&mut self) {
        match &mut self.texts {
            Texts::Watched(watched) => watched.changed().await,
            Texts::Given(_) => std::future::pending().await,
        }
    }
}

/// Why Claude counts nothing of the settings that it was started with, as it tells about its settings: the one that is wrong,
/// and what is wrong with it.
pub(super) fn left_out(told: &Value) -> Option<(String, String)> {
    let list = |key: &str| told.get(key).and_then(Value::as_array).into_iter().flatten();
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_ours = |error: &&Value| {
        let file = text(error, "file");
        Path::new(&file)
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(SETTINGS_FILE_PREFIX))
    };
    let counts = list("sources").any(|source| text(source, "source") == "flagSettings");
    let error = list("errors").find(is_ours).filter(|_| !counts)?;
    Some((text(error, "path"), text(error, "message")))
}
