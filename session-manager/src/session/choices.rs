//! What is chosen for a session: mode and config options, by the client, by Claude itself and by settings files; what is
//! granted, and a plan that is approved for a fresh process.
//!
//! Every change ends the same way: Claude has it, the client is told (the mode first, then the options), and only then is
//! whoever asked for it answered. What may be chosen is decided by `modes` and `options`.

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::launch::LaunchOptions;
use claude_sdk_bridge::messages::control::{ControlRequest, SetPermissionMode};
use claude_sdk_bridge::messages::{Message, SystemEvent};
use claude_sdk_bridge::query::ControlError;
use permission_core::rules::RuleSet;
use permission_core::{PermissionMode, Settlement};
use serde_json::{Value, json};

use super::Reply;
use super::effect::{Effect, Purpose};
use super::grants::Grants;
use super::settings::{Settings, ShellLines};
use super::start::Told;
use crate::modes::{Modes, NO_AUTO};
use crate::options::{self, Options, Request, Saved, Seen, SettingsFacts, Switches};
use crate::translate;
use crate::turn::Event;

/// Who waits for a change, and is told all options then.
pub(super) type Waiter = Option<Reply<Vec<schema::SessionConfigOption>>>;

/// The choices of one session.
pub(super) struct Choices {
    modes: Modes,
    options: Options,
    grants: Grants,
    settings: Settings,
    shell_lines: ShellLines,
    /// What every process is started with, beside what was chosen.
    launch: LaunchOptions,
    /// How the client shows a switch.
    switches: Switches,
    /// The plan that is on its way to a fresh process.
    plan: Option<ApprovedPlan>,
}

/// An approved plan, and how it is to be carried out.
pub(super) struct ApprovedPlan {
    /// The mode of the fresh process.
    pub(super) mode: PermissionMode,
    /// The complete plan.
    pub(super) text: String,
}

impl Choices {
    /// The choices that a session starts with.
    pub(super) fn new(
        (modes, options): (Modes, Options),
        settings: Settings,
        launch: LaunchOptions,
        switches: Switches,
    ) -> Self {
        Self {
            modes,
            options,
            grants: Grants::default(),
            shell_lines: settings.shell_lines(&launch),
            settings,
            launch,
            switches,
            plan: None,
        }
    }

    /// The chosen options, for when the session is opened again.
    pub(super) fn saved(&self) -> Saved {
        self.options.carry()
    }

    /// The modes, to be read.
    pub(super) fn modes(&self) -> &Modes {
        &self.modes
    }

    /// All config options with their values.
    pub(super) fn options(&self) -> Vec<schema::SessionConfigOption> {
        self.options.list(options::Modes {
            current: self.modes.current(),
            offered: &self.modes.offered(),
        })
    }

    /// The rules of the settings and of the session. Directories that were granted are added to these.
    pub(super) fn rules(&self, directories: &mut Vec<String>) -> RuleSet {
        let mut rules = self.modes.rules();
        self.grants.add_to(&mut rules, directories);
        rules
    }

    /// The client chooses a mode by its id.
    pub(super) fn choose_mode(&mut self, id: &str, waiter: Waiter) -> Vec<Effect> {
        match self.modes.requested(id) {
            Ok(mode) => self.set_mode(mode, waiter),
            Err(error) => refuse(
                waiter,
                errors::invalid_params(error.to_string(), Some(json!({"modeId": id}))),
            ),
        }
    }

    /// The client chooses a value of an option.
    pub(super) fn choose_option(
        &mut self,
        id: &str,
        value: &schema::SessionConfigOptionValue,
        waiter: Waiter,
    ) -> Vec<Effect> {
        let modes = options::Modes {
            current: self.modes.current(),
            offered: &self.modes.offered(),
        };
        match self.options.change(id, value, modes) {
            Ok(change) => self.request(change.request, change.then, waiter),
            Err(error) => refuse(
                waiter,
                errors::invalid_params(error.to_string(), Some(json!({"configId": id}))),
            ),
        }
    }

