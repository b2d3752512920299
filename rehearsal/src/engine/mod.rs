//! The state machine that plays the CLI: lines in, lines out, waits asked for. Pure: no task, no clock, no process.
//!
//! Place in the flow: `backend` and `argv` feed it what the host writes (`input`), let it play (`advance`), write out
//! what it has to say (`output`) and wait as it asks for (`Pace`). Time is an argument. One engine is one process of the CLI;
//! what outlives it is `SessionState`. Reading order: `turn` (what is played), `message` and `call` (its parts), `answers` (to
//! control requests).

mod answers;
mod call;
mod core;
mod message;
mod selection;
mod setup;
mod startup;
mod state;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::messages::control::ControlResponse;
use claude_sdk_bridge::messages::{
    CommandState, HostMessage, OutgoingUserMessage, SessionState as State, TerminalReason,
};
use serde_json::Value;

use self::call::reply::Answered;
use self::core::{Core, Prompt, merged};
use self::startup::Held;
use self::turn::end::Reported;
use self::turn::prompts::Prompts;
use self::turn::{Ending, Progress, Turn};
use crate::frames::{self, text};
use crate::script::{ExitStep, HostEvent, OnInterrupt, Script};

pub use self::setup::{Refusal, Setup};
pub use self::state::SessionState;

/// A scripted CLI process.
#[derive(Debug)]
pub struct Engine {
    core: Core,
    phase: Phase,
    /// Whether the process ends with the turn that runs.
    leaving: bool,
}

/// Something that comes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// A line of the host's, without its end.
    Line(&'a [u8]),
    /// There will be no more lines.
    EndOfInput,
    /// SIGINT.
    Interrupt,
}

/// What the engine needs next, once its output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// To go on at once.
    More,
    /// To go on at this time, or with the next input.
    Until(Duration),
    /// The next input.
    Input,
    /// Nothing any more: the process ends with this code.
    Exit(u8),
}

#[derive(Debug)]
enum Phase {
    /// Before anything is answered; what comes in waits.
    Starting {
        next: usize,
        until: Option<Duration>,
        held: Vec<Held>,
    },
    Idle,
    Playing(Box<Turn>),
    /// Deaf and dumb.
    Hung,
    Over(u8),
}

impl Engine {
    /// An engine that has not begun.
    #[must_use]
    pub fn new(script: Arc<Script>, setup: Setup, state: SessionState) -> Self {
        let phase = Phase::Starting {
            next: 0,
            until: None,
            held: Vec::new(),
        };
        Self {
            core: Core::new(script, setup, state),
            phase,
            leaving: false,
        }
    }

    /// Takes something in. `now` counts from the start of the engine.
    pub fn input(&mut self, now: Duration, input: Input<'_>) {
        self.core.out.set_now(now);
        match &mut self.phase {
            Phase::Starting { held, .. } => held.push(Held::of(input)),
            Phase::Hung | Phase::Over(_) => {}
            Phase::Idle | Phase::Playing(_) => self.take(input),
        }
    }

    /// Plays on as far as it goes at this time.
    pub fn advance(&mut self, now: Duration) -> Pace {
        self.core.out.set_now(now);
        loop {
            if self.core.out.is_full() {
                return Pace::More;
            }
            match &mut self.phase {
                Phase::Starting { .. } => {
                    if let Some(pace) = self.start() {
                        return pace;
                    }
                }
                Phase::Idle if self.core.end_of_input && !self.core.script.process.ignore_eof => {
                    self.phase = Phase::Over(u8::from(self.core.last_failed));
                }
                Phase::Idle | Phase::Hung => return Pace::Input,
                Phase::Playing(turn) => {
                    let progress = turn.advance(&mut self.core);
                    if let Some(pace) = self.progressed(progress) {
                        return pace;
                    }
                }
                Phase::Over(code) => return Pace::Exit(*code),
            }
        }
    }

