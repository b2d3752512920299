//! Doing what the parts and the turn machine decide.

use claude_sdk_bridge::backend::Exit;
use claude_sdk_bridge::messages::control::{ControlRequest, Interrupt};
use claude_sdk_bridge::query::ControlError;
use serde_json::Value;
use tokio::time::Instant;

use super::{Actor, DRAIN_LIMIT, Life};
use crate::session::answers::Cause;
use crate::session::choices::Choices;
use crate::session::effect::{Effect, Purpose};
use crate::session::process::EndBy;
use crate::session::questions::{Context, Questions};
use crate::session::start::Told;
use crate::translate::SettleReason;
use crate::turn::{self, Event, Generation, Outcome, PromptId};

impl Actor {
    /// Lets the turn machine decide about an event, and does what it says.
    pub(super) fn dispatch(&mut self, event: Event) {
        self.dispatch_because(event, Cause::None);
    }

    /// The same, with what there is to say to a prompt that the event ends.
    pub(super) fn dispatch_because(&mut self, event: Event, cause: Cause<'_>) {
        for effect in self.turn.on(event) {
            match effect {
                turn::Effect::Launch(generation) => {
                    let options = self.choices.launch();
                    self.process.launch(generation, options);
                }
                turn::Effect::LaunchFresh(generation) => {
                    let options = self.choices.launch();
                    self.process.launch_fresh(generation, options);
                }
                turn::Effect::AbortLaunch => self.process.abort_launch(),
                turn::Effect::Send(prompt) => self.send_prompt(prompt),
                turn::Effect::Interrupt => self.interrupt(),
                turn::Effect::ArmEscalation => {
                    let patience = self.process.origin().timings.escalation;
                    self.escalation = Some(Instant::now() + patience);
                }
                turn::Effect::DisarmEscalation => self.escalation = None,
                turn::Effect::WithdrawAsks => self.question(Questions::withdraw_all),
                turn::Effect::Kill => self.process.end(EndBy::Force),
                turn::Effect::Retire => self.process.end(EndBy::Closing { turn_running: false }),
                turn::Effect::Shutdown { turn_running } => {
                    self.outlet.end();
                    self.life = if self.process.shut_down(turn_running) {
                        Life::Ending
                    } else {
                        Life::Draining(Instant::now() + DRAIN_LIMIT)
                    };
                }
                turn::Effect::Hold(prompt) => {
                    self.prompts.hold(prompt, cause, &self.process.origin().login);
                }
                turn::Effect::Answer(prompt, outcome) => self.answer_prompt(prompt, outcome, cause),
            }
        }
    }

    /// Does what a part says.
    pub(super) fn perform(&mut self, effects: impl IntoIterator<Item = Effect>) {
        for effect in effects {
            match effect {
                Effect::Update(update) => self.outlet.show([*update]),
                Effect::Request(line) => self.outlet.send(line),
                Effect::Answer(answer) => self.outlet.then(answer),
                Effect::Reply(control, reply) => self.process.reply(&control, reply),
                Effect::Call(request, purpose) => self.call(request, purpose),
                Effect::Turn(event) => self.dispatch(event),
                Effect::Kill => self.process.end(EndBy::Force),
            }
        }
    }

    /// Has the choices decide.
    pub(super) fn choose(&mut self, choose: impl FnOnce(&mut Choices) -> Vec<Effect>) {
        let effects = choose(&mut self.choices);
        self.keeper.begun(self.process.conversation());
        self.keeper
            .chosen(self.choices.modes().current(), self.choices.saved());
        self.perform(effects);
    }

