//! The config options of a session: mode, model, effort, fast mode and agent; what is offered, what is chosen.
//!
//! Place in the flow: made from Claude's `initialize` response and `get_settings`. `session/set_config_option` is checked
//! by [`Options::change`]; each request that Claude takes is reported to [`Options::applied`]; whatever Claude tells of
//! its own accord to the `observed_` methods, which say whether the client must hear of it. Pure: it sends nothing, and
//! the mode belongs to the session and is only shown here.
//!
//! What the real Claude (2.1.318) does, since none of it is written down elsewhere:
//! - `effortLevel` in `apply_flag_settings` works at once, follows a change of model, and null goes to the model's own
//!   level, passing over settings files. `CLAUDE_CODE_EFFORT_LEVEL` beats it without an error. Only `get_settings` tells
//!   the level in use; `/effort` changes it without any other sign.
//! - `fastMode` works through that request or `--settings` alone; in a settings file it is ignored. On a model without
//!   fast mode its state is `off` without a reason, and comes back with the next model that has it.
//! - `agent` changes tools at once, but the system prompt only up to the first prompt of a conversation, unless
//!   `initialize` said `systemPromptSnapshot: false`. An agent with a model of its own changes the model, unless one was
//!   chosen. An unknown agent is an error there, and ignored silently at the start. The transcript keeps the agent, so a
//!   resumed session has it again, but not that it was taken back.
//! - A model that was chosen is not kept in the transcript. `--model=default` beats the settings' model; null in
//!   `set_model` is Claude Code's default, not the settings'.
//! - In plan mode `haiku` and `opusplan` work with a larger model. `system/init` and `get_settings` go on naming the usual
//!   one; only assistant messages show it, and so their model is not to be reported here.
//! - `availableModels` already takes models from the `initialize` response, which holds no row for an entry like
//!   `opus[1m]`; `set_model` refuses the others. A model of the settings that is no alias has a row of its own.
//! - Built-in and custom agents look alike in the `initialize` response; only their names tell.

mod agents;
mod change;
mod facts;
mod models;
mod name;
mod observe;
mod offer;
mod saved;
mod view;
mod wording;

use std::collections::BTreeMap;

use acp_proto::schema;
use claude_sdk_bridge::messages::control::InitializeResponse;
use permission_core::PermissionMode;

use agents::Agents;
use change::FlagSetting;
use models::{DEFAULT, Models};
use view::{OptionId, View};

pub(crate) use change::{Change, OptionError, Request};
pub(crate) use facts::{SettingsFacts, Switches};
pub(crate) use observe::Seen;
pub(crate) use saved::Saved;

/// The values of a switch that is shown as a list.
const ON: &str = "on";
const OFF: &str = "off";

/// The options of one session.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    models: Models,
    /// The model that ran when the process had been started.
    first_run: Option<String>,
    agents: Agents,
    switches: Switches,
    /// The effort that settings ask for, by the full name of the model.
    configured_efforts: BTreeMap<String, String>,
    /// The effort that Claude used when none was chosen, by the full name of the model.
    usual_efforts: BTreeMap<String, String>,
    model: Held<String>,
    effort: Effort,
    fast: Held<bool>,
    agent: Held<Option<String>>,
    /// An agent was just changed, which may bring its own model along.
    agent_brings_model: bool,
}

/// The modes of the session, which keeps them itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes<'a> {
    pub(crate) current: PermissionMode,
    pub(crate) offered: &'a [PermissionMode],
}

/// A value, and whether it has to survive the process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held<T> {
    /// As Claude started with it.
    Found(T),
    /// As somebody chose it in this session.
    Chosen(T),
}

/// The effort.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Effort {
    /// Nobody chose: the settings decide, for each model anew.
    Settings,
    /// The model's own was chosen.
    Default,
    /// A level was chosen. It stays when a model lacks it, until Claude was told to go back.
    Level(String),
}

impl Options {
    /// The options of a session whose process has just been started.
    pub(crate) fn new(info: &InitializeResponse, facts: SettingsFacts, switches: Switches) -> Self {
        let models = Models::new(info, &facts);
        let model = starting_model(&models, &facts);
        let first_run = facts.model_in_use;
        let usual = first_run.clone().zip(facts.effort_in_use);
        Self {
            first_run,
            agents: Agents::new(info),
            switches,
            configured_efforts: facts.efforts,
            usual_efforts: usual.into_iter().collect(),
            model: Held::Found(model),
            effort: Effort::Settings,
            fast: Held::Found(observe::is_fast(info.fast_mode_state.as_str()) == Some(true)),
            agent: Held::Found(facts.agent),
            agent_brings_model: false,
            models,
        }
    }

    /// All options, as a client takes them.
    pub(crate) fn list(&self, modes: Modes<'_>) -> Vec<schema::SessionConfigOption> {
        self.views(modes).map(|view| view.to_schema()).collect()
    }

