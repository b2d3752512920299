//! Checks of the source tree: what the conventions and the architecture promise, read from the files themselves.
#![expect(clippy::unwrap_used, reason = "a check that cannot read the tree must fail")]

mod layers;
mod sources;
mod workspace;
