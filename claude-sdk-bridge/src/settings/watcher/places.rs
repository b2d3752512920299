//! Which directories must be watched to see every change of some files, and which events there matter.
//!
//! Place in the flow: `worker` arms what this file computes, again after every event. Directories are watched, not
//! files: a file that an editor replaces is a new one, and one that does not exist cannot be watched.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

/// Directories to watch, and the names in them that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Existing directories, without links in their paths, so that none is watched twice.
    pub(super) directories: BTreeSet<PathBuf>,
    names: BTreeSet<OsString>,
}

impl Places {
    /// Those of the files as the file system is now.
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a Path>) -> Self {
        let mut places = Self::default();
        for file in files {
            places.add(file);
        }
        places
    }

    /// Whether what happened can have changed a file or what its path leads to.
    pub(super) fn concern(&self, event: &Event) -> bool {
        let read_only = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
            // Also our own reading: answering it would go on for ever.
            EventKind::Access(_) => true,
            EventKind::Any
            | EventKind::Create(_)
            | EventKind::Modify(_)
            | EventKind::Remove(_)
            | EventKind::Other => false,
        };
        let known = |path: &PathBuf| {
            self.directories.contains(path) || path.file_name().is_some_and(|name| self.names.contains(name))
        };
        !read_only && (event.need_rescan() || event.paths.iter().any(known))
    }

    /// The directory of the file; and, while that is missing or a link, the one above it, where it would appear or be
    /// replaced.
    fn add(&mut self, file: &Path) {
        let Ok(file) = std::path::absolute(file) else {
            return;
        };
        let mut entry = file.as_path();
        while let (Some(parent), Some(_)) = (entry.parent(), entry.file_name()) {
            self.add_entry(entry);
            if parent.symlink_metadata().is_ok_and(|parent| parent.is_dir()) {
                break;
            }
            entry = parent;
        }
        // Through a link the file itself may be changed elsewhere.
        if let Ok(target) = file.canonicalize() {
            self.add_entry(&target);
        }
    }

    fn add_entry(&mut self, entry: &Path) {
        self.names.extend(entry.file_name().map(OsString::from));
        let parent = entry.parent().and_then(|parent| parent.canonicalize().ok());
        self.directories.extend(parent.filter(|parent| parent.is_dir()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use notify::event::{CreateKind, Flag, ModifyKind};

    use super::*;

    #[test]
    fn the_nearest_directory_is_watched_and_what_could_replace_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let watched = |file: &str| {
            let places = Places::of(std::iter::once(root.join(file).as_path()));
            let directories = places.directories.iter();
            directories
                .map(|directory| directory.strip_prefix(&root).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        fs::create_dir_all(root.join("repo/.claude")).unwrap();
        fs::create_dir_all(root.join("dots/claude")).unwrap();
        fs::write(root.join("dots/settings.json"), "{}").unwrap();
        fs::write(root.join("plain"), "").unwrap();
        symlink("dots/claude", root.join("link")).unwrap();
        symlink("../dots/settings.json", root.join("repo/settings.json")).unwrap();
        assert_eq!(watched("repo/.claude/settings.json"), ["repo/.claude"]);
        assert_eq!(watched("new/.claude/settings.json"), [""]);
        assert_eq!(watched("repo/.claude/a/b/settings.json"), ["repo/.claude"]);
        assert_eq!(
            watched("link/settings.json"),
            ["", "dots/claude"],
            "the link may be replaced"
        );
        assert_eq!(
            watched("repo/settings.json"),
            ["dots", "repo"],
            "the target may be written"
        );
        assert_eq!(
            watched("plain/settings.json"),
            [""],
            "a file may become a directory"
        );
    }

    #[test]
    fn only_what_can_change_a_file_matters() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let places = Places::of(std::iter::once(root.join(".claude/settings.json").as_path()));
        let create = EventKind::Create(CreateKind::Any);
        let rows = [
            (create, root.join(".claude"), true),
            (create, root.join("settings.json"), true),
            (create, root.join("src"), false),
            (EventKind::Modify(ModifyKind::Any), root.clone(), true),
            (
                EventKind::Access(AccessKind::Close(AccessMode::Write)),
                root.join(".claude"),
                true,
            ),
            (
                EventKind::Access(AccessKind::Open(AccessMode::Any)),
                root.join(".claude"),
                false,
            ),
            (
                EventKind::Access(AccessKind::Close(AccessMode::Read)),
                root.join(".claude"),
                false,
            ),
        ];
        for (kind, path, expected) in rows {
            assert_eq!(
                places.concern(&Event::new(kind).add_path(path.clone())),
                expected,
                "{kind:?} {path:?}"
            );
        }
        let lost_events = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(places.concern(&lost_events));
    }
}
