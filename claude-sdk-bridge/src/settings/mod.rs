//! Claude's settings files: where they are, what stands in them, when that changes.
//!
//! Place in the flow: the host makes [`Locations`], reads them with [`read_all`] or has its [`SettingsWatcher`] watch them, and has
//! `permission_core::settings` say what the texts mean. Must not interpret a text, and knows of its surroundings only
//! what it is given.

mod locations;
mod read;
mod watcher;

pub use locations::{Locations, SettingsSurroundings, system_managed_file};
pub use read::{MAX_SETTINGS_BYTES, SettingsReadError, SettingsText, read_all, read_file};
pub use watcher::{DEBOUNCE, SettingsTexts, SettingsWatcher, WatchedSettings};
