//! Mode and config options: what the client chooses, what Claude changes by itself, what the settings files bring.
//!
//! Every change ends the same way: Claude has it, the client is told (the mode first, then the options), and only then is
//! whoever asked for it answered. What may be chosen is decided by `modes` and `options`.

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::{
    messages::control::{ControlRequest, SetPermissionMode},
    query::ControlError,
};
use permission_core::PermissionMode;
use serde_json::{Value, json};

use super::{
    Reply,
    actor::{Actor, Claude},
    control::CallDone,
    settings,
};
use crate::{
    modes::NO_AUTO,
    options::{self, OptionError, Request, Seen},
    translate,
    turn::Event,
};

/// Who waits for a change.
pub(super) enum Waiter {
    Nobody,
    Mode(Reply<()>),
    Options(Reply<Vec<schema::SessionConfigOption>>),
}

impl Actor {
    /// All config options with their values.
    pub(super) fn option_list(&self) -> Vec<schema::SessionConfigOption> {
        self.options.list(options::Modes {
            current: self.modes.current(),
            offered: &self.modes.offered(),
        })
    }

    /// The client chooses a mode by its id.
    pub(super) fn choose_mode(&mut self, id: &str, waiter: Waiter) {
        match self.modes.requested(id) {
            Ok(mode) => self.set_mode(mode, waiter),
            Err(error) => waiter.refuse(errors::invalid_params(
                error.to_string(),
                Some(json!({"modeId": id})),
            )),
        }
    }

    /// The client chooses a value of an option.
    pub(super) fn choose_option(
        &mut self,
        id: &str,
        value: &schema::SessionConfigOptionValue,
        waiter: Waiter,
    ) {
        let offered = self.modes.offered();
        let modes = options::Modes {
            current: self.modes.current(),
            offered: &offered,
        };
        match self.options.change(id, value, modes) {
            Ok(change) => self.request(change.request, change.then, waiter),
            Err(error) => waiter.refuse(option_error(id, &error)),
        }
    }

    /// Changes the mode of the running process, or of the one to come.
    pub(super) fn set_mode(&mut self, mode: PermissionMode, waiter: Waiter) {
        if let Some(hand_off) = &mut self.hand_off {
            // What is chosen while a plan is on its way holds where it is carried out.
            hand_off.mode = mode;
        }
        let Some(query) = self.query() else {
            self.mode_changed(mode);
            return self.done(waiter);
        };
        let call = query.request(ControlRequest::SetPermissionMode(SetPermissionMode::to(
            self.modes.choose(mode).wire_id(),
        )));
        self.calls.push(Box::pin(
            async move { CallDone::ModeSet(mode, waiter, call.await) },
        ));
    }

    /// Claude has taken a mode, or has not.
    pub(super) fn mode_set(
        &mut self,
        mode: PermissionMode,
        waiter: Waiter,
        answer: Result<Value, ControlError>,
    ) {
        self.modes.chosen();
        match answer {
            Ok(_) => {
                self.mode_changed(mode);
                self.done(waiter);
            }
            // The next process is started in it.
            Err(error) if error.is_the_end() => {
                self.mode_changed(mode);
                self.done(waiter);
            }
            Err(error) => {
                tracing::warn!(%error, %mode, "claude did not take the mode");
                let text = format!("Claude did not change to the mode `{mode}`: {error}");
                waiter.refuse(errors::internal(text, None));
            }
        }
    }

    /// Claude tells the mode that it is in.
    pub(super) fn mode_told(&mut self, mode: PermissionMode) {
        self.mode_changed(self.modes.by_claude(mode));
    }

    /// Notes the mode of the session, and tells the client if it is a new one.
    pub(super) fn mode_changed(&mut self, mode: PermissionMode) {
        if self.modes.set(mode) {
            self.update(self.modes.update());
            self.options_changed();
            self.dispatch(Event::Suits(self.modes.suit_process()));
        }
    }

    /// Tells the client of the options as they are now.
    pub(super) fn options_changed(&mut self) {
        let update = schema::ConfigOptionUpdate::new(self.option_list());
        self.update(schema::SessionUpdate::ConfigOptionUpdate(update));
    }

