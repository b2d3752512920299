//! The scripts that come with the crate.
//!
//! Place in the flow: `Script::builtin` looks here. A script is a file in `scripts/`, in the same format as
//! everyone else's, and a test parses them all.

/// The name of the script that is played when none is named.
pub const DEFAULT: &str = "default";

const SCRIPTS: &[(&str, &str)] = &[
    (DEFAULT, include_str!("../../scripts/default.json")),
    ("tour", include_str!("../../scripts/tour.json")),
    ("permissions", include_str!("../../scripts/permissions.json")),
    ("plan", include_str!("../../scripts/plan.json")),
    ("stress", include_str!("../../scripts/stress.json")),
];

/// The names of the built-in scripts.
#[must_use]
pub fn names() -> Vec<&'static str> {
    SCRIPTS.iter().map(|(name, _)| *name).collect()
}

pub(crate) fn text(name: &str) -> Option<&'static str> {
    SCRIPTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
