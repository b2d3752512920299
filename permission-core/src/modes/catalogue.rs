//! Which modes a session offers, starts in, and may switch to.
//!
//! Place in the flow: the host gathers the facts (model, settings, process), these functions turn them into lists
//! and answers; options of ExitPlanMode use the list. Must not remember anything between calls.

use serde_json::Value;

use super::{ModeSetting, PermissionMode};
use crate::present::words;

/// The facts that decide which modes exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeFacts {
    /// Whether the current model has `auto`; `None` for a model that is in no list, which keeps it.
    pub model_supports_auto: Option<bool>,
    /// Whether settings disable `auto`; see [`settings_disable_auto`].
    pub auto_disabled: bool,
    /// Whether `bypassPermissions` may be used at all; see [`BypassFacts::allowed`].
    pub bypass_allowed: bool,
}

/// The facts behind `bypassPermissions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BypassFacts {
    /// The effective user is root.
    pub root: bool,
    /// `IS_SANDBOX` is set and not empty.
    pub sandboxed: bool,
    /// Settings disable the mode; see [`settings_disable_bypass`].
    pub disabled_by_settings: bool,
    /// The client opted out when it made the session.
    pub client_opted_out: bool,
}

/// One advertised mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeEntry {
    /// The mode.
    pub mode: PermissionMode,
    /// Its name for people.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// What kind of mode it is, for icons.
    pub kind: &'static str,
}

/// The mode that a session starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialMode {
    /// The mode.
    pub mode: PermissionMode,
    /// Why it is not what the settings say.
    pub departure: Option<Departure>,
}

/// Why a session does not start in the mode that its settings name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// The value is no mode.
    UnknownSetting,
    /// `bypassPermissions` may not be used.
    BypassNotAllowed,
    /// Settings disable `auto`.
    AutoDisabled,
    /// The model has no `auto`: to be told to the user once.
    AutoUnsupported,
}

/// Why a mode cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModeRefusal {
    /// Not one of the six ids.
    #[error("Invalid Mode")]
    Invalid,
    /// A mode that this session does not offer.
    #[error("Mode {0} is not available in this session, choose one of its available modes")]
    NotAvailable(PermissionMode),
}

impl BypassFacts {
    /// Whether the mode may be used: never as root outside a sandbox, never against settings or client.
    pub fn allowed(&self) -> bool {
        (!self.root || self.sandboxed) && !self.disabled_by_settings && !self.client_opted_out
    }
}

impl ModeFacts {
    /// The modes to advertise, in order. `dontAsk` is never among them.
    pub fn advertised(&self) -> Vec<PermissionMode> {
        PermissionMode::ALL
            .into_iter()
            .filter(|mode| match mode {
                PermissionMode::Default | PermissionMode::AcceptEdits | PermissionMode::Plan => true,
                PermissionMode::Auto => self.model_supports_auto != Some(false) && !self.auto_disabled,
                PermissionMode::BypassPermissions => self.bypass_allowed,
                PermissionMode::DontAsk => false,
            })
            .collect()
    }

    /// The mode to start in. `setting` is `permissions.defaultMode` after [`trusted_from_project`].
    pub fn initial(&self, setting: Option<&Value>) -> InitialMode {
        self.start(PermissionMode::from_setting(setting))
    }

    /// The mode to start in by a setting that has been read already.
    pub(crate) fn start(&self, setting: ModeSetting) -> InitialMode {
        let depart = |mode, departure| InitialMode {
            mode,
            departure: Some(departure),
        };
        match setting {
            ModeSetting::Absent => InitialMode {
                mode: PermissionMode::Default,
                departure: None,
            },
            ModeSetting::Unknown => depart(PermissionMode::Default, Departure::UnknownSetting),
            ModeSetting::Mode(PermissionMode::BypassPermissions) if !self.bypass_allowed => {
                depart(PermissionMode::Default, Departure::BypassNotAllowed)
            }
            ModeSetting::Mode(PermissionMode::Auto) if self.auto_disabled => {
                depart(PermissionMode::Default, Departure::AutoDisabled)
            }
            ModeSetting::Mode(PermissionMode::Auto) if self.model_supports_auto == Some(false) => {
                depart(PermissionMode::AcceptEdits, Departure::AutoUnsupported)
            }
            ModeSetting::Mode(mode) => InitialMode {
                mode,
                departure: None,
            },
        }
    }

    /// The mode that a session really has when `mode` is asked for: `auto` needs a model that has it.
    pub fn effective(&self, mode: PermissionMode) -> PermissionMode {
        let lacks_auto = mode == PermissionMode::Auto && self.model_supports_auto == Some(false);
        if lacks_auto {
            PermissionMode::AcceptEdits
        } else {
            mode
        }
    }
}

impl PermissionMode {
    /// How a list shows the mode.
    pub fn entry(self) -> ModeEntry {
        let kind = match self {
            Self::Default | Self::AcceptEdits | Self::DontAsk => "standard",
            Self::Plan => "plan",
            Self::Auto => "auto_review",
            Self::BypassPermissions => "full_access",
        };
        ModeEntry {
            mode: self,
            name: words::mode_name(self),
            description: words::mode_description(self),
            kind,
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

/// The mode that a client asks for by id: an advertised one. `current`, if given, may be chosen again although it
/// is not advertised.
pub fn requested_mode(
    id: &str,
    advertised: &[PermissionMode],
    current: Option<PermissionMode>,
) -> Result<PermissionMode, ModeRefusal> {
    let mode = PermissionMode::from_wire_id(id).ok_or(ModeRefusal::Invalid)?;
    if advertised.contains(&mode) || current == Some(mode) {
        Ok(mode)
    } else {
        Err(ModeRefusal::NotAvailable(mode))
    }
}

/// Whether a default mode counts that stands in the project's committed settings. What loosens does not: whoever
/// wrote the repository is not the user.
pub fn trusted_from_project(setting: &Value) -> bool {
    !PermissionMode::from_setting(Some(setting)).loosens()
}

/// Whether merged settings disable `auto`, at the top level or under `permissions`.
pub fn settings_disable_auto(settings: &Value) -> bool {
    ["/disableAutoMode", "/permissions/disableAutoMode"]
        .iter()
        .any(|key| says_disable(settings, key))
}

/// Whether merged settings disable `bypassPermissions`.
pub fn settings_disable_bypass(settings: &Value) -> bool {
    says_disable(settings, "/permissions/disableBypassPermissionsMode")
}

fn says_disable(settings: &Value, key: &str) -> bool {
    settings.pointer(key).and_then(Value::as_str) == Some("disable")
}
