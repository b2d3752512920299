//! The permission modes of one session: the one it is in, and those it offers.
//!
//! Place in the flow: made from the settings files at `session/new`; `session/set_mode` is checked against it, and
//! Claude's own mode changes end here too, so that client and Claude always agree. Which modes exist is permission-core's
//! decision, what a mode allows Claude's.

use acp_proto::schema;
use claude_sdk_bridge::launch::LaunchOptions;
use permission_core::PermissionMode;
use permission_core::rules::RuleSet;
use permission_core::settings::{
    Departure, EffectiveSettings, HostFacts, ModeRefusal, SettingsProblem, initial_mode, offered_modes,
    refused_mode, requested_mode,
};

/// The modes of one session.
#[derive(Debug)]
pub(crate) struct Modes {
    current: PermissionMode,
    settings: EffectiveSettings,
    host: HostFacts,
    /// Whether the running process was started so that it can be switched to `bypassPermissions`. One that was not stands
    /// in for the next, in the mode [`STAND_IN`].
    bypass_launched: bool,
    /// The mode that the client has chosen and Claude has not taken yet.
    chosen: Option<PermissionMode>,
}

impl Modes {
    /// The modes of a new session, and what there is to say about the settings they come from.
    pub(crate) fn new(settings: EffectiveSettings, host: HostFacts) -> (Self, Vec<SettingsProblem>) {
        let start = initial_mode(&settings, &host);
        let mut notes = settings.problems.clone();
        notes.extend(start.notes);
        let modes = Self {
            current: start.mode,
            settings,
            host,
            bypass_launched: false,
            chosen: None,
        };
        (modes, notes)
    }

    /// Takes the mode that Claude has started in, and whether its model has the mode `auto`; hands back what there is to say
    /// where the session does not start in the mode that its settings name.
    pub(crate) fn started(
        &mut self,
        mode: Option<PermissionMode>,
        supports_auto: Option<bool>,
    ) -> Vec<String> {
        let asked = self.current;
        if self.model_learned(supports_auto) {
            let start = initial_mode(&self.settings, &self.host);
            self.current = PermissionMode::AcceptEdits;
            let named = start.departure == Some(Departure::AutoUnsupported);
            let notes = start.notes.iter().filter(|_| named).map(ToString::to_string);
            return if named {
                notes.collect()
            } else {
                vec![NO_AUTO.to_owned()]
            };
        }
        self.current = mode.unwrap_or(asked);
        let refused = (self.current != asked)
            .then(|| refused_mode(&self.settings, asked, self.current))
            .flatten();
        refused.iter().map(ToString::to_string).collect()
    }

    /// The mode that Claude is in.
    pub(crate) fn current(&self) -> PermissionMode {
        self.current
    }

    /// The mode that calls are held to: bypass ends when something else is chosen, whenever Claude takes it.
    pub(crate) fn guarded(&self) -> PermissionMode {
        match self.current {
            PermissionMode::BypassPermissions => self.chosen.unwrap_or(self.current),
            current => current,
        }
    }

    /// Notes the mode that Claude is in; says whether it is a new one.
    pub(crate) fn set(&mut self, mode: PermissionMode) -> bool {
        std::mem::replace(&mut self.current, mode) != mode
    }

    /// The rules of the settings.
    pub(crate) fn rules(&self) -> RuleSet {
        RuleSet::read(&self.settings.values.rules).0
    }

    /// The modes that a client may choose, in the order of Claude Code's own menu.
    pub(crate) fn offered(&self) -> Vec<PermissionMode> {
        offered_modes(&self.settings, &self.host)
    }

    /// The modes that a plan may be carried out in by the running process.
    pub(crate) fn after_plan(&self) -> Vec<PermissionMode> {
        let mut offered = self.offered();
        offered.retain(|mode| *mode != PermissionMode::BypassPermissions || self.bypass_launched);
        offered
    }

    /// The mode that a client names.
    ///
    /// # Errors
    /// When no such mode exists, or this session does not offer it.
    pub(crate) fn requested(&self, id: &str) -> Result<PermissionMode, ModeRefusal> {
        requested_mode(id, &self.offered(), self.current)
    }

    /// A mode is chosen; hands back the one that Claude is to be told.
    pub(crate) fn choose(&mut self, mode: PermissionMode) -> PermissionMode {
        self.chosen = Some(mode);
        self.for_claude(mode)
    }

