//! What the guard and Claude come to together.
//!
//! Place in the flow: after both have been asked. A denial by either stands; a question of the guard's is asked in every
//! mode; an allow of the guard's answers where no rule of Claude's says anything.

use super::{
    claude::{End, Own, Unruled},
    guard::Guarded,
    session::ExplainedSession,
};
use crate::decide::Opinion;

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

/// Whose rule that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The operator's policy.
    Policy,
    /// The guard that every session has in `plan`.
    PlanGuard,
    /// Claude's own settings or mode.
    Claude,
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
            Self::PlanGuard => "planGuard",
            Self::Claude => "claude",
        }
    }
}

pub(super) fn of(
    session: &ExplainedSession<'_>,
    guarded: &Guarded,
    own: Option<&Own>,
) -> (Verdict, DecidedBy) {
    let guard = if session.policy.is_some() {
        DecidedBy::Policy
    } else {
        DecidedBy::PlanGuard
    };
    let claude = DecidedBy::Claude;
    let asked = if own.is_some_and(|own| own.silent) {
        (Verdict::Denied, claude)
    } else if guarded.lets_nobody_be_asked {
        (Verdict::Denied, guard)
    } else {
        (Verdict::Asked, claude)
    };
    match (&guarded.answer.opinion, own.map(|own| &own.end)) {
        (Opinion::Deny { .. }, _) | (_, None) => (Verdict::Denied, guard),
        (_, Some(End::Denied(_))) => (Verdict::Denied, claude),
        _ if guarded.refusal.is_some() => (Verdict::Denied, guard),
        (Opinion::Ask { .. }, _) => (Verdict::Asked, guard),
        (Opinion::Allow { .. }, Some(End::Unsaid(..))) => (Verdict::Runs, guard),
        (_, Some(End::Asked(_) | End::Question | End::Unsaid(_, Unruled::Asked))) => asked,
        (_, Some(End::Unsaid(_, Unruled::Classified))) => (Verdict::Classified, claude),
        (_, Some(End::Runs(..) | End::Unasked(_))) => (Verdict::Runs, claude),
    }
}