    /// Claude has taken a mode, or has not. The next process is started in what this one did not live to take.
    pub(super) fn mode_set(
        &mut self,
        mode: PermissionMode,
        waiter: Waiter,
        answer: Result<Value, ControlError>,
    ) -> Vec<Effect> {
        let told = answer
            .as_ref()
            .ok()
            .and_then(|answer| answer.get("mode")?.as_str());
        let in_force = self.modes.answered(mode, told);
        match answer {
            Err(error) if !error.is_the_end() => {
                tracing::warn!(%error, %mode, "claude did not take the mode");
                let text = format!("Claude did not change to the mode `{mode}`: {error}");
                refuse(waiter, errors::internal(text, None))
            }
            Ok(_) | Err(_) => {
                let mut effects = self.mode_changed(in_force);
                effects.extend(self.done(waiter));
                effects
            }
        }
    }

    /// Notes the mode of the session, and tells the client if it is a new one.
    pub(super) fn mode_changed(&mut self, mode: PermissionMode) -> Vec<Effect> {
        if !self.modes.set(mode) {
            return Vec::new();
        }
        let told = [
            Effect::update(self.modes.update()),
            self.options_changed(),
            Effect::Turn(Event::Suits(self.modes.suit_process())),
        ];
        told.into_iter().chain(self.shell_lines.in_mode(mode)).collect()
    }

    /// Claude has taken a choice, or has not. The next process is started with what this one did not live to take.
    pub(super) fn applied(
        &mut self,
        request: &Request,
        then: Option<Request>,
        waiter: Waiter,
        answer: Result<Value, ControlError>,
    ) -> Vec<Effect> {
        let answer = match answer {
            Err(error) if !error.is_the_end() => {
                let text = format!("Claude did not take the choice: {error}");
                return refuse(waiter, errors::internal(text, None));
            }
            answer => answer.ok(),
        };
        self.options.applied(request);
        let mut effects = Vec::new();
        if let Some(answer) = answer {
            if let Some(model) = answer.get("model").and_then(Value::as_str) {
                self.options.answered_model(model);
            }
            if request.needs_settings() {
                effects.push(read_settings());
            }
        }
        effects.extend(match then {
            Some(next) => self.request(next, None, waiter),
            None => {
                let mut effects = self.model_learned();
                effects.extend(self.done(waiter));
                effects
            }
        });
        effects
    }

