//! What the settings mean for a session's modes.
//!
//! Place in the flow: after `merge`; the host adds what it knows of the process, the client and the model. The rules
//! themselves are `crate::modes`; this file connects them to settings and says why a setting is not followed.

use super::{EffectiveSettings, SettingsProblem, words};
use crate::modes::{BypassFacts, Departure, InitialMode, ModeFacts, ModeSetting, PermissionMode};

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

/// The facts about modes, of host and settings together. Claude may be given the capability to bypass permissions
/// only where they say so.
pub fn mode_facts(settings: &EffectiveSettings, host: &HostFacts) -> ModeFacts {
    let bypass = BypassFacts {
        root: host.root,
        sandboxed: host.sandboxed,
        disabled_by_settings: settings.values.bypass_disabled.is_some(),
        client_opted_out: host.client_opted_out,
    };
    ModeFacts {
        model_supports_auto: host.model_supports_auto,
        auto_disabled: settings.values.auto_disabled.is_some(),
        bypass_allowed: bypass.allowed(),
    }
}

/// The modes to advertise, in order.
pub fn catalogue(settings: &EffectiveSettings, host: &HostFacts) -> Vec<PermissionMode> {
    mode_facts(settings, host).advertised()
}

/// The mode that a new session starts in.
pub fn initial_mode(settings: &EffectiveSettings, host: &HostFacts) -> StartMode {
    let setting = settings
        .values
        .default_mode
        .as_ref()
        .map_or(ModeSetting::Absent, |setting| setting.value);
    let InitialMode { mode, departure } = mode_facts(settings, host).start(setting);
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
        .then(|| note(settings, words::refused_mode(asked, mode)))
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
            Some(by) => words::disabled_mode(PermissionMode::BypassPermissions, by),
            None if host.client_opted_out => words::BYPASS_OPTED_OUT.to_owned(),
            None => words::BYPASS_AS_ROOT.to_owned(),
        }),
        Departure::AutoDisabled => settings
            .values
            .auto_disabled
            .as_ref()
            .map(|by| words::disabled_mode(PermissionMode::Auto, by)),
        Departure::AutoUnsupported => Some(words::AUTO_UNSUPPORTED.to_owned()),
    }
}
