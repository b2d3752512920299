//! How the program ends, and with which exit code. `--help` lists the codes.

/// An end, with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing is running any more.
    InOrder(u8),
    /// Something is: dropping it ends it.
    Forced(u8),
}

pub(crate) const DONE: u8 = 0;
pub(crate) const FAILED: u8 = 1;
pub(crate) const MISUSED: u8 = 2;
/// `policy explain`: the call is asked about.
pub(crate) const ASKED: u8 = 3;
/// `policy explain`: the call is denied.
pub(crate) const DENIED: u8 = 4;
pub(crate) const INTERRUPTED: u8 = 130;
