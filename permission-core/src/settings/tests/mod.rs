//! Tables of files, layers and what follows from them.
//!
//! Place in the flow: tests only.

mod files;
mod layers;
mod modes;
mod wording;

use std::path::Path;

use super::*;

/// Where a source's file is, in tests.
fn path(source: SettingsSource) -> &'static Path {
    Path::new(match source {
        SettingsSource::User => "/home/u/.claude/settings.json",
        SettingsSource::Project => "/repo/.claude/settings.json",
        SettingsSource::Local => "/repo/.claude/settings.local.json",
        SettingsSource::Flag => "--settings",
        SettingsSource::Managed => "/etc/claude-code/managed-settings.json",
    })
}

fn parse(source: SettingsSource, text: &str) -> SettingsFile {
    SettingsFile::parse(source, path(source), text)
}

fn user(text: &str) -> SettingsFile {
    parse(SettingsSource::User, text)
}

fn effective(files: &[(SettingsSource, &str)]) -> EffectiveSettings {
    merge(files.iter().map(|&(source, text)| parse(source, text)))
}

/// The texts with their lines.
fn lined(texts: &[Sourced<String>]) -> Vec<(&str, u32)> {
    texts
        .iter()
        .map(|text| (text.value.as_str(), text.origin.line))
        .collect()
}

/// The keys of the problems with their lines; the whole file is ``.
fn complaints(problems: &[SettingsProblem]) -> Vec<(&str, Option<u32>)> {
    problems
        .iter()
        .map(|problem| (problem.key.as_deref().unwrap_or_default(), problem.line))
        .collect()
}
