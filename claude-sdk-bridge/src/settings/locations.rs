//! Where the settings files of a session are.

use std::path::{Path, PathBuf};

use permission_core::settings::SettingsSource;

use crate::launch::SettingSource;

/// What the locations depend on, besides the session's directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsSurroundings {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Value of `CLAUDE_CONFIG_DIR`, which stands for `.claude` in the home directory.
    pub claude_config_dir: Option<PathBuf>,
    /// The file of whoever administers this machine; see [`system_managed_file`].
    pub managed: Option<PathBuf>,
}

impl SettingsSurroundings {
    /// The directory of Claude's own configuration.
    pub fn claude_directory(&self) -> Option<PathBuf> {
        let configured = self.claude_config_dir.clone();
        configured
            .filter(|directory| !directory.as_os_str().is_empty())
            .or_else(|| Some(self.home.as_ref()?.join(".claude")))
    }
}

/// The settings files of a session; `None` is never read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// The user's.
    pub user: Option<PathBuf>,
    /// The project's, shared by everyone who works on it.
    pub project: Option<PathBuf>,
    /// The user's, for this project.
    pub local: Option<PathBuf>,
    /// That of whoever administers this machine.
    pub managed: Option<PathBuf>,
}

impl Locations {
    /// Those of a session in `cwd`.
    pub fn of(surroundings: &SettingsSurroundings, cwd: &Path) -> Self {
        let user = surroundings.claude_directory();
        let user = user.map(|directory| directory.join("settings.json"));
        let project = Some(cwd.join(".claude/settings.json"));
        Self {
            // In the home directory the two are one file, and that is the user's.
            project: project.filter(|project| Some(project) != user.as_ref()),
            user,
            local: Some(cwd.join(".claude/settings.local.json")),
            managed: surroundings.managed.clone(),
        }
    }

    /// Leaves out the files of everybody but these; managed settings always count.
    pub fn keep(&mut self, sources: &[SettingSource]) {
        for (source, file) in [
            (SettingSource::User, &mut self.user),
            (SettingSource::Project, &mut self.project),
            (SettingSource::Local, &mut self.local),
        ] {
            if !sources.contains(&source) {
                *file = None;
            }
        }
    }

    /// The files and whom they speak for, weakest first.
    pub fn files(&self) -> impl Iterator<Item = (SettingsSource, &Path)> {
        let files = [
            (SettingsSource::User, &self.user),
            (SettingsSource::Project, &self.project),
            (SettingsSource::Local, &self.local),
            (SettingsSource::Managed, &self.managed),
        ];
        files
            .into_iter()
            .filter_map(|(source, file)| Some((source, file.as_deref()?)))
    }
}

/// Where this system keeps the managed settings, if it is one that Claude knows.
pub fn system_managed_file() -> Option<PathBuf> {
    let file = match std::env::consts::OS {
        "linux" => "/etc/claude-code/managed-settings.json",
        "macos" => "/Library/Application Support/ClaudeCode/managed-settings.json",
        _ => return None,
    };
    Some(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(surroundings: &SettingsSurroundings, cwd: &str) -> Vec<String> {
        Locations::of(surroundings, Path::new(cwd))
            .files()
            .map(|(source, file)| format!("{source:?} {}", file.display()))
            .collect()
    }

    #[test]
    fn the_files_are_where_claude_looks_for_them() {
        let plain = SettingsSurroundings {
            home: Some("/home/u".into()),
            claude_config_dir: None,
            managed: Some("/etc/claude-code/managed-settings.json".into()),
        };
        let configured = |directory: &str| SettingsSurroundings {
            claude_config_dir: Some(directory.into()),
            ..plain.clone()
        };
        let rest = [
            "Local /repo/.claude/settings.local.json",
            "Managed /etc/claude-code/managed-settings.json",
        ];
        for (surroundings, user) in [
            (plain.clone(), "User /home/u/.claude/settings.json"),
            (configured(""), "User /home/u/.claude/settings.json"),
            (configured("/conf"), "User /conf/settings.json"),
        ] {
            let expected = [&[user, "Project /repo/.claude/settings.json"], &rest[..]].concat();
            assert_eq!(shown(&surroundings, "/repo"), expected);
        }
        assert_eq!(
            shown(&SettingsSurroundings::default(), "/repo"),
            [
                "Project /repo/.claude/settings.json",
                "Local /repo/.claude/settings.local.json"
            ]
        );
    }

    #[test]
    fn a_session_can_do_without_any_file_but_the_managed_one() {
        let surroundings = SettingsSurroundings {
            home: Some("/home/u".into()),
            claude_config_dir: None,
            managed: Some("/etc/m.json".into()),
        };
        for (sources, expected) in [
            (
                &[SettingSource::Project][..],
                &["Project /repo/.claude/settings.json", "Managed /etc/m.json"][..],
            ),
            (&[], &["Managed /etc/m.json"]),
        ] {
            let mut locations = Locations::of(&surroundings, Path::new("/repo"));
            locations.keep(sources);
            let files: Vec<String> = locations
                .files()
                .map(|(source, file)| format!("{source:?} {}", file.display()))
                .collect();
            assert_eq!(files, expected);
        }
    }

    #[test]
    fn in_the_home_directory_the_users_file_is_not_the_projects_as_well() {
        let surroundings = SettingsSurroundings {
            home: Some("/home/u".into()),
            ..SettingsSurroundings::default()
        };
        assert_eq!(
            shown(&surroundings, "/home/u"),
            [
                "User /home/u/.claude/settings.json",
                "Local /home/u/.claude/settings.local.json"
            ]
        );
    }
}