    /// What a client's choice asks of Claude. Nothing changes before [`Options::applied`].
    ///
    /// # Errors
    /// When the session has no such option, or the option no such value; the error names what there is.
    pub(crate) fn change(
        &self,
        id: &str,
        value: &schema::SessionConfigOptionValue,
        modes: Modes<'_>,
    ) -> Result<Change, OptionError> {
        let Some(view) = self.views(modes).find(|view| view.id.wire() == id) else {
            return Err(OptionError::UnknownOption {
                id: id.chars().take(100).collect(),
                choices: change::Choices(self.views(modes).map(|view| view.id.wire().to_owned()).collect()),
            });
        };
        let or_default = |value: &str| Some(value.to_owned()).filter(|value| value != DEFAULT);
        let request = match view.id {
            OptionId::Mode => {
                let choice = view.choice(value)?;
                let mode = PermissionMode::from_wire_id(choice).ok_or_else(|| view.no_choice(choice))?;
                Request::SetMode(mode)
            }
            OptionId::Model => return self.change_model(&view, value),
            OptionId::Effort => {
                Request::ApplyFlagSettings(FlagSetting::Effort(or_default(view.choice(value)?)))
            }
            OptionId::Fast => Request::ApplyFlagSettings(FlagSetting::Fast(match self.switches {
                Switches::AsBoolean => view.boolean(value)?,
                Switches::AsSelect => view.choice(value)? == ON,
            })),
            OptionId::Agent => {
                Request::ApplyFlagSettings(FlagSetting::Agent(or_default(view.choice(value)?)))
            }
        };
        Ok(Change { request, then: None })
    }

    /// Takes note of a request that Claude has taken.
    pub(crate) fn applied(&mut self, request: &Request) {
        match request {
            Request::SetMode(_) => {}
            Request::SetModel(model) => {
                let value = model.as_deref().unwrap_or(DEFAULT);
                self.model = Held::Chosen(value.to_owned());
            }
            Request::ApplyFlagSettings(FlagSetting::Effort(Some(level))) => {
                self.effort = Effort::Level(level.clone());
            }
            Request::ApplyFlagSettings(FlagSetting::Effort(None)) => {
                self.effort = Effort::Default;
                // What was usual came from the settings, which count no more.
                self.usual_efforts.clear();
            }
            Request::ApplyFlagSettings(FlagSetting::Fast(on)) => self.fast = Held::Chosen(*on),
            Request::ApplyFlagSettings(FlagSetting::Agent(agent)) => {
                self.agent = Held::Chosen(agent.clone());
                self.agent_brings_model = matches!(self.model, Held::Found(_));
            }
        }
    }

    /// What has to be asked of Claude after a change that it made itself: an effort that the model does not have goes
    /// back to the default.
    pub(crate) fn repair(&self) -> Option<Request> {
        self.effort_fallback(self.model.value())
    }

    /// The value of the option `model`.
    pub(crate) fn model(&self) -> &str {
        self.model.value()
    }

    /// Whether a model has the mode `auto`; `None` for one that Claude does not list.
    pub(crate) fn supports_auto(&self, model: &str) -> Option<bool> {
        self.models.abilities(model).map(|abilities| abilities.auto)
    }

    fn change_model(
        &self,
        view: &View,
        value: &schema::SessionConfigOptionValue,
    ) -> Result<Change, OptionError> {
        let text = view.text(value)?;
        let model = match view.choice(value) {
            Ok(choice) => choice,
            Err(refusal) => self
                .models
                .resolve(text)
                .map(|model| model.value.as_str())
                .ok_or(refusal)?,
        };
        Ok(Change {
            request: Request::SetModel(Some(model.to_owned()).filter(|model| model != DEFAULT)),
            then: self.effort_fallback(model),
        })
    }

    /// The way back from an effort that `model` is known not to have.
    fn effort_fallback(&self, model: &str) -> Option<Request> {
        let Effort::Level(level) = &self.effort else {
            return None;
        };
        let lacks = !self.models.abilities(model)?.efforts.contains(level);
        lacks.then_some(Request::ApplyFlagSettings(FlagSetting::Effort(None)))
    }
}

impl<T: Clone> Held<T> {
    fn value(&self) -> &T {
        match self {
            Self::Found(value) | Self::Chosen(value) => value,
        }
    }

    fn chosen(&self) -> Option<T> {
        match self {
            Self::Found(_) => None,
            Self::Chosen(value) => Some(value.clone()),
        }
    }
}

/// The value of the option `model` before anybody chose: what the settings name if that is what runs, else what runs. A
/// name that is not on offer gives way to the default that runs it.
fn starting_model(models: &Models, facts: &SettingsFacts) -> String {
    let value_of = |name: &String| models.resolve(name).map_or(name, |model| &model.value).clone();
    let named = facts.model.as_ref().map(value_of);
    let Some(running) = &facts.model_in_use else {
        return named.unwrap_or_else(|| DEFAULT.to_owned());
    };
    let offered = |value: &String| models.get(value).is_some() || !models.run(DEFAULT, running);
    let named = named.filter(offered);
    let listed = || {
        models
            .running(running)
            .map_or(running, |model| &model.value)
            .clone()
    };
    named
        .into_iter()
        .chain([DEFAULT.to_owned()])
        .find(|value| models.run(value, running))
        .unwrap_or_else(listed)
}

#[cfg(test)]
mod tests;
