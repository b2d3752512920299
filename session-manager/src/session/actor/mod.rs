//! The actor of one session: waits for whatever comes next, routes it to the parts, and does what they say.
//!
//! It never waits inside a handler. Its one waiting place is [`Actor::wait`], whose branches are all cancel-safe; Claude is
//! read only while nothing waits for the client.

mod effects;
mod frames;

use std::time::Duration;

use acp_proto::errors;
use acp_proto::schema::SessionUpdate;
use claude_sdk_bridge::messages::{ContentBlock, Priority};
use claude_sdk_bridge::query::QueryEvent;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answers::Cause;
use super::choices::Choices;
use super::effect::Effect;
use super::outlet::Outlet;
use super::process::{Process, ProcessEvent};
use super::prompts::Prompts;
use super::questions::{QuestionEvent, Questions};
use super::start::Told;
use super::{Command, Current, Paused, Reply, Steered, WhenIdle};
use crate::commands;
use crate::history::{Keeper, Shown};
use crate::translate::Translator;
use crate::turn::{Event, Generation, PromptId, TurnMachine};
use crate::usage::UsageMeter;

/// How long a slow client may keep a session that has ended.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// How many deltas are taken in a row before commands and timers get their turn.
const DELTA_BURST: usize = 64;

/// One session. The parts decide; the actor connects them.
pub(super) struct Actor {
    process: Process,
    turn: TurnMachine,
    prompts: Prompts,
    questions: Questions,
    choices: Choices,
    /// What of the choices outlives the session.
    keeper: Keeper,
    translator: Translator,
    meter: UsageMeter,
    /// The commands that Claude has, as the client is told.
    commands: SessionUpdate,
    outlet: Outlet,
    /// When an interrupted turn has had its time.
    escalation: Option<Instant>,
    life: Life,
    /// Who waits for the end of the session.
    closing: Vec<oneshot::Sender<()>>,
}

/// How far the session has come to its end.
#[derive(Clone, Copy)]
enum Life {
    Open,
    /// The process is being ended.
    Ending,
    /// The process is gone; what is queued for the client may still leave until then.
    Draining(Instant),
}

/// What the actor woke up for.
enum Wake {
    Command(Option<Command>),
    Process(ProcessEvent),
    Question(QuestionEvent),
    SettingsChanged,
    Escalate,
    Sent,
    DrainedLongEnough,
}

impl Actor {
    /// A session whose first process is ready.
    pub(super) fn new(
        process: Process,
        questions: Questions,
        (choices, keeper): (Choices, Keeper),
        (shown, outlet): (Shown, Outlet),
        told: &Told,
    ) -> Self {
        let Shown {
            translator, meter, ..
        } = shown;
        let mut actor = Self {
            process,
            turn: TurnMachine::new(),
            prompts: Prompts::default(),
            questions,
            choices,
            keeper,
            translator,
            meter,
            commands: commands::update(&told.info.commands),
            outlet,
            escalation: None,
            life: Life::Open,
            closing: Vec::new(),
        };
        actor.dispatch(Event::Adopted(Generation(1)));
        actor.choose(|choices| choices.agree(told));
        actor
    }