    /// Has the questions decide, with the rest of the session beside them.
    pub(super) fn question(&mut self, question: impl FnOnce(&mut Questions, Context<'_>) -> Vec<Effect>) {
        let session = Context {
            turn: &self.turn,
            prompts: &mut self.prompts,
            choices: &mut self.choices,
            translator: &mut self.translator,
            meter: &self.meter,
        };
        let effects = question(&mut self.questions, session);
        self.perform(effects);
    }

    /// Takes the answer to a control request of ours, or that there is none.
    pub(super) fn called(&mut self, purpose: Purpose, answer: Result<Value, ControlError>) {
        match purpose {
            Purpose::Interrupt(generation) => match answer {
                Ok(response) => self.dispatch(Event::Dequeued(generation, dequeued(&response))),
                // A process that does not take the interrupt is ended by the escalation clock.
                Err(error) => tracing::debug!(%error, "interrupt failed"),
            },
            Purpose::Mode(mode, waiter) => self.choose(|choices| choices.mode_set(mode, waiter, answer)),
            Purpose::Choice(request, then, waiter) => {
                self.choose(|choices| choices.applied(&request, then, waiter, answer));
            }
            Purpose::Settings => {
                if let Ok(told) = answer {
                    self.questions.settings_told(&told);
                    self.choose(|choices| choices.settings_told(&told));
                }
            }
            Purpose::ShellLines => {
                if let Err(error) = answer {
                    tracing::error!(%error, "claude lets shell lines of commands run, and is ended");
                    self.process.end(EndBy::Force);
                }
            }
            Purpose::Window => self.outlet.show(self.meter.window_told(answer.ok().as_ref())),
            Purpose::Servers(control, callback) => self.question(|questions, session| {
                questions.servers_told(control, callback, answer.ok().as_ref(), session)
            }),
            Purpose::Plan(control, asked) => self.question(|questions, session| {
                questions.plan_read(control, &asked, answer.ok().as_ref(), session)
            }),
        }
    }

    /// A process is ready, and the session's from here on; with it the plan that it was started for.
    pub(super) fn launched(&mut self, generation: Generation, told: &Told) {
        self.questions.settings_told(&told.settings);
        self.choices.restore(told);
        if let Some(plan) = self.choices.take_plan() {
            self.choose(|choices| choices.mode_changed(plan.mode));
            self.outlet.show(self.meter.reset_context());
            self.prompts.become_plan(&plan.text);
        }
        self.choose(|choices| choices.agree(told));
        self.dispatch(Event::Launched(generation));
    }

    /// The process is gone, wanted or not.
    pub(super) fn process_gone(&mut self, generation: Generation, exit: &Exit) {
        self.process.gone();
        self.questions.process_gone();
        if matches!(self.life, Life::Ending) {
            self.life = Life::Draining(Instant::now() + DRAIN_LIMIT);
        }
        self.dispatch_because(Event::Ended(generation), Cause::Exit(exit));
    }

    fn call(&mut self, request: ControlRequest, purpose: Purpose) {
        let kind = request.kind().unwrap_or_default().to_owned();
        if let Some(purpose) = self.process.call(request, purpose) {
            self.called(purpose, Err(ControlError::Ended { kind }));
        }
    }

    fn send_prompt(&mut self, id: PromptId) {
        let Some((message, first)) = self.prompts.send(id) else {
            return;
        };
        // A process that takes no input is about to end, and its end answers the prompt.
        if let Err(error) = self.process.send(message) {
            tracing::warn!(%error, "prompt not delivered to claude");
        }
        if first {
            self.outlet.show(self.translator.prompted());
        }
    }

    /// Asks Claude to stop, and to forget a prompt that it has only queued.
    fn interrupt(&mut self) {
        let Some(generation) = self.process.generation() else {
            return;
        };
        let request = ControlRequest::Interrupt(Interrupt {
            cancel_queued: true.into(),
            ..Interrupt::default()
        });
        self.call(request, Purpose::Interrupt(generation));
    }

    fn answer_prompt(&mut self, id: PromptId, outcome: Outcome, cause: Cause<'_>) {
        let login = &self.process.origin().login;
        let Some((sent, answer)) = self.prompts.answer(id, outcome, cause, login) else {
            return;
        };
        if sent {
            self.choices.take_plan();
            self.outlet
                .show(self.translator.settle_open(settle_reason(outcome)));
        }
        self.perform(answer);
    }
}

/// What becomes of tool calls that have no result when their prompt is answered.
fn settle_reason(outcome: Outcome) -> SettleReason {
    match outcome {
        Outcome::Finished | Outcome::NoResult => SettleReason::TurnEnded,
        Outcome::Cancelled => SettleReason::Cancelled,
        Outcome::Died | Outcome::LaunchFailed | Outcome::QueueFull | Outcome::Closed => {
            SettleReason::ProcessDied
        }
    }
}

/// The prompts that Claude threw out of its queue when it was interrupted.
fn dequeued(response: &Value) -> Vec<PromptId> {
    let uuids = response.get("cancelled").and_then(Value::as_array);
    let uuids = uuids.into_iter().flatten().filter_map(Value::as_str);
    uuids.filter_map(PromptId::parse).collect()
}
