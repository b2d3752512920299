//! File paths as a client wants them: short in titles, absolute in locations and diffs. Purely lexical, since
//! the files may be gone or on another machine; symbolic links are never followed here.

use std::path::{Component, Path, PathBuf};

/// `path` relative to `cwd` when it lies inside, otherwise as it was given.
pub(super) fn display(path: &str, cwd: &Path) -> String {
    let full = normalized(&cwd.join(path));
    match full.strip_prefix(normalized(cwd)) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string_lossy().into_owned(),
        Err(_) => path.to_owned(),
    }
}

/// An absolute form of `path`: the protocol asks for absolute paths. An absolute one is left untouched, so that
/// it stays equal to what the tool was given.
pub(super) fn absolute(path: &str, cwd: &Path) -> PathBuf {
    let given = Path::new(path);
    if given.is_absolute() {
        given.to_path_buf()
    } else {
        normalized(&cwd.join(given))
    }
}

fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, shown: &str, full: &str) {
        let cwd = Path::new("/w/project");
        assert_eq!(display(path, cwd), shown, "{path} in a title");
        assert_eq!(absolute(path, cwd), PathBuf::from(full), "{path} in a location");
    }

    #[test]
    fn paths_inside_are_shown_relative_and_located_absolute() {
        check("/w/project/src/a.rs", "src/a.rs", "/w/project/src/a.rs");
        check("src/a.rs", "src/a.rs", "/w/project/src/a.rs");
        check("./src/../b.rs", "b.rs", "/w/project/b.rs");
        check("/w/project", ".", "/w/project");
        check("/w/project/", ".", "/w/project/");
    }

    #[test]
    fn paths_outside_are_shown_as_given() {
        check("/w/project2/a.rs", "/w/project2/a.rs", "/w/project2/a.rs");
        check(
            "/w/project/../secret",
            "/w/project/../secret",
            "/w/project/../secret",
        );
        check("../secret", "../secret", "/w/secret");
        check("/etc/hosts", "/etc/hosts", "/etc/hosts");
    }
}