    /// Claude told what its settings come to.
    pub(super) fn settings_told(&mut self, told: &Value) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.options.observed_settings(told) {
            effects.push(self.options_changed());
            effects.extend(self.model_learned());
        }
        effects
    }

    /// What Claude tells of mode and options by the way.
    pub(super) fn message(&mut self, message: &Message) -> Vec<Effect> {
        match message {
            Message::System(system) => match &system.event {
                SystemEvent::Init(init) => {
                    let seen = self.options.observed_init(init);
                    self.seen(&seen)
                }
                SystemEvent::Status(status) => {
                    let mode = status.permission_mode.as_str();
                    match mode.and_then(PermissionMode::from_wire_id) {
                        Some(mode) => self.mode_changed(self.modes.by_claude(mode)),
                        None => Vec::new(),
                    }
                }
                _ => Vec::new(),
            },
            Message::Result(result) => {
                // `/model` and `/effort` show nowhere else.
                let settings = result.local_command.get().map(|_| read_settings());
                let seen = self.options.observed_result(result);
                settings.into_iter().chain(self.seen(&seen)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Waits until a settings file says something else. Cancel-safe.
    pub(super) async fn settings_change(&mut self) {
        self.settings.changed().await;
    }

    /// The settings files have changed.
    pub(super) fn settings_changed(&mut self) -> Vec<Effect> {
        let before = self.modes.offered();
        let problems = self.modes.settings_changed(self.settings.effective());
        let mut effects: Vec<Effect> = problems
            .iter()
            .map(|problem| warning(&problem.to_string()))
            .collect();
        effects.extend((before != self.modes.offered()).then(|| self.options_changed()));
        effects
    }

    /// The user's answer to a question leaves, with what it grants for the session.
    pub(super) fn grant(&mut self, settlement: &mut Settlement) {
        self.grants.take(&settlement.result);
        // The model may have changed since the options were made.
        if self.options.supports_auto(self.options.model()) == Some(false) {
            settlement.degrade_auto();
        }
    }

    /// The user approved a plan for a fresh process.
    pub(super) fn hand_over(&mut self, plan: ApprovedPlan) {
        self.plan = Some(plan);
    }

    /// A fresh process takes the approved plan over, or nothing comes of it any more.
    pub(super) fn take_plan(&mut self) -> Option<ApprovedPlan> {
        self.plan.take()
    }

    /// What the next process is started with, and what it is told then.
    pub(super) fn launch(&mut self) -> (LaunchOptions, Vec<Request>) {
        let mut options = self.launch.clone();
        self.settings.enforce(&mut options);
        self.grants.apply(&mut options);
        let relaunch = self.options.relaunch();
        relaunch.apply(&mut options);
        let planned = self.plan.as_ref().map(|plan| plan.mode);
        self.modes
            .launch(planned.unwrap_or(self.modes.current()), &mut options);
        (options, relaunch.then)
    }

    /// Another process is ready: it has its own models and agents, and the choices so far.
    pub(super) fn restore(&mut self, told: &Told) {
        let choices = self.options.carry();
        self.options = Options::new(&told.info, SettingsFacts::read(&told.settings), self.switches);
        self.options.restore(choices);
    }

    /// A process is ready, perhaps in a mode that a choice made meanwhile has not reached.
    pub(super) fn agree(&mut self, told: &Told) -> Vec<Effect> {
        self.shell_lines.started(&told.info);
        let mut effects: Vec<Effect> = self
            .shell_lines
            .in_mode(self.modes.current())
            .into_iter()
            .collect();
        if told.mode().is_some_and(|mode| mode != self.modes.current()) {
            effects.extend(self.set_mode(self.modes.current(), None));
        }
        effects
    }

    /// Changes the mode of the running process, or of the one to come.
    fn set_mode(&mut self, mode: PermissionMode, waiter: Waiter) -> Vec<Effect> {
        if let Some(plan) = &mut self.plan {
            // What is chosen while a plan is on its way holds where it is carried out.
            plan.mode = mode;
        }
        let request = SetPermissionMode::to(self.modes.choose(mode).wire_id());
        vec![Effect::Call(
            ControlRequest::SetPermissionMode(request),
            Purpose::Mode(mode, waiter),
        )]
    }

    fn request(&mut self, request: Request, then: Option<Request>, waiter: Waiter) -> Vec<Effect> {
        if let Request::SetMode(mode) = request {
            return self.set_mode(mode, waiter);
        }
        vec![Effect::Call(
            request.to_control(),
            Purpose::Choice(request, then, waiter),
        )]
    }

    fn seen(&mut self, seen: &Seen) -> Vec<Effect> {
        let mut effects: Vec<Effect> = seen.warning.as_deref().map(warning).into_iter().collect();
        if seen.changed {
            effects.push(self.options_changed());
            effects.extend(self.model_learned());
            if let Some(repair) = self.options.repair() {
                effects.extend(self.request(repair, None, None));
            }
        }
        effects
    }

    /// The current model may have taken a mode away, or brought one.
    fn model_learned(&mut self) -> Vec<Effect> {
        let before = self.modes.offered();
        let auto = self.options.supports_auto(self.options.model());
        if self.modes.model_learned(auto) {
            let mut effects = vec![warning(NO_AUTO)];
            effects.extend(self.set_mode(PermissionMode::AcceptEdits, None));
            effects
        } else if before != self.modes.offered() {
            vec![self.options_changed()]
        } else {
            Vec::new()
        }
    }

    /// Tells the client of the options as they are now.
    fn options_changed(&self) -> Effect {
        let update = schema::ConfigOptionUpdate::new(self.options());
        Effect::update(schema::SessionUpdate::ConfigOptionUpdate(update))
    }

    /// Answers whoever waits.
    fn done(&self, waiter: Waiter) -> Option<Effect> {
        waiter.map(|reply| Effect::answer(reply, Ok(self.options())))
    }
}

/// Asks Claude what its settings come to.
fn read_settings() -> Effect {
    Effect::Call(ControlRequest::GetSettings(Default::default()), Purpose::Settings)
}

/// A note that the user should see.
fn warning(text: &str) -> Effect {
    Effect::update(translate::warning(text))
}

fn refuse(waiter: Waiter, error: RpcError) -> Vec<Effect> {
    match waiter {
        Some(reply) => vec![Effect::answer(reply, Err(error))],
        None => {
            tracing::warn!(%error, "a change that nobody asked for did not work");
            Vec::new()
        }
    }
}
