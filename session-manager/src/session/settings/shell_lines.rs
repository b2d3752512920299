//! The shell lines of commands and skills (`` !`…` ``), which run without a tool call while their text is expanded.
//!
//! Place in the flow: a Claude that calls the guard back before them has them decided there. An older one does not: in plan
//! mode and under a policy a setting keeps all of them from running.

use claude_sdk_bridge::messages::control::{ApplyFlagSettings, ControlRequest, InitializeResponse};
use claude_sdk_bridge::version::ClaudeVersion;
use permission_core::PermissionMode;
use serde_json::{Map, Value};

use crate::session::effect::{Effect, Purpose};

/// The setting.
const OFF: &str = "disableSkillShellExecution";

/// The shell lines of one session.
pub(in crate::session) struct ShellLines {
    unguarded: Unguarded,
    /// Whether Claude calls back before them.
    guarded: bool,
    /// Whether the running process was told to let none of them run.
    off: bool,
}

/// What becomes of them where Claude does not call back.
#[derive(Clone, Copy)]
enum Unguarded {
    /// The client's own settings keep them from running anyway.
    OffByClient,
    OffInPlan,
    /// There is a policy.
    Off,
}

impl ShellLines {
    /// Those of a session under a policy perhaps, whose client may have settings of its own.
    pub(in crate::session) fn new(policy: bool, clients: Option<&Value>) -> Self {
        let by_client = clients.and_then(|settings| settings.get(OFF)) == Some(&Value::Bool(true));
        let unguarded = match (policy, by_client) {
            (true, _) => Unguarded::Off,
            (false, true) => Unguarded::OffByClient,
            (false, false) => Unguarded::OffInPlan,
        };
        Self {
            unguarded,
            guarded: false,
            off: false,
        }
    }

    /// A process is ready.
    pub(in crate::session) fn started(&mut self, info: &InitializeResponse) {
        let version = info.claude_code_version.as_str().and_then(ClaudeVersion::parse);
        self.guarded = version.is_some_and(ClaudeVersion::asks_before_shell_lines);
        self.off = false;
    }

    /// What the process has to be told for the session to be in `mode`.
    pub(in crate::session) fn in_mode(&mut self, mode: PermissionMode) -> Option<Effect> {
        let off = match self.unguarded {
            _ if self.guarded => false,
            Unguarded::OffByClient => false,
            Unguarded::OffInPlan => mode == PermissionMode::Plan,
            Unguarded::Off => true,
        };
        if std::mem::replace(&mut self.off, off) == off {
            return None;
        }
        let value = if off { Value::Bool(true) } else { Value::Null };
        let request = ControlRequest::ApplyFlagSettings(ApplyFlagSettings {
            settings: Map::from_iter([(OFF.to_owned(), value)]).into(),
            ..ApplyFlagSettings::default()
        });
        Some(Effect::Call(request, Purpose::ShellLines))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_older_claude_is_kept_from_running_them_in_plan_and_under_a_policy() {
        let (default, plan) = (PermissionMode::Default, PermissionMode::Plan);
        let off = json!({OFF: true});
        let none = Value::Null;
        for (policy, clients, version, told) in [
            (
                false,
                None,
                "2.1.318",
                [&none, &json!({OFF: true}), &json!({OFF: null})],
            ),
            (
                false,
                None,
                "unknown",
                [&none, &json!({OFF: true}), &json!({OFF: null})],
            ),
            (false, None, "2.1.332", [&none, &none, &none]),
            (false, Some(&off), "2.1.318", [&none, &none, &none]),
            (false, Some(&off), "2.1.332", [&none, &none, &none]),
            (true, None, "2.1.318", [&json!({OFF: true}), &none, &none]),
            (true, None, "2.1.332", [&none, &none, &none]),
        ] {
            let mut lines = ShellLines::new(policy, clients);
            let info = InitializeResponse {
                claude_code_version: version.to_owned().into(),
                ..InitializeResponse::default()
            };
            lines.started(&info);
            let case = format!("{policy} {clients:?} {version}");
            for (mode, expected) in [default, plan, default].into_iter().zip(told) {
                let request = lines.in_mode(mode).map(|effect| match effect {
                    Effect::Call(ControlRequest::ApplyFlagSettings(apply), Purpose::ShellLines) => {
                        serde_json::to_value(apply.settings).unwrap()
                    }
                    _ => panic!("another effect"),
                });
                assert_eq!(request.unwrap_or_default(), *expected, "{case} in {mode}");
            }
        }
    }
}
