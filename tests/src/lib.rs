//! Support for the end-to-end suite: the scripted model server, the harness around the agent under test, and a
//! line-level ACP client. The suite itself lives in `e2e/`; checks of the source tree live in `tree/`.
//!
//! Reading order: [`setup`], [`model`], [`harness`].
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test support: a failed expectation must end the test with a message"
)]

pub mod harness;
pub mod model;
pub mod setup;
