//! The choices of a session, for its next process.
//!
//! Place in the flow: `Options::carry` writes them, `Options::restore` takes them back, and [`Saved::relaunch`] turns
//! them into what a new process is started with. What nobody chose is not here: settings decide it again.

use claude_sdk_bridge::launch::LaunchOptions;
use serde::{Deserialize, Serialize};

use super::change::{FlagSetting, Request};
use super::models::DEFAULT;
use super::view::OptionId;
use super::{Effort, Held, OptionError, Options};

/// The choices. `default` is a choice too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Saved {
    pub(super) model: Option<String>,
    pub(super) effort: Option<String>,
    pub(super) fast: Option<bool>,
    pub(super) agent: Option<String>,
}

/// What a new process is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relaunch {
    model: Option<String>,
    effort: Option<String>,
    agent: Option<String>,
    /// What no flag can say: to be sent after `initialize` and before the first prompt.
    pub(crate) then: Vec<Request>,
}

impl Options {
    /// The choices, for the next process.
    pub(crate) fn carry(&self) -> Saved {
        let or_default = |value: Option<String>| value.unwrap_or_else(|| DEFAULT.to_owned());
        Saved {
            model: self.model.chosen(),
            effort: match &self.effort {
                Effort::Settings => None,
                Effort::Default => Some(DEFAULT.to_owned()),
                Effort::Level(level) => Some(level.clone()),
            },
            fast: self.fast.chosen(),
            agent: self.agent.chosen().map(or_default),
        }
    }

    /// Takes the choices that the process was started with. An agent that is gone was passed over by Claude.
    pub(crate) fn restore(&mut self, saved: Saved) {
        if let Some(model) = saved.model {
            let known = self.models.resolve(&model).map(|known| known.value.clone());
            let value = known.unwrap_or(model);
            if let Some(running) = &self.first_run {
                self.models.learn(&value, running);
            }
            self.model = Held::Chosen(value);
        }
        match saved.effort {
            None => {}
            Some(level) if level == DEFAULT => {
                self.effort = Effort::Default;
                self.usual_efforts.clear();
            }
            Some(level) => {
                self.effort = Effort::Level(level);
                // What was in use at the start was this choice.
                self.usual_efforts.clear();
            }
        }
        if let Some(on) = saved.fast {
            self.fast = Held::Chosen(on);
        }
        match saved.agent {
            Some(agent) if agent == DEFAULT => self.agent = Held::Chosen(None),
            Some(agent) if self.agents.exists(&agent) => self.agent = Held::Chosen(Some(agent)),
            Some(_) | None => {}
        }
    }

    /// Takes what a client asked for at `session/new`, when nobody could tell yet what there is. What Claude passes over in
    /// silence is refused.
    ///
    /// # Errors
    /// When there is no such model, effort or agent.
    pub(crate) fn asked(&mut self, asked: &LaunchOptions) -> Result<(), OptionError> {
        let mut chosen = Saved::default();
        if let Some(model) = &asked.model {
            chosen.model = self.models.get(model).map(|model| model.value.clone());
            if chosen.model.is_none() && self.models.restricted() {
                return Err(OptionError::unknown(OptionId::Model, model, self.models.values()));
            }
        }
        if let Some(level) = &asked.effort {
            let levels = self.models.efforts();
            if !levels.is_empty() && !levels.contains(level) {
                return Err(OptionError::unknown(OptionId::Effort, level, levels));
            }
            chosen.effort = Some(level.clone());
        }
        if let Some(agent) = &asked.agent {
            if !self.agents.exists(agent) {
                return Err(OptionError::unknown(OptionId::Agent, agent, self.agents.names()));
            }
            chosen.agent = Some(agent.clone());
        }
        self.restore(chosen);
        Ok(())
    }

    /// What a new process has to be started with, so that it has the same options.
    pub(crate) fn relaunch(&self) -> Relaunch {
        self.carry().relaunch()
    }
}

impl Saved {
    /// Without what the options of a process say anyway.
    pub(crate) fn unless(mut self, options: &LaunchOptions) -> Self {
        self.model.take_if(|_| options.model.is_some());
        self.effort.take_if(|_| options.effort.is_some());
        self.agent.take_if(|_| options.agent.is_some());
        self
    }

    /// What a new process is started with, so that it has these choices.
    pub(crate) fn relaunch(&self) -> Relaunch {
        let chosen = |value: &Option<String>| value.clone().filter(|value| value != DEFAULT);
        let back_to_default = |value: &Option<String>| value.as_deref() == Some(DEFAULT);
        let mut then = Vec::new();
        // A transcript brings its agent back, and settings theirs; no flag says that none is to lead.
        if back_to_default(&self.agent) {
            then.push(FlagSetting::Agent(None));
        }
        if back_to_default(&self.effort) {
            then.push(FlagSetting::Effort(None));
        }
        if let Some(on) = self.fast {
            then.push(FlagSetting::Fast(on));
        }
        Relaunch {
            // Here the default is said aloud: it would otherwise give way to settings and environment.
            model: self.model.clone(),
            effort: chosen(&self.effort),
            agent: chosen(&self.agent),
            then: then.into_iter().map(Request::ApplyFlagSettings).collect(),
        }
    }
}

impl Relaunch {
    /// Writes into the options of the process; what was not chosen stays as it is there.
    pub(crate) fn apply(&self, options: &mut LaunchOptions) {
        for (chosen, option) in [
            (&self.model, &mut options.model),
            (&self.effort, &mut options.effort),
            (&self.agent, &mut options.agent),
        ] {
            if chosen.is_some() {
                option.clone_from(chosen);
            }
        }
    }
}
