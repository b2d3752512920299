//! Where symbolic links lead: permission-core's question to the file system.
//!
//! Place in the flow: the host lends it to whatever decides about paths. It answers as of now; nothing is remembered.

use std::path::Path;

use permission_core::PathResolver;

/// Symbolic links as the file system has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystemPaths;

/// The standard devices, which are themselves for everybody.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];

/// Directories that every process sees in its own way.
const OWN: [&str; 2] = ["/proc/", "/dev/fd/"];

impl PathResolver for FileSystemPaths {
    /// What does not exist yet is resolved as far as it does: a new file lies where its directory really is. Where a link
    /// to nowhere leads cannot be told.
    fn resolve(&self, path: &str) -> Option<String> {
        if DEVICES.contains(&path) {
            return Some(path.to_owned());
        }
        // What stands there depends on who looks.
        if OWN.iter().any(|own| path.starts_with(own)) {
            return None;
        }
        let path = Path::new(path);
        let (existing, resolved) = path
            .ancestors()
            .find_map(|prefix| Some((prefix, std::fs::canonicalize(prefix).ok()?)))?;
        let rest = path.strip_prefix(existing).ok()?;
        let resolved = match rest.iter().next() {
            None => resolved,
            Some(first) if existing.join(first).symlink_metadata().is_ok() => return None,
            Some(_) => resolved.join(rest),
        };
        resolved.into_os_string().into_string().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_process_sees_in_its_own_way_is_not_told() {
        for path in ["/proc/self/cwd/x", "/proc/1/root", "/dev/fd/3"] {
            assert_eq!(FileSystemPaths.resolve(path), None, "{path}");
        }
        for path in DEVICES {
            assert_eq!(FileSystemPaths.resolve(path).as_deref(), Some(path));
        }
    }

    #[test]
    fn paths_are_resolved_as_far_as_they_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("nowhere"), root.join("dangling")).unwrap();
        let cases = [
            ("real", Some("real")),
            ("link", Some("real")),
            ("link/new.txt", Some("real/new.txt")),
            ("link/new/deep.txt", Some("real/new/deep.txt")),
            ("dangling", None),
            ("dangling/x", None),
        ];
        for (path, expected) in cases {
            let got = FileSystemPaths.resolve(&root.join(path).to_string_lossy());
            assert_eq!(
                got,
                expected.map(|path| root.join(path).to_string_lossy().into_owned()),
                "{path}"
            );
        }
    }
}
