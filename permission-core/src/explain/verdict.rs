//! What the guard and Claude come to together.
//!
//! Place in the flow: after both have been asked. A denial by either stands; a question of the guard's is asked in every
//! mode; an allow of the guard's answers where no rule of Claude's says anything.

use super::{
    claude::{End, Own, Unruled},
    guard::Guarded,
};
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
    let asked = if own.is_some_and(|own| own.silent) {
        (Verdict::Denied, claude)
    } else if guarded.lets_nobody_be_asked {
        (Verdict::Denied, guard)
    } else {
        (Verdict::Asked, claude)
    };
    match (guarded.decision.outcome, own.map(|own| &own.end)) {
        (Outcome::Deny, _) | (_, None) => (Verdict::Denied, guard),
        (_, Some(End::Denied(_))) => (Verdict::Denied, claude),
        _ if guarded.refusal.is_some() => (Verdict::Denied, guard),
        (Outcome::Ask, _) => (Verdict::Asked, guard),
        (Outcome::Allow, Some(End::Unsaid(..))) => (Verdict::Runs, guard),
        (
            _,
            Some(
                End::Asked(_)
                | End::Question
                | End::Protected(Unruled::Asked)
                | End::Unsaid(_, Unruled::Asked),
            ),
        ) => asked,
        (_, Some(End::Protected(Unruled::Classified) | End::Unsaid(_, Unruled::Classified))) => {
            (Verdict::Classified, claude)
        }
        (_, Some(End::Runs(..) | End::Unasked(_))) => (Verdict::Runs, claude),
    }
}