    /// Claude has answered the choice of `mode`, with the mode that it is in now if it says so; hands back the session's.
    pub(crate) fn answered(&mut self, mode: PermissionMode, told: Option<&str>) -> PermissionMode {
        self.chosen = None;
        match told.and_then(PermissionMode::from_wire_id) {
            Some(told) if told != self.for_claude(mode) => told,
            Some(_) | None => mode,
        }
    }

    /// The mode that the running process is to be in where the session is in `mode`.
    fn for_claude(&self, mode: PermissionMode) -> PermissionMode {
        if mode == PermissionMode::BypassPermissions && !self.bypass_launched {
            STAND_IN
        } else {
            mode
        }
    }

    /// Whether the running process can be in the session's mode. One that cannot is replaced before the next prompt.
    pub(crate) fn suit_process(&self) -> bool {
        self.for_claude(self.current) == self.current
    }

    /// The mode of the session where Claude tells that it is in `mode`.
    pub(crate) fn by_claude(&self, mode: PermissionMode) -> PermissionMode {
        let session = self.chosen.unwrap_or(self.current);
        if mode == self.for_claude(session) {
            session
        } else {
            mode
        }
    }

    /// Writes into the options of a process what it has to be started with to be in `mode`. The capability to bypass
    /// permissions is given only to a process that starts in that mode.
    pub(crate) fn launch(&mut self, mode: PermissionMode, options: &mut LaunchOptions) {
        self.bypass_launched = mode == PermissionMode::BypassPermissions;
        options.permission_mode = Some(mode);
        options.allow_bypass = self.bypass_launched;
    }

    /// Notes whether the current model has the mode `auto`; says whether the session has to leave it.
    pub(crate) fn model_learned(&mut self, supports_auto: Option<bool>) -> bool {
        self.host.model_supports_auto = supports_auto;
        self.current == PermissionMode::Auto && supports_auto == Some(false)
    }

    /// Takes new settings; hands back what is newly wrong with them.
    pub(crate) fn settings_changed(&mut self, settings: EffectiveSettings) -> Vec<SettingsProblem> {
        let known = std::mem::replace(&mut self.settings, settings).problems;
        let problems = self.settings.problems.iter();
        problems
            .filter(|problem| !known.contains(problem))
            .cloned()
            .collect()
    }

    /// The `modes` of a session response.
    pub(crate) fn state(&self) -> schema::SessionModeState {
        let modes = self.offered().into_iter().map(|mode| {
            schema::SessionMode::new(mode.wire_id(), mode.name()).description(mode.description().to_owned())
        });
        schema::SessionModeState::new(self.current.wire_id(), modes.collect())
    }

    /// The update that tells a client which mode Claude is in.
    pub(crate) fn update(&self) -> schema::SessionUpdate {
        schema::SessionUpdate::CurrentModeUpdate(schema::CurrentModeUpdate::new(self.current.wire_id()))
    }
}

/// The mode of a process that cannot bypass permissions while its session does: it asks before everything, and the guard
/// answers what needs no question.
const STAND_IN: PermissionMode = PermissionMode::Default;

