//! The permission modes that a session offers, and the one it is in.
//!
//! Place in the flow: `session/new` reports the catalogue, `session/set_mode` is checked against it, and Claude's own mode
//! changes end here too, so that client and Claude always agree. What a mode allows is Claude's business.

use acp_proto::schema;
use permission_core::PermissionMode;

/// The modes offered to a client: Claude's ids, in the order of Claude Code's own menu.
///
/// `dontAsk` is Claude's for settings alone; `auto` and `bypassPermissions` depend on the model, the user and the policy,
/// and are not offered before those are known.
const OFFERED: [(PermissionMode, &str, &str); 3] = [
    (
        PermissionMode::Default,
        "Manual",
        "Always ask before making changes",
    ),
    (
        PermissionMode::AcceptEdits,
        "Accept edits",
        "Accept file edits without asking",
    ),
    (PermissionMode::Plan, "Plan", "Plan first, change nothing"),
];

/// The offered modes alone.
pub(crate) const OFFERED_MODES: &[PermissionMode] = &[
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
];

/// Why a mode cannot be set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ModeError {
    #[error("`{0}` is not a permission mode; choose one of {choices}", choices = choices())]
    Unknown(String),
    #[error("the mode `{0}` is not available in this session; choose one of {choices}", choices = choices())]
    NotOffered(String),
}

/// The mode that a client names.
///
/// # Errors
/// When no such mode exists, or this session does not offer it.
pub(crate) fn requested(id: &str) -> Result<PermissionMode, ModeError> {
    let mode = PermissionMode::from_wire_id(id).ok_or_else(|| ModeError::Unknown(id.to_owned()))?;
    if OFFERED_MODES.contains(&mode) {
        Ok(mode)
    } else {
        Err(ModeError::NotOffered(id.to_owned()))
    }
}

/// The `modes` of a session response.
pub(crate) fn state(current: PermissionMode) -> schema::SessionModeState {
    let modes = OFFERED.iter().map(|(mode, name, description)| {
        schema::SessionMode::new(mode.wire_id(), *name).description((*description).to_owned())
    });
    schema::SessionModeState::new(current.wire_id(), modes.collect())
}

/// The update that tells a client about a mode change.
pub(crate) fn update(current: PermissionMode) -> schema::SessionUpdate {
    schema::SessionUpdate::CurrentModeUpdate(schema::CurrentModeUpdate::new(current.wire_id()))
}

fn choices() -> String {
    OFFERED
        .map(|(mode, ..)| format!("`{}`", mode.wire_id()))
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_offered_modes_can_be_requested() {
        let cases = [
            ("default", Ok(PermissionMode::Default)),
            ("acceptEdits", Ok(PermissionMode::AcceptEdits)),
            ("plan", Ok(PermissionMode::Plan)),
            ("dontAsk", Err(ModeError::NotOffered("dontAsk".to_owned()))),
            (
                "bypassPermissions",
                Err(ModeError::NotOffered("bypassPermissions".to_owned())),
            ),
            ("Manual", Err(ModeError::Unknown("Manual".to_owned()))),
            ("", Err(ModeError::Unknown(String::new()))),
        ];
        for (id, expected) in cases {
            assert_eq!(requested(id), expected, "{id:?}");
        }
        assert_eq!(OFFERED.map(|(mode, ..)| mode), OFFERED_MODES);
    }

    #[test]
    fn a_refusal_names_the_choices() {
        insta::assert_snapshot!(
            ModeError::Unknown("x".to_owned()),
            @"`x` is not a permission mode; choose one of `default`, `acceptEdits`, `plan`"
        );
    }
}