    /// Runs the session to its end.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        while !self.is_over() {
            match self.wait(&mut commands).await {
                Wake::Command(Some(command)) => self.command(command),
                // Every handle is gone, so nobody can use the session any more.
                Wake::Command(None) => self.dispatch(Event::Close),
                Wake::Process(event) => self.process_event(event),
                Wake::Question(event) => self.question(|questions, session| questions.take(event, session)),
                Wake::SettingsChanged => self.choose(Choices::settings_changed),
                Wake::Escalate => {
                    self.escalation = None;
                    self.dispatch(Event::EscalationDue);
                }
                Wake::Sent => {}
                Wake::DrainedLongEnough => self.outlet.abandon(),
            }
        }
        // Whoever waits may open it again.
        drop(self.keeper);
        for done in self.closing {
            let _: Result<(), ()> = done.send(());
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.life, Life::Draining(_)) && self.outlet.is_empty()
    }

    async fn wait(&mut self, commands: &mut mpsc::Receiver<Command>) -> Wake {
        let readable = self.outlet.is_empty();
        let drained = match self.life {
            Life::Draining(until) => Some(until),
            Life::Open | Life::Ending => None,
        };
        tokio::select! {
            biased;
            command = commands.recv(), if matches!(self.life, Life::Open) => Wake::Command(command),
            () = sleep_until(drained) => Wake::DrainedLongEnough,
            () = sleep_until(self.escalation) => Wake::Escalate,
            () = self.outlet.advance() => Wake::Sent,
            event = self.questions.next() => Wake::Question(event),
            () = self.choices.settings_change() => Wake::SettingsChanged,
            event = self.process.next(readable) => Wake::Process(event),
        }
    }

    /// Takes one request of the client's.
    fn command(&mut self, command: Command) {
        match command {
            Command::Prompt { id, content, reply } => self.prompt(id, content, Some(reply)),
            Command::Steer {
                content,
                when_idle,
                reply,
            } => self.steer(content, when_idle, reply),
            Command::Cancel => self.dispatch(Event::Cancel),
            Command::CancelPrompt(id) => self.dispatch(Event::CancelPrompt(id)),
            Command::SetMode { id, reply } => self.choose(|choices| choices.choose_mode(&id, Some(reply))),
            Command::SetOption { id, value, reply } => {
                self.choose(|choices| choices.choose_option(&id, &value, Some(reply)));
            }
            Command::Pause { until, reply } => self.pause(until, reply),
            Command::Close { done } => {
                self.closing.push(done);
                self.dispatch(Event::Close);
            }
        }
    }

    /// Shows the client what is there to be shown, and nothing more until then.
    fn pause(&mut self, until: CancellationToken, reply: oneshot::Sender<Paused>) {
        let paused = Paused {
            current: Current::of(&self.choices),
            shown: Shown::new(self.translator.fresh())
                .runs(self.prompts.running(), self.translator.open_message()),
            conversations: self.keeper.conversations().to_vec(),
            commands: self.commands.clone(),
        };
        self.outlet
            .pause(until, Box::new(move || drop(reply.send(paused))));
    }

    fn prompt(
        &mut self,
        id: PromptId,
        content: Vec<ContentBlock>,
        reply: Option<Reply<acp_proto::schema::PromptResponse>>,
    ) {
        self.prompts.add(id, content, reply);
        self.dispatch(Event::Prompt(id));
    }

    /// Says something into the running turn: at once, which cuts Claude short, but not while the client is being asked.
    fn steer(&mut self, content: Vec<ContentBlock>, when_idle: WhenIdle, reply: Reply<Steered>) {
        let id = PromptId::new();
        let steered = match (self.turn.can_steer(), when_idle) {
            (true, _) => {
                let priority = if self.questions.is_empty() {
                    Priority::Now
                } else {
                    Priority::Later
                };
                let message = Prompts::steering_message(id, content.clone(), priority);
                self.process.send(&message).map(|()| {
                    self.prompts.steered(id, content);
                    self.dispatch(Event::Steer(id));
                    Steered::Injected
                })
            }
            (false, WhenIdle::StartTurn) => {
                self.prompt(id, content, None);
                Ok(Steered::StartedNewTurn)
            }
            (false, WhenIdle::RequirePrompt) => Ok(Steered::PromptRequired),
        };
        let answer =
            steered.map_err(|error| errors::internal(format!("Claude did not take it: {error}"), None));
        self.perform([Effect::answer(reply, answer)]);
    }

    fn process_event(&mut self, event: ProcessEvent) {
        match event {
            ProcessEvent::Said(generation, said) => self.said(generation, said),
            ProcessEvent::Launched(generation, result) => match self.process.launched(result) {
                Some(Ok(told)) => self.launched(generation, &told),
                Some(Err(failure)) => {
                    self.dispatch_because(Event::LaunchFailed(generation), Cause::Launch(&failure));
                }
                None => {}
            },
            ProcessEvent::Ended(generation, exit) => self.process_gone(generation, &exit),
            ProcessEvent::Answered(purpose, answer) => self.called(purpose, answer),
        }
    }

    /// Takes what Claude says, and with it the deltas that are already there.
    fn said(&mut self, generation: Generation, event: QueryEvent) {
        let mut event = Some(event);
        for _ in 0..DELTA_BURST {
            let Some(QueryEvent::Delta(delta)) = &event else {
                break;
            };
            self.delta(delta);
            event = if self.outlet.is_empty() {
                self.process.said()
            } else {
                None
            };
        }
        if let Some(event) = event {
            self.frame(generation, event);
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
