//! Denials in a row, of the session and of each subagent.
//!
//! Place in the flow: the machine counts every decision but a failed validation; at the threshold the next call is a
//! question whatever is allowed. Must not loosen anything: deny and ask rules do not look here.

use std::collections::BTreeMap;

/// So many denials in a row make the next call a question, where nobody says otherwise.
pub const DENIAL_THRESHOLD: u32 = 3;

/// Counts denials in a row. A subagent whose call cannot change the session's state has a count of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DenialTracking {
    session: u32,
    subagents: BTreeMap<String, u32>,
}

impl DenialTracking {
    /// Takes notice of a decision about a call of `agent`, `None` for the session itself.
    pub fn note(&mut self, agent: Option<&str>, allowed: bool) {
        let count = match agent {
            None => &mut self.session,
            Some(agent) => self.subagents.entry(agent.to_owned()).or_default(),
        };
        *count = if allowed { 0 } else { count.saturating_add(1) };
    }

    /// How many denials in a row there were.
    pub fn consecutive(&self, agent: Option<&str>) -> u32 {
        match agent {
            None => self.session,
            Some(agent) => self.subagents.get(agent).copied().unwrap_or(0),
        }
    }

    /// Whether the next call is a question. A threshold of 0 is never reached.
    pub fn reached(&self, agent: Option<&str>, threshold: u32) -> bool {
        threshold > 0 && self.consecutive(agent) >= threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_in_a_row_are_counted_for_each_agent() {
        let mut denials = DenialTracking::default();
        for _ in 0..3 {
            denials.note(None, false);
        }
        denials.note(Some("a"), false);
        assert!(denials.reached(None, 3));
        assert!(!denials.reached(None, 0), "switched off");
        assert!(!denials.reached(Some("a"), 3));
        assert!(!denials.reached(Some("b"), 1));
        denials.note(Some("a"), true);
        assert_eq!(
            (denials.consecutive(None), denials.consecutive(Some("a"))),
            (3, 0)
        );
        denials.note(None, true);
        assert!(!denials.reached(None, 1));
    }
}