    /// Claude has taken a choice, or has not.
    pub(super) fn applied(
        &mut self,
        request: &Request,
        then: Option<Request>,
        waiter: Waiter,
        answer: Result<Value, ControlError>,
    ) {
        match answer {
            Ok(answer) => {
                self.options.applied(request);
                if let Some(model) = answer.get("model").and_then(Value::as_str) {
                    self.options.answered_model(model);
                }
                if request.needs_settings() {
                    self.read_settings();
                }
                self.after(then, waiter);
            }
            // The next process is started with it.
            Err(error) if error.is_the_end() => {
                self.options.applied(request);
                self.after(then, waiter);
            }
            Err(error) => waiter.refuse(errors::internal(
                format!("Claude did not take the choice: {error}"),
                None,
            )),
        }
    }

    /// Claude told what its settings come to.
    pub(super) fn settings_read(&mut self, answer: Result<Value, ControlError>) {
        if let Ok(answer) = &answer {
            self.guard.settings_told(answer);
        }
        if let Ok(answer) = answer
            && self.options.observed_settings(&answer)
        {
            self.options_changed();
            self.model_learned();
        }
    }

    /// Claude told of its options by the way.
    pub(super) fn observed(&mut self, seen: Seen) {
        if let Some(warning) = seen.warning {
            self.update(translate::warning(&warning));
        }
        if seen.changed {
            self.options_changed();
            self.model_learned();
            if let Some(repair) = self.options.repair() {
                self.request(repair, None, Waiter::Nobody);
            }
        }
    }

    /// The current model may have taken a mode away, or brought one.
    pub(super) fn model_learned(&mut self) {
        let before = self.modes.offered();
        let auto = self.options.supports_auto(self.options.model());
        if self.modes.model_learned(auto) {
            self.update(translate::warning(NO_AUTO));
            self.set_mode(PermissionMode::AcceptEdits, Waiter::Nobody);
        } else if self.announce_after.is_none() && before != self.modes.offered() {
            self.options_changed();
        }
    }

    /// The settings files have changed.
    pub(super) fn settings_changed(&mut self) {
        let settings = settings::effective(self.watch.as_ref(), self.origin.policy.as_deref());
        let before = self.modes.offered();
        for problem in self.modes.settings_changed(settings) {
            self.update(translate::warning(&problem.to_string()));
        }
        if before != self.modes.offered() {
            self.options_changed();
        }
    }

    fn request(&mut self, request: Request, then: Option<Request>, waiter: Waiter) {
        if let Request::SetMode(mode) = request {
            return self.set_mode(mode, waiter);
        }
        match self.query() {
            Some(query) => {
                let call = query.request(request.to_control());
                self.calls.push(Box::pin(async move {
                    CallDone::Applied(request, then, waiter, call.await)
                }));
            }
            // The next process is started with it, or told before it gets a prompt.
            None => {
                self.options.applied(&request);
                if let Claude::Starting(_, _, choices) = &mut self.claude {
                    choices.push(request);
                }
                self.after(then, waiter);
            }
        }
    }

    fn after(&mut self, then: Option<Request>, waiter: Waiter) {
        match then {
            Some(next) => self.request(next, None, waiter),
            None => {
                self.model_learned();
                self.done(waiter);
            }
        }
    }

    /// Asks Claude what its settings come to.
    pub(super) fn read_settings(&mut self) {
        let Some(query) = self.query() else { return };
        let call = query.request(ControlRequest::GetSettings(Default::default()));
        self.calls
            .push(Box::pin(async move { CallDone::SettingsRead(call.await) }));
    }

    /// Answers whoever waits, after everything that was queued for the client before.
    fn done(&mut self, waiter: Waiter) {
        match waiter {
            Waiter::Nobody => {}
            // A client that has gone does not want the answer any more.
            Waiter::Mode(reply) => self.outbox.then(move || drop(reply.send(Ok(())))),
            Waiter::Options(reply) => {
                let list = self.option_list();
                self.outbox.then(move || drop(reply.send(Ok(list))));
            }
        }
    }
}

impl Waiter {
    fn refuse(self, error: RpcError) {
        match self {
            Waiter::Nobody => tracing::warn!(%error, "a change that nobody asked for did not work"),
            Waiter::Mode(reply) => drop(reply.send(Err(error))),
            Waiter::Options(reply) => drop(reply.send(Err(error))),
        }
    }
}

fn option_error(id: &str, error: &OptionError) -> RpcError {
    errors::invalid_params(error.to_string(), Some(json!({"configId": id})))
}
