//! The snapshot of a suggestion bundle: the whole bundle, valid, or nothing.
//!
//! Place in the flow: taken once, before the request leaves; the label is made from the typed half, the effect
//! echoes the original half, unknown extra fields included. Must not outlive or change after the request.

use serde_json::Value;

use super::PermissionUpdate;

const MAX_UPDATES: usize = 100;

/// A valid, non-empty bundle of updates as it was when the request was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    typed: Vec<PermissionUpdate>,
    original: Vec<Value>,
}

impl Snapshot {
    /// Takes the bundle if it is a list of 1 to 100 valid updates. Never fails: anything else is no bundle.
    pub fn take(suggestions: Option<&Value>) -> Option<Self> {
        let original = suggestions?.as_array()?;
        if original.is_empty() || original.len() > MAX_UPDATES {
            return None;
        }
        let typed = original
            .iter()
            .map(PermissionUpdate::try_from)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self {
            typed,
            original: original.clone(),
        })
    }

    /// A bundle that we made ourselves.
    pub(crate) fn generated(update: PermissionUpdate) -> Option<Self> {
        let original = serde_json::to_value(&update).ok()?;
        Some(Self {
            typed: vec![update],
            original: vec![original],
        })
    }

    /// Those of its updates for which `holds` holds.
    pub(crate) fn only(&self, holds: impl Fn(usize, &PermissionUpdate) -> bool) -> Self {
        let kept: Vec<bool> = self
            .typed
            .iter()
            .enumerate()
            .map(|(at, update)| holds(at, update))
            .collect();
        let kept = |at: &usize| kept.get(*at) == Some(&true);
        fn those<T: Clone>(all: &[T], kept: impl Fn(&usize) -> bool) -> Vec<T> {
            let kept = all.iter().enumerate().filter(|(at, _)| kept(at));
            kept.map(|(_, one)| one.clone()).collect()
        }
        Self {
            typed: those(&self.typed, kept),
            original: those(&self.original, kept),
        }
    }

    /// The updates, typed.
    pub fn updates(&self) -> &[PermissionUpdate] {
        &self.typed
    }

    /// The updates exactly as they came.
    pub fn original(&self) -> &[Value] {
        &self.original
    }
}
