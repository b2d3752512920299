//! The layers of the workspace: the edges between crates are data, and so is what a crate must not know.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, Package};

use crate::workspace::{members, root};

/// Which crates of the workspace a crate may use.
const EDGES: &[(&str, &[&str])] = &[
    ("acp-proto", &[]),
    ("permission-core", &[]),
    ("claude-sdk-bridge", &["permission-core"]),
    ("rehearsal", &["claude-sdk-bridge", "permission-core"]),
    (
        "session-manager",
        &["acp-proto", "claude-sdk-bridge", "permission-core"],
    ),
    ("chat", &["acp-proto"]),
    (
        "agent-bin",
        &[
            "acp-proto",
            "chat",
            "claude-sdk-bridge",
            "permission-core",
            "rehearsal",
            "session-manager",
        ],
    ),
    ("xtask", &[]),
    ("e2e-tests", &["acp-proto"]),
];

/// Crates from elsewhere that a crate must not use, tests included: what it must not know.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("acp-proto", &["anyhow", "clap", "notify"]),
    (
        "permission-core",
        &[
            "agent-client-protocol-schema",
            "anyhow",
            "clap",
            "jsonrpsee",
            "notify",
            "rustix",
            "tokio",
            "tokio-util",
        ],
    ),
    (
        "claude-sdk-bridge",
        &["agent-client-protocol-schema", "anyhow", "clap", "jsonrpsee"],
    ),
    (
        "rehearsal",
        &["agent-client-protocol-schema", "anyhow", "clap", "jsonrpsee"],
    ),
    ("session-manager", &["anyhow", "clap", "notify", "rustix"]),
    ("chat", &["anyhow", "clap"]),
];

#[test]
fn every_edge_between_crates_is_in_the_table() {
    let mut wrong = Vec::new();
    for package in members() {
        let allowed = lookup(EDGES, &package.name);
        let allowed = allowed.unwrap_or_else(|| panic!("`{}` is not in the table of layers", package.name));
        let inner = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some());
        let used = inner.filter(|dependency| dependency.kind != DependencyKind::Development);
        let outside = used.filter(|dependency| !allowed.contains(&dependency.name.as_str()));
        wrong.extend(outside.map(|dependency| format!("{} -> {}", package.name, dependency.name)));
    }
    assert_eq!(wrong, Vec::<String>::new(), "edges that are not in the table");
}

#[test]
fn tests_of_a_crate_know_no_more_than_the_crate() {
    let mut wrong = Vec::new();
    for package in members() {
        let allowed = lookup(EDGES, &package.name).unwrap_or_default();
        let inner = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some());
        let outside = inner.filter(|dependency| !allowed.contains(&dependency.name.as_str()));
        // The scripted Claude stands in for the real one in tests above the backend's seam.
        let outside = outside.filter(|dependency| {
            dependency.kind == DependencyKind::Development && dependency.name != "rehearsal"
        });
        wrong.extend(outside.map(|dependency| format!("{} -> {}", package.name, dependency.name)));
    }
    assert_eq!(
        wrong,
        Vec::<String>::new(),
        "edges of tests that are not in the table"
    );
}

#[test]
fn no_crate_uses_what_it_must_not_know() {
    let mut wrong = Vec::new();
    for package in members() {
        let forbidden = lookup(FORBIDDEN, &package.name).unwrap_or_default();
        let used = package
            .dependencies
            .iter()
            .filter(|used| forbidden.contains(&used.name.as_str()));
        wrong.extend(used.map(|used| format!("{} -> {}", package.name, used.name)));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_dependency_has_one_version_and_it_stands_in_the_workspace() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in members() {
        for dependency in &package.dependencies {
            let known = versions.entry(dependency.name.clone()).or_default();
            let version = dependency.req.to_string();
            if !known.contains(&version) {
                known.push(version);
            }
        }
    }
    let several: Vec<_> = versions
        .iter()
        .filter(|(_, versions)| versions.len() > 1)
        .collect();
    assert_eq!(several, Vec::<(&String, &Vec<String>)>::new());
    let wrong: Vec<String> = members().iter().flat_map(own_versions).collect();
    assert_eq!(
        wrong,
        Vec::<String>::new(),
        "dependencies that do not come from the workspace's table"
    );
}

#[test]
fn every_dependency_of_the_workspace_is_used() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let declared = dependency_lines(&text, |section| section == "workspace.dependencies");
    let used: Vec<String> = members()
        .iter()
        .flat_map(|package| {
            package
                .dependencies
                .iter()
                .map(|dependency| dependency.name.clone())
        })
        .collect();
    let unused: Vec<&str> = declared
        .iter()
        .filter_map(|line| line.split(['=', '.']).next())
        .map(str::trim)
        .filter(|name| !used.iter().any(|used| used == name))
        .collect();
    assert_eq!(unused, Vec::<&str>::new());
}

/// The lines of a manifest that name a version of their own.
fn own_versions(package: &Package) -> Vec<String> {
    let text = std::fs::read_to_string(&package.manifest_path).unwrap();
    let lines = dependency_lines(&text, |section| section.ends_with("dependencies"));
    let own = lines
        .into_iter()
        .filter(|line| !line.contains("workspace = true"));
    own.map(|line| format!("{}: {line}", package.name)).collect()
}

/// The lines of the sections whose name is wanted.
fn dependency_lines(manifest: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = wanted(section);
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            lines.push(line.to_owned());
        }
    }
    lines
}

fn lookup<'a>(table: &[(&str, &'a [&'a str])], name: &str) -> Option<&'a [&'a str]> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}
