//! Permission modes: their wire ids, the names a user sees, and the spellings a settings file may use.
//!
//! Place in the flow: read by everything that names a mode; `settings::modes` decides which modes a session has.
//! Must not know a session: who switches a mode, and whom that is told to, is the host's business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A permission mode of Claude. The ACP mode id and the wire id are the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Asks before every change. Shown as `Manual`.
    Default,
    /// File edits inside the workspace are accepted.
    AcceptEdits,
    /// Read and plan only.
    Plan,
    /// Nothing is asked, except what must never pass unasked.
    BypassPermissions,
    /// What would be asked is denied. Accepted from settings, never advertised.
    DontAsk,
    /// Claude decides by a classifier.
    Auto,
}

/// What a value of `permissions.defaultMode` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeSetting {
    /// Nothing is set.
    Absent,
    /// A mode, by one of its spellings.
    Mode(PermissionMode),
    /// Blank, not a string, or no mode we know: to be logged and treated as `default`.
    Unknown,
}

/// A mode id that is none of the six.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission mode `{0}`, use one of the modes that the session advertises")]
pub struct UnknownMode(pub String);

impl PermissionMode {
    /// Every mode, in the order in which a list shows them.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::Auto,
        Self::BypassPermissions,
        Self::DontAsk,
    ];

    /// The id on both wires.
    pub fn wire_id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
        }
    }

    /// The mode of a wire id. Exact: aliases are for settings only.
    pub fn from_wire_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.wire_id() == id)
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "Manual",
            Self::AcceptEdits => "Accept edits",
            Self::Plan => "Plan",
            Self::Auto => "Auto",
            Self::BypassPermissions => "Bypass permissions",
            Self::DontAsk => "Don't ask",
        }
    }

    /// What it does, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Default => "Asks before every change",
            Self::AcceptEdits => "Edits files without asking",
            Self::Plan => "Reads and plans, changes nothing",
            Self::Auto => "Claude decides what needs a question",
            Self::BypassPermissions => "Asks almost nothing",
            Self::DontAsk => "Denies what would need a question",
        }
    }

    /// What kind of mode it is, for icons.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Default | Self::AcceptEdits | Self::DontAsk => "standard",
            Self::Plan => "plan",
            Self::Auto => "auto_review",
            Self::BypassPermissions => "full_access",
        }
    }

    /// Whether Claude asks in this mode about what it would not ask about in `bypassPermissions`.
    pub fn asks_more_than_bypass(self) -> bool {
        match self {
            Self::Default | Self::AcceptEdits | Self::Auto => true,
            Self::BypassPermissions | Self::Plan | Self::DontAsk => false,
        }
    }

    /// Reads `permissions.defaultMode` of a settings file: trimmed, in any case, aliases included.
    pub fn from_setting(value: Option<&Value>) -> ModeSetting {
        let Some(value) = value else {
            return ModeSetting::Absent;
        };
        let spelling = value.as_str().map(|text| text.trim().to_lowercase());
        match spelling.as_deref() {
            Some("default" | "manual") => ModeSetting::Mode(Self::Default),
            Some("acceptedits") => ModeSetting::Mode(Self::AcceptEdits),
            Some("dontask") => ModeSetting::Mode(Self::DontAsk),
            Some("plan") => ModeSetting::Mode(Self::Plan),
            Some("auto") => ModeSetting::Mode(Self::Auto),
            Some("bypasspermissions" | "bypass") => ModeSetting::Mode(Self::BypassPermissions),
            Some(_) | None => ModeSetting::Unknown,
        }
    }
}

impl ModeSetting {
    /// Whether it names a mode that asks less than `default` does.
    pub(crate) fn loosens(self) -> bool {
        match self {
            Self::Mode(
                PermissionMode::BypassPermissions | PermissionMode::Auto | PermissionMode::AcceptEdits,
            ) => true,
            Self::Mode(PermissionMode::Default | PermissionMode::Plan | PermissionMode::DontAsk)
            | Self::Absent
            | Self::Unknown => false,
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wire_id())
    }
}

impl FromStr for PermissionMode {
    type Err = UnknownMode;

    fn from_str(id: &str) -> Result<Self, UnknownMode> {
        Self::from_wire_id(id).ok_or_else(|| UnknownMode(id.to_owned()))
    }
}

#[cfg(test)]
mod tests;
