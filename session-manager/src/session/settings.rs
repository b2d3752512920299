//! The settings files of a session, as they are now.

use std::path::Path;

use claude_sdk_bridge::{
    launch::LaunchOptions,
    settings::{
        Locations, SettingsSurroundings, SettingsText, SettingsTexts, SettingsWatcher, WatchedSettings,
    },
};
use permission_core::{
    guard::Policy,
    settings::{EffectiveSettings, SettingsFile, SettingsSource, merge},
};
use serde_json::Value;

/// What the files say together, and above them all what an operator's policy says about rules and modes.
pub(super) fn effective(watch: Option<&SettingsWatch>, policy: Option<&Policy>) -> EffectiveSettings {
    let files = watch.into_iter().flat_map(SettingsWatch::files);
    // Among managed files, whose word is the same, the first one counts.
    let policy = policy.and_then(|policy| policy.settings.clone());
    merge(policy.into_iter().chain(files))
}

/// How the name of the file begins in which Claude gets its settings.
const SETTINGS_FILE_PREFIX: &str = "claude-acp-settings-";

/// Where the client's own settings stand.
const FLAG: &str = "_meta.claudeCode.options.settings";

/// Watches the files as long as it lives.
pub(super) struct SettingsWatch {
    texts: Texts,
    /// What the client wants beside them.
    flag: Option<SettingsText>,
}

enum Texts {
    Watched(WatchedSettings),
    /// They stay as they are.
    Given(SettingsTexts),
}

impl SettingsWatch {
    /// Reads the files, and watches them from then on. Files block, so this is done off the runtime's threads.
    pub(super) async fn start(
        watcher: SettingsWatcher,
        surroundings: SettingsSurroundings,
        options: &LaunchOptions,
    ) -> Option<Self> {
        let mut locations = Locations::of(&surroundings, &options.cwd);
        if let Some(sources) = &options.setting_sources {
            locations.keep(sources);
        }
        let watched = tokio::task::spawn_blocking(move || watcher.watch(&locations));
        let watched = watched
            .await
            .inspect_err(|error| tracing::error!(%error, "settings were not read"))
            .ok()?;
        Some(Self {
            texts: Texts::Watched(watched),
            flag: flag(options),
        })
    }

    /// Settings that stay as they are.
    pub(super) fn of(texts: SettingsTexts, options: &LaunchOptions) -> Self {
        Self {
            texts: Texts::Given(texts),
            flag: flag(options),
        }
    }

    /// What stands in the files.
    pub(super) fn texts(&self) -> SettingsTexts {
        match &self.texts {
            Texts::Watched(watched) => watched.texts(),
            Texts::Given(texts) => texts.clone(),
        }
    }

    fn files(&self) -> Vec<SettingsFile> {
        let texts = self.texts();
        texts.iter().chain(&self.flag).map(SettingsText::parse).collect()
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

fn flag(options: &LaunchOptions) -> Option<SettingsText> {
    options.settings.as_ref().map(|settings| SettingsText {
        source: SettingsSource::Flag,
        path: FLAG.into(),
        text: Ok(settings.to_string()),
    })
}