/// What the user is told when the model takes `auto` away.
pub(crate) const NO_AUTO: &str = "The model has no auto mode; edits are accepted without asking instead.";

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(host: HostFacts) -> Modes {
        Modes::new(EffectiveSettings::default(), host).0
    }

    #[test]
    fn bypass_is_offered_where_it_can_work_and_nowhere_else() {
        let bypass = PermissionMode::BypassPermissions;
        let root = HostFacts {
            root: true,
            ..HostFacts::default()
        };
        let sandbox = HostFacts {
            sandboxed: true,
            ..root
        };
        let declined = HostFacts {
            client_opted_out: true,
            ..HostFacts::default()
        };
        for (host, expected) in [
            (HostFacts::default(), true),
            (root, false),
            (sandbox, true),
            (declined, false),
        ] {
            let mut modes = modes(host);
            assert_eq!(modes.offered().contains(&bypass), expected, "{host:?}");
            assert_eq!(modes.requested("bypassPermissions").is_ok(), expected, "{host:?}");
            assert!(
                !modes.after_plan().contains(&bypass),
                "the process was not started for it"
            );
            let mut options = LaunchOptions::new("/", claude_sdk_bridge::launch::SessionStart::Unnamed);
            modes.launch(PermissionMode::Default, &mut options);
            assert!(!options.allow_bypass);
            if expected {
                assert_eq!(modes.for_claude(bypass), PermissionMode::Default);
                modes.launch(bypass, &mut options);
                assert_eq!(modes.for_claude(bypass), bypass);
                assert!(options.allow_bypass && modes.after_plan().contains(&bypass));
            }
        }
    }

    #[test]
    fn a_process_without_the_capability_stands_in_for_bypass_until_claude_leaves_its_mode() {
        let (default, bypass) = (PermissionMode::Default, PermissionMode::BypassPermissions);
        let plan = PermissionMode::Plan;
        for (session, launched, told, expected, suits) in [
            (default, default, default, default, true),
            (default, default, plan, plan, true),
            (bypass, default, default, bypass, false),
            (bypass, default, plan, plan, false),
            (bypass, bypass, bypass, bypass, true),
            (bypass, bypass, default, default, true),
            (default, bypass, bypass, bypass, true),
        ] {
            let mut modes = modes(HostFacts::default());
            let mut options = LaunchOptions::new("/", claude_sdk_bridge::launch::SessionStart::Unnamed);
            modes.launch(launched, &mut options);
            modes.choose(session);
            assert_eq!(modes.guarded(), default, "not before Claude has taken it");
            assert_eq!(
                modes.by_claude(told),
                expected,
                "{session}, told {told}, before the answer"
            );
            assert_eq!(
                modes.answered(session, Some(told.wire_id())),
                expected,
                "{session}, answered {told}"
            );
            assert_eq!(modes.answered(session, None), session);
            modes.set(session);
            let case = format!("{session}, launched for {launched}, told {told}");
            assert_eq!(modes.suit_process(), suits, "{case}");
            assert_eq!(modes.by_claude(told), expected, "{case}");
            assert_eq!(modes.guarded(), session, "{case}");
            modes.choose(default);
            assert_eq!(modes.guarded(), default, "at once, {case}");
        }
    }

    #[test]
    fn a_refusal_names_the_choices() {
        let modes = modes(HostFacts {
            root: true,
            model_supports_auto: Some(false),
            ..HostFacts::default()
        });
        insta::assert_snapshot!(
            modes.requested("x").unwrap_err(),
            @"Invalid Mode: `x` is not a permission mode; choose one of `default`, `acceptEdits`, `plan`"
        );
        insta::assert_snapshot!(
            modes.requested("dontAsk").unwrap_err(),
            @"Mode `dontAsk` is not available in this session; choose one of `default`, `acceptEdits`, `plan`"
        );
    }

    #[test]
    fn a_session_that_does_not_start_in_the_mode_of_its_settings_says_so() {
        use PermissionMode::{AcceptEdits, Auto, Default, Plan};
        for (named, started, supports_auto, expected, told) in [
            ("auto", Default, Some(false), AcceptEdits, "does not support"),
            ("auto", Auto, Some(false), AcceptEdits, "does not support"),
            ("auto", Default, None, Default, "Claude does not have here"),
            ("auto", Default, Some(true), Default, "Claude does not have here"),
            ("auto", Auto, Some(true), Auto, ""),
            ("auto", Auto, None, Auto, ""),
            ("plan", Plan, Some(false), Plan, ""),
            ("plan", Default, Some(true), Default, "Claude does not have here"),
        ] {
            let text = format!(r#"{{"permissions": {{"defaultMode": "{named}"}}}}"#);
            let source = permission_core::settings::SettingsSource::User;
            let path = std::path::Path::new("/home/u/settings.json");
            let file = permission_core::settings::SettingsFile::parse(source, path, &text);
            let (mut modes, notes) =
                Modes::new(permission_core::settings::merge([file]), HostFacts::default());
            assert!(notes.is_empty());
            let notes = modes.started(Some(started), supports_auto);
            let case = format!("{named}, {started}, {supports_auto:?}: {notes:?}");
            assert_eq!(modes.current(), expected, "{case}");
            assert_eq!(notes.len(), usize::from(!told.is_empty()), "{case}");
            assert!(notes.iter().all(|note| note.contains(told)), "{case}");
        }
        let (mut modes, _) = Modes::new(EffectiveSettings::default(), HostFacts::default());
        assert_eq!(modes.started(None, None), [""; 0]);
        // A client's own choice.
        modes.set(Auto);
        assert_eq!(modes.started(Some(Default), Some(false)), [NO_AUTO]);
        assert_eq!(modes.current(), AcceptEdits);
    }

    #[test]
    fn a_model_without_auto_takes_it_away() {
        let mut modes = modes(HostFacts::default());
        assert!(modes.offered().contains(&PermissionMode::Auto));
        modes.set(PermissionMode::Auto);
        assert!(!modes.model_learned(None));
        assert!(modes.model_learned(Some(false)));
        assert!(!modes.offered().contains(&PermissionMode::Auto));
    }
}
