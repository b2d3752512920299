//! Where the workspace is and what belongs to it; shared by the checks.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, Package};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The crates of the workspace, as declared.
pub(crate) fn members() -> Vec<Package> {
    let metadata = MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .unwrap();
    metadata.packages
}

/// Every Rust file of the repository, with its path from the root.
pub(crate) fn rust_files() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    found.into_iter().map(named).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}
