//! Where transcripts lie: `projects/<folder of the project>/<session>.jsonl` below Claude's own directory.
//!
//! A transcript moves between folders while its session runs (worktrees), so it is looked for each time.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::holder::holder;
use crate::messages::ClaudeSessionId;

/// Longer folder names are cut and end in a hash.
const FOLDER_NAME_CHARS: usize = 200;

/// The transcripts below one of Claude's directories.
#[derive(Clone, Debug)]
pub struct TranscriptStore {
    projects: PathBuf,
    /// What Claude's processes write about themselves.
    registry: PathBuf,
}

/// A transcript, as the file system shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The session.
    pub id: ClaudeSessionId,
    /// Where it lies.
    pub path: PathBuf,
    /// When it was last written to.
    pub modified: SystemTime,
}

impl TranscriptStore {
    /// The transcripts of a Claude whose own directory is `claude` (`~/.claude`, or what `CLAUDE_CONFIG_DIR` says).
    pub fn new(claude: &Path) -> Self {
        Self {
            projects: claude.join("projects"),
            registry: claude.join("sessions"),
        }
    }

    /// The transcript of a session, in whatever project it lies. An id that is none is not looked for.
    pub fn find(&self, id: &ClaudeSessionId) -> Option<TranscriptFile> {
        self.copies(id).into_iter().max_by_key(|file| file.modified)
    }

    /// The transcripts of a session: one, unless somebody has copied it to another project.
    pub fn copies(&self, id: &ClaudeSessionId) -> Vec<TranscriptFile> {
        if !is_session_id(id.as_str()) {
            return Vec::new();
        }
        let name = format!("{id}.jsonl");
        let folders = entries(&self.projects);
        let copies = folders.filter_map(|folder| transcript(id.clone(), folder.path().join(&name)));
        copies.collect()
    }

    /// The number of the process that has a session open, if one has.
    pub fn holder(&self, id: &ClaudeSessionId) -> Option<i32> {
        holder(&self.registry, id)
    }

    /// Every transcript, or those of sessions that may have run in one of `folders`; newest first.
    pub fn list(&self, folders: Option<&[PathBuf]>) -> Vec<TranscriptFile> {
        let mut files: Vec<TranscriptFile> = match folders {
            Some(folders) => {
                let mut names: Vec<String> = folders.iter().map(|folder| folder_name(folder)).collect();
                names.sort();
                names.dedup();
                let folders = names.iter().map(|name| self.projects.join(name));
                folders.flat_map(|folder| transcripts(&folder)).collect()
            }
            None => entries(&self.projects)
                .flat_map(|folder| transcripts(&folder.path()))
                .collect(),
        };
        files.sort_by(|a, b| (b.modified, &b.id).cmp(&(a.modified, &a.id)));
        let mut known = HashSet::new();
        files.retain(|file| known.insert(file.id.clone()));
        files
    }
}

impl TranscriptFile {
    /// The folder beside it, with what belongs to the session: its subagents' transcripts, large outputs.
    pub fn folder(&self) -> PathBuf {
        self.path.with_extension("")
    }
}

/// Whether Claude takes this for the id of a session: a UUID in lower case. Other words are titles to it.
pub fn is_session_id(id: &str) -> bool {
    let groups: Vec<&str> = id.split('-').collect();
    let hex = |group: &&str| {
        group
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(hex)
}

/// The folder, and the folders at the same place in the other worktrees of its repository.
pub fn related_folders(folder: &Path) -> Vec<PathBuf> {
    let folder = resolved(folder);
    let mut related = vec![folder.clone()];
    for root in folder.ancestors() {
        let Some(repository) = repository(&root.join(".git")) else {
            continue;
        };
        let inside = folder.strip_prefix(root).unwrap_or(Path::new(""));
        related.extend(worktrees(&repository).map(|worktree| worktree.join(inside)));
        break;
    }
    related.sort();
    related.dedup();
    related
}

/// A path as the file system has it, without links; as it is where that cannot be told.
pub(super) fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The name of a project's folder: every character of its path that is no ASCII letter or digit is a dash, or two where
/// UTF-16 needs two units.
fn folder_name(project: &Path) -> String {
    let project = resolved(project);
    let path = project.to_string_lossy();
    let mut name = String::with_capacity(path.len());
    for char in path.chars() {
        match char.is_ascii_alphanumeric() {
            true => name.push(char),
            false => name.extend(std::iter::repeat_n('-', char.len_utf16())),
        }
    }
    if name.len() > FOLDER_NAME_CHARS {
        name.truncate(FOLDER_NAME_CHARS);
        let hash = path.encode_utf16().fold(0_i32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(i32::from(unit))
        });
        name.push('-');
        name.push_str(&base36(hash.unsigned_abs()));
    }
    name
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn transcripts(folder: &Path) -> impl Iterator<Item = TranscriptFile> + use<> {
    entries(folder).filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_suffix(".jsonl")?;
        is_session_id(id)
            .then(|| transcript(ClaudeSessionId::from(id), entry.path()))
            .flatten()
    })
}

