//! The permission modes of one session: the one it is in, and those it offers.
//!
//! Place in the flow: made from the settings files at `session/new`; `session/set_mode` is checked against it, and
//! Claude's own mode changes end here too, so that client and Claude always agree. Which modes exist is permission-core's
//! decision, what a mode allows Claude's.

use acp_proto::schema;
use claude_sdk_bridge::launch::LaunchOptions;
use permission_core::{
    PermissionMode,
    rules::RuleSet,
    settings::{EffectiveSettings, HostFacts, SettingsProblem, catalogue, initial_mode},
};

/// Why a mode cannot be set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ModeError {
    #[error("Invalid Mode: `{id}` is not a permission mode; choose one of {choices}")]
    Unknown { id: String, choices: String },
    #[error("Mode `{id}` is not available in this session; choose one of {choices}")]
    NotOffered { id: String, choices: String },
}

/// The modes of one session.
#[derive(Debug)]
pub(crate) struct Modes {
    current: PermissionMode,
    settings: EffectiveSettings,
    host: HostFacts,
    /// Whether the running process was started so that it can be switched to `bypassPermissions`.
    bypass_launched: bool,
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
        };
        (modes, notes)
    }

    /// The mode that Claude is in.
    pub(crate) fn current(&self) -> PermissionMode {
        self.current
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
        catalogue(&self.settings, &self.host)
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
    pub(crate) fn requested(&self, id: &str) -> Result<PermissionMode, ModeError> {
        let offered = self.offered();
        let named = || (id.chars().take(100).collect(), choices(&offered));
        match PermissionMode::from_wire_id(id) {
            Some(mode) if offered.contains(&mode) || mode == self.current => Ok(mode),
            Some(_) => {
                let (id, choices) = named();
                Err(ModeError::NotOffered { id, choices })
            }
            None => {
                let (id, choices) = named();
                Err(ModeError::Unknown { id, choices })
            }
        }
    }

    /// Whether the running process has to be replaced before it can be in this mode.
    pub(crate) fn needs_other_process(&self, mode: PermissionMode) -> bool {
        mode == PermissionMode::BypassPermissions && !self.bypass_launched
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
            let entry = mode.entry();
            schema::SessionMode::new(mode.wire_id(), entry.name).description(entry.description.to_owned())
        });
        schema::SessionModeState::new(self.current.wire_id(), modes.collect())
    }

    /// The update that tells a client which mode Claude is in.
    pub(crate) fn update(&self) -> schema::SessionUpdate {
        schema::SessionUpdate::CurrentModeUpdate(schema::CurrentModeUpdate::new(self.current.wire_id()))
    }
}

fn choices(offered: &[PermissionMode]) -> String {
    let names: Vec<String> = offered.iter().map(|mode| format!("`{mode}`")).collect();
    names.join(", ")
}

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
                assert!(modes.needs_other_process(bypass));
                modes.launch(bypass, &mut options);
                assert!(options.allow_bypass && modes.after_plan().contains(&bypass));
            }
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
    fn a_model_without_auto_takes_it_away() {
        let mut modes = modes(HostFacts::default());
        assert!(modes.offered().contains(&PermissionMode::Auto));
        modes.set(PermissionMode::Auto);
        assert!(!modes.model_learned(None));
        assert!(modes.model_learned(Some(false)));
        assert!(!modes.offered().contains(&PermissionMode::Auto));
    }
}
