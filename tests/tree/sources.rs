//! What the conventions ask of every source file.

use crate::workspace::{root, rust_files};

/// How long a file may be, its tests not counted.
const MAX_LINES: usize = 400;

/// How long the index of a crate may be.
const MAX_INDEX_LINES: usize = 80;

/// How long the map of the code may be.
const MAX_ARCHITECTURE_LINES: usize = 200;

#[test]
fn every_file_says_what_it_is() {
    let silent = rust_files().into_iter().filter(|(_, text)| {
        let header = text.lines().take_while(|line| line.starts_with("//!"));
        header.map(|line| line.len() - 3).sum::<usize>() < 20
    });
    assert_eq!(
        names(silent),
        Vec::<String>::new(),
        "files without a `//!` header"
    );
}

#[test]
fn no_file_is_too_long() {
    let long = rust_files()
        .into_iter()
        .filter(|(path, text)| !is_test(path) && own_lines(text) > MAX_LINES);
    assert_eq!(
        names(long),
        Vec::<String>::new(),
        "files of more than {MAX_LINES} lines"
    );
}

#[test]
fn the_index_of_a_crate_is_short() {
    let long = rust_files()
        .into_iter()
        .filter(|(path, text)| path.ends_with("src/lib.rs") && own_lines(text) > MAX_INDEX_LINES);
    assert_eq!(
        names(long),
        Vec::<String>::new(),
        "indexes of more than {MAX_INDEX_LINES} lines"
    );
}

#[test]
fn overrides_of_lints_give_a_reason() {
    let allows = ["#[allow(", "#![allow("];
    let silent = rust_files().into_iter().filter(|(path, text)| {
        let says_allow = text
            .lines()
            .any(|line| allows.iter().any(|allow| line.trim_start().starts_with(allow)));
        says_allow && path != "tests/tree/sources.rs"
    });
    assert_eq!(
        names(silent),
        Vec::<String>::new(),
        "use `#[expect(…, reason = \"…\")]`"
    );
}

#[test]
fn a_module_with_a_folder_stands_in_it() {
    let apart = rust_files().into_iter().filter(|(path, _)| {
        let folder = path.strip_suffix(".rs").map(|folder| root().join(folder));
        folder.is_some_and(|folder| folder.is_dir())
    });
    assert_eq!(names(apart), Vec::<String>::new(), "move them to `mod.rs`");
}

#[test]
fn no_test_is_ignored() {
    let ignoring = rust_files().into_iter().filter(|(path, text)| {
        path != "tests/tree/sources.rs" && text.lines().any(|line| line.trim_start().starts_with("#[ignore"))
    });
    assert_eq!(names(ignoring), Vec::<String>::new());
}

#[test]
fn the_map_of_the_code_fits_a_reader() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() <= MAX_ARCHITECTURE_LINES);
}

#[test]
fn the_map_of_the_code_names_only_files_that_exist() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let quoted = map.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|text| text.contains('/') && (text.ends_with(".rs") || text.ends_with('/')));
    // A path may be given from the root or from the folder that a section is about.
    let files: Vec<String> = rust_files()
        .into_iter()
        .map(|(path, _)| format!("/{path}"))
        .collect();
    let exists = |path: &str| {
        let inside = format!("/{path}");
        files
            .iter()
            .any(|file| file.ends_with(&inside) || (path.ends_with('/') && file.contains(&inside)))
            || root().join(path).exists()
    };
    let missing: Vec<&str> = paths.filter(|path| !exists(path)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The lines of a file before its own tests.
fn own_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair.first() == Some(&"#[cfg(test)]") && pair.last().is_some_and(|line| line.ends_with(" {"))
    });
    tests.unwrap_or(lines.len())
}

/// Whether a file holds nothing but tests.
fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs")
        || path.contains("/tests/")
        || ["tests/e2e/", "tests/tree/"].iter().any(|f| path.starts_with(f))
}

fn names(files: impl Iterator<Item = (String, String)>) -> Vec<String> {
    files.map(|(path, _)| path).collect()
}