fn transcript(id: ClaudeSessionId, path: PathBuf) -> Option<TranscriptFile> {
    let metadata = fs::metadata(&path).ok()?;
    let modified = metadata.modified().ok()?;
    (metadata.is_file() && metadata.len() > 0).then_some(TranscriptFile { id, path, modified })
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok)
}

/// The directory of a repository, from what lies as `.git` in a worktree's root: itself, or a file that names a place
/// inside it.
fn repository(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = fs::read_to_string(git).ok()?;
    let place = git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let worktrees = place.parent()?;
    (worktrees.file_name()? == "worktrees").then(|| worktrees.parent().map(resolved))?
}

/// The roots of all worktrees of a repository, the main one first.
fn worktrees(repository: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let main = (repository.file_name() == Some(".git".as_ref()))
        .then(|| repository.parent().map(Path::to_owned))
        .flatten();
    let linked = entries(&repository.join("worktrees")).filter_map(|entry| {
        let git = fs::read_to_string(entry.path().join("gitdir")).ok()?;
        entry.path().join(git.trim()).parent().map(resolved)
    });
    main.into_iter().chain(linked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_the_cli_names_them() {
        let long = format!("/{}", "ab/".repeat(80));
        let cases = [
            ("/a b_c.d", "-a-b-c-d".to_owned()),
            ("/ünï/日本", "--n----".to_owned()),
            ("/x/😀", "-x---".to_owned()),
            ("/Keeps/CASE9", "-Keeps-CASE9".to_owned()),
        ];
        for (path, name) in cases {
            assert_eq!(folder_name(Path::new(path)), name, "{path}");
        }
        let name = folder_name(Path::new(&long));
        assert!(name.starts_with(&"-ab".repeat(66)), "{name}");
        assert_eq!(name.as_bytes()[200], b'-', "{name}");
        assert_eq!(base36(0), "0");
        assert_eq!(base36(2_147_483_648), "zik0zk");
    }

    #[test]
    fn only_lower_case_uuids_are_session_ids() {
        assert!(is_session_id("0a0c4f6e-1111-4222-8333-abcdefabcdef"));
        for wrong in [
            "",
            "0A0C4F6E-1111-4222-8333-ABCDEFABCDEF",
            "0a0c4f6e111142228333abcdefabcdef",
            "../../../../etc/passwd",
            "0a0c4f6e-1111-4222-8333-abcdefabcde/",
            "My own title",
        ] {
            assert!(!is_session_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_session_is_found_in_any_project_and_lists_are_newest_first() {
        let claude = tempfile::tempdir().unwrap();
        let ids = [
            "0a0c4f6e-1111-4222-8333-abcdefabcdef",
            "0a0c4f6e-1111-4222-8333-abcdefabcde0",
        ];
        for (id, folder, age) in [(ids[0], "-a", 100), (ids[1], "-b-c", 50)] {
            let folder = claude.path().join("projects").join(folder);
            fs::create_dir_all(&folder).unwrap();
            let file = fs::File::create(folder.join(format!("{id}.jsonl"))).unwrap();
            std::io::Write::write_all(&mut &file, b"{}\n").unwrap();
            let modified = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 - age);
            file.set_modified(modified).unwrap();
            fs::write(folder.join("notes.jsonl"), "{}").unwrap();
            fs::write(folder.join(format!("{}.jsonl", ids[0].replace('f', "e"))), "").unwrap();
        }
        let store = TranscriptStore::new(claude.path());
        let listed = |folders: Option<&[PathBuf]>| -> Vec<String> {
            let files = store.list(folders);
            files.into_iter().map(|file| file.id.into_string()).collect()
        };
        assert_eq!(listed(None), [ids[1], ids[0]]);
        assert_eq!(listed(Some(&["/b/c".into(), "/b.c".into()])), [ids[1]]);
        assert!(listed(Some(&["/elsewhere".into()])).is_empty());
        assert!(
            store
                .find(&ids[0].into())
                .unwrap()
                .path
                .ends_with(format!("-a/{}.jsonl", ids[0]))
        );
        assert_eq!(store.find(&"../projects/-a/x".into()), None);
        assert_eq!(TranscriptStore::new(Path::new("/nowhere")).list(None), []);
    }

    #[test]
    fn the_same_folder_in_every_worktree_is_related() {
        let root = tempfile::tempdir().unwrap();
        let root = resolved(root.path());
        let main = root.join("main");
        let linked = root.join("linked");
        let entry = main.join(".git/worktrees/linked");
        fs::create_dir_all(&entry).unwrap();
        fs::create_dir_all(linked.join("sub")).unwrap();
        fs::write(
            entry.join("gitdir"),
            format!("{}\n", linked.join(".git").display()),
        )
        .unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", entry.display())).unwrap();
        assert_eq!(related_folders(&linked), [linked.clone(), main.clone()]);
        assert_eq!(related_folders(&main), [linked.clone(), main.clone()]);
        assert_eq!(
            related_folders(&linked.join("sub")),
            [linked.join("sub"), main.join("sub")]
        );
        assert_eq!(related_folders(&root), std::slice::from_ref(&root));
    }
}
