//! The settings files of a session, as they are now.

use std::path::PathBuf;

use claude_sdk_bridge::settings::{
    DEBOUNCE, Locations, SettingsSurroundings, SettingsText, SettingsTexts, SettingsWatcher,
};
use permission_core::settings::{EffectiveSettings, merge};
use tokio::sync::watch;

/// Watches the files as long as it lives.
pub(super) struct SettingsWatch {
    texts: watch::Receiver<SettingsTexts>,
    _watcher: SettingsWatcher,
}

impl SettingsWatch {
    /// Reads the files, and watches them from then on. Files block, so this is done off the runtime's threads.
    pub(super) async fn start(surroundings: SettingsSurroundings, cwd: PathBuf) -> Option<Self> {
        let watcher = tokio::task::spawn_blocking(move || {
            SettingsWatcher::start(Locations::of(&surroundings, &cwd), DEBOUNCE)
        });
        let watcher = watcher
            .await
            .inspect_err(|error| tracing::error!(%error, "settings were not read"))
            .ok()?;
        Some(Self {
            texts: watcher.subscribe(),
            _watcher: watcher,
        })
    }

    /// What the files say together.
    pub(super) fn effective(&self) -> EffectiveSettings {
        merge(self.texts.borrow().iter().map(SettingsText::parse))
    }

    /// Waits until a file says something else. Cancel-safe.
    pub(super) async fn changed(&mut self) {
        if self.texts.changed().await.is_err() {
            // The watch has ended; the settings stay what they were.
            std::future::pending().await
        }
    }
}