    /// What is to be written to stdout; whoever writes it empties it.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.core.out.bytes
    }

    /// What is to be written to stderr; whoever writes it empties it.
    pub fn stderr(&mut self) -> &mut Vec<u8> {
        &mut self.core.out.stderr
    }

    /// Whether the process does not end when it is asked to by a signal.
    #[must_use]
    pub fn ignores_signals(&self) -> bool {
        self.core.script.process.ignore_term
    }

    /// What the session remembers.
    #[must_use]
    pub fn state(&self) -> &SessionState {
        &self.core.state
    }

    fn take(&mut self, input: Input<'_>) {
        match input {
            Input::Line(line) if line.trim_ascii().is_empty() => {}
            Input::Line(line) => match serde_json::from_slice::<HostMessage>(line) {
                Ok(message) => self.receive(message),
                Err(_) => self.die(&text::not_json(String::from_utf8_lossy(line).chars().count())),
            },
            Input::EndOfInput => {
                self.core.end_of_input = true;
                if let Phase::Playing(turn) = &mut self.phase {
                    turn.end_of_input(&mut self.core);
                }
            }
            Input::Interrupt => {
                self.leaving = true;
                if matches!(self.phase, Phase::Idle) {
                    self.phase = Phase::Over(0);
                } else {
                    self.abort();
                }
            }
        }
    }

    fn receive(&mut self, message: HostMessage) {
        match message {
            HostMessage::User(message) => self.user(*message),
            HostMessage::ControlRequest(request) => self.control(*request),
            HostMessage::ControlResponse(response) => self.host_answers(*response),
            HostMessage::ControlCancel(_) => {}
            HostMessage::Unknown(value) => match value.get("type").and_then(Value::as_str) {
                Some("user") => self.die(&text::wrong_role(None)),
                Some("control_request") => self.die(text::NO_REQUEST),
                Some(_) | None => {}
            },
        }
    }

    fn user(&mut self, message: OutgoingUserMessage) {
        let role = message.message.role.as_str();
        if role != Some("user") {
            self.die(&text::wrong_role(role));
            return;
        }
        let Some(prompt) = self.core.accept(message) else {
            if matches!(self.phase, Phase::Idle) {
                self.core.tell(State::Idle);
            }
            return;
        };
        match &mut self.phase {
            Phase::Idle => {
                self.core.tell(State::Running);
                self.core.lifecycle(&prompt, CommandState::Queued);
                self.begin(vec![prompt]);
            }
            Phase::Playing(turn) => {
                self.core.lifecycle(&prompt, CommandState::Queued);
                self.core.queue.push_back(prompt);
                turn.notice(HostEvent::Message);
            }
            Phase::Starting { .. } | Phase::Hung | Phase::Over(_) => {}
        }
    }

    fn host_answers(&mut self, response: ControlResponse) {
        if self.core.setup.options.replay_user_messages {
            let echo = claude_sdk_bridge::messages::Message::ControlResponse(Box::new(response.clone()));
            self.core.out.send(&echo);
        }
        let Phase::Playing(turn) = &mut self.phase else {
            return;
        };
        match turn.answer(response, &mut self.core) {
            Answered::Nothing | Answered::GoesOn => {}
            Answered::Interrupts if turn.ignores_interrupts() => turn.notice(HostEvent::Interrupt),
            Answered::Interrupts => self.abort(),
        }
    }

    /// Starts a turn for prompts that are one to the model.
    fn begin(&mut self, prompts: Vec<Prompt>) {
        let script = self.core.turn_for(&core::text(&prompts));
        for prompt in prompts.iter().take(prompts.len().saturating_sub(1)) {
            self.core.replay(prompt, false);
        }
        let uuid = prompts.last().and_then(|prompt| prompt.uuid.clone());
        let replay = Prompt {
            uuid,
            content: merged(&prompts),
        };
        for prompt in &prompts {
            self.core.lifecycle(prompt, CommandState::Started);
        }
        let turn = Turn::new(script, Prompts::new(&prompts, replay), self.core.now());
        self.core.prompt_id = turn
            .prompts
            .attribution
            .main
            .as_ref()
            .map(|uuid| uuid.as_str().to_owned());
        self.core.init(&turn.prompts.attribution.all);
        self.phase = Phase::Playing(Box::new(turn));
    }

    fn progressed(&mut self, progress: Progress) -> Option<Pace> {
        match progress {
            Progress::Full => return Some(Pace::More),
            Progress::Waits(Some(then)) => return Some(Pace::Until(then)),
            Progress::Waits(None) => return Some(Pace::Input),
            Progress::Hangs => self.phase = Phase::Hung,
            Progress::Exits(exit) => self.exit(&exit),
            Progress::Ended(ending) => {
                if let Phase::Playing(mut turn) = std::mem::replace(&mut self.phase, Phase::Idle) {
                    if ending != Ending::NoResult {
                        turn.prompts.settle_folded(&mut self.core);
                    }
                    let reported = turn.tell_end(ending, &mut self.core);
                    self.conclude(&turn, reported, CommandState::Completed);
                }
            }
        }
        None
    }

    /// Interrupts the turn that runs.
    fn abort(&mut self) {
        let Phase::Playing(mut turn) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            return;
        };
        let reason: TerminalReason = turn.abort(&mut self.core);
        let reported = turn.tell_abort(reason, &mut self.core);
        let fate = if turn.on_interrupt == OnInterrupt::Succeed {
            CommandState::Completed
        } else {
            CommandState::Cancelled
        };
        self.conclude(&turn, reported, fate);
    }

    /// After a turn: what became of its prompts, then the next turn or rest.
    fn conclude(&mut self, turn: &Turn, reported: Reported, fate: CommandState) {
        if reported != Reported::Nothing {
            self.core.last_failed = reported == Reported::Failure;
            for prompt in turn.prompts.unsettled() {
                frames::lifecycle(&mut self.core.out, prompt, fate.clone());
            }
        }
        self.core.state.previous = turn.prompts.attribution.clone();
        if self.leaving {
            self.core.tell(State::Idle);
            self.phase = Phase::Over(0);
            return;
        }
        let queued: Vec<Prompt> = std::mem::take(&mut self.core.queue).into();
        if queued.is_empty() {
            self.core.tell(State::Idle);
        } else {
            self.begin(queued);
        }
    }

    fn exit(&mut self, exit: &ExitStep) {
        if !exit.stderr.is_empty() {
            self.core.out.write_stderr(&exit.stderr);
        }
        self.phase = Phase::Over(exit.code);
    }

    /// Ends the process because the host does not speak the protocol.
    fn die(&mut self, reason: &str) {
        self.core.out.write_stderr(reason);
        self.phase = Phase::Over(1);
    }
}
