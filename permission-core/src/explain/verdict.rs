//! What the guard and Claude come to together.
//!
//! Place in the flow: after both have been asked. A denial by either stands; a question of the guard's is asked in every
//! mode; an allow of the guard's answers where no rule of Claude's says anything.

use super::claude::Own;
use super::operator::Guarded;
use crate::decide::{DecidedBy, Outcome};

/// What would become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Runs,
    /// The client is asked.
    Asked,
    /// Claude's classifier decides.
    Classified,
    /// It does not run.
    Denied,
}

impl Verdict {
    /// Its name for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Runs => "allow",
            Self::Asked => "ask",
            Self::Classified => "classify",
            Self::Denied => "deny",
        }
    }
}

impl DecidedBy {
    /// Its name for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Guard => "planGuard",
            Self::Claude => "claude",
        }
    }
}

pub(super) fn of(guarded: &Guarded, own: Option<&Own>) -> (Verdict, DecidedBy) {
    let guard = guarded.decision.by;
    let claude = DecidedBy::Claude;
    let Some(own) = own else {
        return (Verdict::Denied, guard);
    };
    match (guarded.decision.outcome, own.decision.outcome) {
        (Outcome::Deny, _) => (Verdict::Denied, guard),
        (_, Outcome::Deny) => (Verdict::Denied, claude),
        _ if guarded.refusal.is_some() => (Verdict::Denied, guard),
        (Outcome::Ask, _) => (Verdict::Asked, guard),
        (Outcome::Allow, Outcome::Ask) if own.is_unsaid() => (Verdict::Runs, guard),
        (_, Outcome::Ask) if own.is_classified() => (Verdict::Classified, claude),
        (_, Outcome::Ask) if own.is_silent() => (Verdict::Denied, claude),
        (_, Outcome::Ask) if guarded.lets_nobody_be_asked => (Verdict::Denied, guard),
        (_, Outcome::Ask) => (Verdict::Asked, claude),
        (_, Outcome::Allow | Outcome::Pass) => (Verdict::Runs, claude),
    }
}
