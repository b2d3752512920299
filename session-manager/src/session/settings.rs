//! The settings files of a session, as they are now.

use claude_sdk_bridge::{
    launch::LaunchOptions,
    settings::{DEBOUNCE, Locations, SettingsSurroundings, SettingsText, SettingsTexts, SettingsWatcher},
};
use permission_core::{
    guard::Policy,
    settings::{EffectiveSettings, SettingsFile, SettingsSource, merge},
};
use tokio::sync::watch;

/// What the files say together, and above them all what an operator's policy says about rules and modes.
pub(super) fn effective(watch: Option<&SettingsWatch>, policy: Option<&Policy>) -> EffectiveSettings {
    let files = watch.into_iter().flat_map(SettingsWatch::files);
    // Among managed files, whose word is the same, the first one counts.
    let policy = policy.and_then(|policy| policy.settings.clone());
    merge(policy.into_iter().chain(files))
}

/// Where the client's own settings stand.
const FLAG: &str = "_meta.claudeCode.options.settings";

/// Watches the files as long as it lives.
pub(super) struct SettingsWatch {
    texts: watch::Receiver<SettingsTexts>,
    /// What the client wants beside them.
    flag: Option<SettingsText>,
    _watcher: Option<SettingsWatcher>,
}

impl SettingsWatch {
    /// Reads the files, and watches them from then on. Files block, so this is done off the runtime's threads.
    pub(super) async fn start(surroundings: SettingsSurroundings, options: &LaunchOptions) -> Option<Self> {
        let mut locations = Locations::of(&surroundings, &options.cwd);
        if let Some(sources) = &options.setting_sources {
            locations.keep(sources);
        }
        let watcher = tokio::task::spawn_blocking(move || SettingsWatcher::start(locations, DEBOUNCE));
        let watcher = watcher
            .await
            .inspect_err(|error| tracing::error!(%error, "settings were not read"))
            .ok()?;
        Some(Self {
            texts: watcher.subscribe(),
            flag: flag(options),
            _watcher: Some(watcher),
        })
    }

    /// Settings that stay as they are.
    pub(super) fn of(texts: SettingsTexts, options: &LaunchOptions) -> Self {
        Self {
            texts: watch::channel(texts).1,
            flag: flag(options),
            _watcher: None,
        }
    }

    /// What stands in the files.
    pub(super) fn texts(&self) -> SettingsTexts {
        self.texts.borrow().clone()
    }

    fn files(&self) -> Vec<SettingsFile> {
        let texts = self.texts.borrow();
        texts.iter().chain(&self.flag).map(SettingsText::parse).collect()
    }

    /// Waits until a file says something else. Cancel-safe.
    pub(super) async fn changed(&mut self) {
        if self.texts.changed().await.is_err() {
            // The watch has ended; the settings stay what they were.
            std::future::pending().await
        }
    }
}

fn flag(options: &LaunchOptions) -> Option<SettingsText> {
    options.settings.as_ref().map(|settings| SettingsText {
        source: SettingsSource::Flag,
        path: FLAG.into(),
        text: Ok(settings.to_string()),
    })
}
