//! What Claude tells about the options of its own accord: changes made by its commands, its limits and its failures.
//!
//! Place in the flow: the session reports frames and answers here and, when something changed, sends the client a
//! `config_option_update`. What was changed elsewhere counts as chosen, and survives like a choice.

use claude_sdk_bridge::messages::{ResultMessage, SystemInit};
use serde_json::{Map, Value};

use super::models::DEFAULT;
use super::{Effort, Held, Options, wording};

/// What an observation comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub(crate) struct Seen {
    /// The client must hear of the options.
    pub(crate) changed: bool,
    /// The user must hear of this.
    pub(crate) warning: Option<String>,
}

impl Options {
    /// Reads the start of a turn: model, fast mode and agents.
    pub(crate) fn observed_init(&mut self, init: &SystemInit) -> Seen {
        let model = init
            .model
            .as_str()
            .is_some_and(|model| self.observed_model(model));
        let agents = init
            .agents
            .get()
            .is_some_and(|agents| self.observed_agents(agents.known().map(String::as_str)));
        let mut seen = self.observed_fast(init.fast_mode_state.as_str(), fast_reason(&init.extra));
        seen.changed |= model || agents;
        self.agent_brings_model = false;
        seen
    }

    /// Reads the end of a turn: fast mode.
    pub(crate) fn observed_result(&mut self, result: &ResultMessage) -> Seen {
        self.observed_fast(result.fast_mode_state.as_str(), fast_reason(&result.extra))
    }

    /// Takes the answer to `set_model`: what the choice comes to.
    pub(crate) fn answered_model(&mut self, running: &str) -> bool {
        let chosen = self.model.value().clone();
        self.models.learn(&chosen, running) || self.observed_model(running)
    }

    /// Takes the model that Claude names: in `system/init`, in its settings, after a refusal.
    pub(crate) fn observed_model(&mut self, running: &str) -> bool {
        if running.is_empty() || self.models.run(self.model(), running) {
            return false;
        }
        let brought = self.agent_brings_model && matches!(self.model, Held::Found(_));
        let value = if brought && self.models.run(DEFAULT, running) {
            DEFAULT
        } else {
            self.models.running(running).map_or(running, |model| &model.value)
        };
        let value = value.to_owned();
        self.model = if brought {
            Held::Found(value)
        } else {
            Held::Chosen(value)
        };
        true
    }

    /// Takes the answer to `get_settings`, which is to be asked for after each request that needs it, and after a
    /// command that ran inside Claude (`local_command` of a result).
    pub(crate) fn observed_settings(&mut self, response: &Value) -> bool {
        let text = |pointer: &str| response.pointer(pointer).and_then(Value::as_str);
        let Some(model) = text("/applied/model") else {
            return false;
        };
        let changed = self.observed_model(model);
        self.agent_brings_model = false;
        let level = text("/applied/effort");
        level.is_some_and(|level| self.observed_effort(model, level)) || changed
    }

    /// Takes the agents that exist now.
    pub(crate) fn observed_agents<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> bool {
        let agents = self.agents.named(names);
        let current = self.agent.value().as_deref();
        let changed = agents.kind(current) != self.agents.kind(current);
        self.agents = agents;
        changed
    }

    /// Takes a state of fast mode. What it is on a model without fast mode says nothing about the choice.
    pub(crate) fn observed_fast(&mut self, state: Option<&str>, reason: Option<&str>) -> Seen {
        let Some(on) = is_fast(state).filter(|on| *on || reason != Some("pending")) else {
            return Seen::default();
        };
        let supported = self.abilities().is_some_and(|abilities| abilities.fast);
        if !supported || *self.fast.value() == on {
            return Seen::default();
        }
        self.fast = Held::Chosen(on);
        Seen {
            changed: true,
            warning: reason.filter(|_| !on).and_then(wording::fast_refused),
        }
    }

    /// Takes the effort in use on the model `running`. It differs from the choice when a command or a limit changed it,
    /// and when the model lacks the chosen one, which waits for the repair.
    fn observed_effort(&mut self, running: &str, level: &str) -> bool {
        if self.repair().is_some() {
            return false;
        }
        let usual = self.usual_efforts.get(running).map(String::as_str);
        let chosen = match &self.effort {
            Effort::Level(chosen) => Some(chosen.as_str()),
            Effort::Settings | Effort::Default => None,
        };
        match (chosen, usual) {
            (Some(chosen), _) if chosen == level => false,
            (None, Some(usual)) if usual == level => false,
            (None, None) => {
                self.usual_efforts.insert(running.to_owned(), level.to_owned());
                false
            }
            (Some(_), Some(usual)) if usual == level => {
                self.effort = Effort::Settings;
                true
            }
            (Some(_), _) | (None, Some(_)) => {
                self.effort = Effort::Level(level.to_owned());
                true
            }
        }
    }
}

/// What a state of fast mode means, if it is one that we know.
pub(super) fn is_fast(state: Option<&str>) -> Option<bool> {
    match state? {
        // A pause after a rate limit ends by itself.
        "on" | "cooldown" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Why fast mode is off; stands beside its state.
fn fast_reason(extra: &Map<String, Value>) -> Option<&str> {
    extra.get("fast_mode_disabled_reason").and_then(Value::as_str)
}
