//! Which modes a session offers, starts in and may be switched to, by its settings and what the host knows.
//!
//! Place in the flow: after `merge`; the host adds what it knows of the process, the client and the model. Everything
//! that asks about the modes of a session asks here. Must not remember anything between calls.

use super::{EffectiveSettings, SettingsProblem, wording};
use crate::modes::{ModeSetting, PermissionMode};

/// What a host knows about modes without any settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The effective user is root.
    pub root: bool,
    /// `IS_SANDBOX` is set and not empty.
    pub sandboxed: bool,
    /// The client opted out of `bypassPermissions` when it made the session.
    pub client_opted_out: bool,
    /// Whether the current model has `auto`; `None` for a model that is in no list, which keeps it.
    pub model_supports_auto: Option<bool>,
}

/// The mode that a session starts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartMode {
    /// The mode.
    pub mode: PermissionMode,
    /// Why it is not what the settings say.
    pub departure: Option<Departure>,
    /// The same for the user. A value that is no mode is among the problems of the settings already.
    pub notes: Vec<SettingsProblem>,
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
    /// None of the six ids.
    #[error("Invalid Mode: `{id}` is not a permission mode; choose one of {choices}")]
    Unknown {
        /// What was asked for, as much as is shown of it.
        id: String,
        /// What may be.
        choices: String,
    },
    /// A mode that this session does not offer.
    #[error("Mode `{mode}` is not available in this session; choose one of {choices}")]
    NotOffered {
        /// What was asked for.
        mode: PermissionMode,
        /// What may be.
        choices: String,
    },
}

/// The longest id that a refusal quotes, in characters.
const MAX_ID: usize = 100;

/// Whether `bypassPermissions` may be used: never as root outside a sandbox, never against settings or client. Claude may be
/// given the capability only where it may.
pub fn may_bypass(settings: &EffectiveSettings, host: &HostFacts) -> bool {
    let by_host = (!host.root || host.sandboxed) && !host.client_opted_out;
    by_host && settings.values.bypass_disabled.is_none()
}

/// The modes that a session offers, in the order of Claude Code's own menu. `dontAsk` is never among them.
pub fn offered_modes(settings: &EffectiveSettings, host: &HostFacts) -> Vec<PermissionMode> {
    let is_offered = |mode: &PermissionMode| match mode {
        PermissionMode::Default | PermissionMode::AcceptEdits | PermissionMode::Plan => true,
        PermissionMode::Auto => {
            host.model_supports_auto != Some(false) && settings.values.auto_disabled.is_none()
        }
        PermissionMode::BypassPermissions => may_bypass(settings, host),
        PermissionMode::DontAsk => false,
    };
    PermissionMode::ALL.into_iter().filter(is_offered).collect()
}

/// The mode that a client asks for by its id: one that is offered, or the current one again.
///
/// # Errors
/// When no such mode exists, or this session does not offer it.
pub fn requested_mode(
    id: &str,
    offered: &[PermissionMode],
    current: PermissionMode,
) -> Result<PermissionMode, ModeRefusal> {
    let choices = || {
        let names: Vec<String> = offered.iter().map(|mode| format!("`{mode}`")).collect();
        names.join(", ")
    };
    match PermissionMode::from_wire_id(id) {
        Some(mode) if offered.contains(&mode) || mode == current => Ok(mode),
        Some(mode) => Err(ModeRefusal::NotOffered {
            mode,
            choices: choices(),
        }),
        None => Err(ModeRefusal::Unknown {
            id: id.chars().take(MAX_ID).collect(),
            choices: choices(),
        }),
    }
}

/// The mode that a new session starts in.
pub fn initial_mode(settings: &EffectiveSettings, host: &HostFacts) -> StartMode {
    let setting = settings.values.default_mode.as_ref();
    let setting = setting.map_or(ModeSetting::Absent, |setting| setting.value);
    let (mode, departure) = match setting {
        ModeSetting::Absent => (PermissionMode::Default, None),
        ModeSetting::Unknown => (PermissionMode::Default, Some(Departure::UnknownSetting)),
        ModeSetting::Mode(PermissionMode::BypassPermissions) if !may_bypass(settings, host) => {
            (PermissionMode::Default, Some(Departure::BypassNotAllowed))
        }
        ModeSetting::Mode(PermissionMode::Auto) if settings.values.auto_disabled.is_some() => {
            (PermissionMode::Default, Some(Departure::AutoDisabled))
        }
        ModeSetting::Mode(PermissionMode::Auto) if host.model_supports_auto == Some(false) => {
            (PermissionMode::AcceptEdits, Some(Departure::AutoUnsupported))
        }
        ModeSetting::Mode(mode) => (mode, None),
    };
    let message = departure.and_then(|departure| reason(departure, settings, host));
    let note = message.and_then(|message| note(settings, message));
    StartMode {
        mode,
        departure,
        notes: note.into_iter().collect(),
    }
}

/// What there is to say where Claude has started in `mode` although it was asked for another, if that is the settings' wish.
pub fn refused_mode(
    settings: &EffectiveSettings,
    asked: PermissionMode,
    mode: PermissionMode,
) -> Option<SettingsProblem> {
    let setting = settings.values.default_mode.as_ref()?;
    let named = setting.value == ModeSetting::Mode(asked);
    named
        .then(|| note(settings, wording::refused_mode(asked, mode)))
        .flatten()
}

fn note(settings: &EffectiveSettings, message: String) -> Option<SettingsProblem> {
    let origin = &settings.values.default_mode.as_ref()?.origin;
    Some(SettingsProblem {
        file: origin.file.clone(),
        line: Some(origin.line),
        column: None,
        key: Some("permissions.defaultMode".to_owned()),
        message,
    })
}

fn reason(departure: Departure, settings: &EffectiveSettings, host: &HostFacts) -> Option<String> {
    match departure {
        Departure::UnknownSetting => None,
        Departure::BypassNotAllowed => Some(match &settings.values.bypass_disabled {
            Some(by) => wording::disabled_mode(PermissionMode::BypassPermissions, by),
            None if host.client_opted_out => wording::BYPASS_OPTED_OUT.to_owned(),
            None => wording::BYPASS_AS_ROOT.to_owned(),
        }),
        Departure::AutoDisabled => settings
            .values
            .auto_disabled
            .as_ref()
            .map(|by| wording::disabled_mode(PermissionMode::Auto, by)),
        Departure::AutoUnsupported => Some(wording::AUTO_UNSUPPORTED.to_owned()),
    }
}
