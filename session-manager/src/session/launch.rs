//! Starting Claude again: for a session whose process is gone, and for a plan that goes to a fresh one.

use claude_sdk_bridge::{
    launch::{LaunchOptions, SessionStart},
    messages::{ContentBlock, MessageUuid, OutgoingUserMessage},
    query::StartError,
};
use permission_core::PermissionMode;

use super::{
    actor::{Actor, Claude, HandOffPlan, Transcript},
    answers::Cause,
    configure::Waiter,
    start::{LaunchResult, Started, start},
};
use crate::{
    options::{Options, SettingsFacts},
    turn::{Event, Generation},
};

impl Actor {
    /// Starts a process that goes on with what Claude has written down, or from nothing when that is nothing.
    pub(super) fn launch(&mut self, generation: Generation) {
        let id = match &self.transcript {
            Transcript::Unwritten(id) | Transcript::Written(id) => id.clone(),
        };
        let fresh = SessionStart::New { id: id.clone() };
        let resumed = SessionStart::Resume { id, at: None };
        let (first, second) = match &self.transcript {
            Transcript::Unwritten(_) => (fresh, resumed),
            Transcript::Written(_) => (resumed, fresh),
        };
        let first = self.launch_options(first, self.modes.current());
        let second = LaunchOptions {
            session: second,
            ..first.clone()
        };
        let choices = self.options.relaunch().then;
        let origin = self.origin.clone();
        self.claude = Claude::Starting(
            generation,
            Box::pin(async move {
                match start(&origin, &first, &choices).await {
                    // Claude and we disagree about what it has written down, so it is asked the other way.
                    Err(StartError::Refused { .. }) => start(&origin, &second, &choices).await,
                    started => started,
                }
            }),
            Vec::new(),
        );
    }

    /// Starts a process that knows nothing of the conversation, for the plan that is handed over.
    pub(super) fn launch_fresh(&mut self, generation: Generation) {
        let Some(HandOffPlan { mode, session, .. }) = &self.hand_off else {
            return;
        };
        let (mode, session) = (*mode, SessionStart::New { id: session.clone() });
        let options = self.launch_options(session, mode);
        let choices = self.options.relaunch().then;
        let origin = self.origin.clone();
        self.claude = Claude::Starting(
            generation,
            Box::pin(async move { start(&origin, &options, &choices).await }),
            Vec::new(),
        );
    }

    /// The attempt is over.
    pub(super) fn launched(&mut self, generation: Generation, result: LaunchResult) {
        let late = match std::mem::replace(&mut self.claude, Claude::Absent) {
            Claude::Starting(_, _, choices) => choices,
            Claude::Absent | Claude::Running(..) | Claude::Ending(..) => Vec::new(),
        };
        let mut started = match result {
            Ok(started) if !self.origin.login.takes(&started.info) => {
                return self.dispatch_because(Event::LaunchFailed(generation), Cause::Account);
            }
            Ok(started) => started,
            Err(error) => {
                return self.dispatch_because(Event::LaunchFailed(generation), Cause::Launch(&error));
            }
        };
        if !late.is_empty() {
            let choosing = async move {
                started.choose(&late).await;
                Ok(started)
            };
            self.claude = Claude::Starting(generation, Box::pin(choosing), Vec::new());
            return;
        }
        self.ready(generation, *started);
    }

    fn ready(&mut self, generation: Generation, started: Started) {
        let mode = started.mode();
        let Started {
            query,
            info,
            settings,
            early,
        } = started;
        self.claude = Claude::Running(generation, Box::new(query));
        self.early = early;
        let choices = self.options.carry();
        self.guard.settings_told(&settings);
        self.options = Options::new(&info, SettingsFacts::read(&settings), self.client.switches);
        self.options.restore(choices);
        if let Some(hand_off) = self.hand_off.take() {
            self.take_over(hand_off);
        }
        // A mode that was chosen while the process started has not reached it.
        if mode.is_some_and(|mode| mode != self.modes.current()) {
            self.set_mode(self.modes.current(), Waiter::Nobody);
        }
        self.dispatch(Event::Launched(generation));
    }

    fn launch_options(&mut self, session: SessionStart, mode: PermissionMode) -> LaunchOptions {
        let mut options = LaunchOptions {
            session,
            ..self.origin.next(self.watch.as_ref())
        };
        self.grants.apply(&mut options);
        self.options.relaunch().apply(&mut options);
        self.modes.launch(mode, &mut options);
        options
    }

    /// The fresh process is the session's now: it goes on with the prompt that made the plan, which is the plan from here on,
    /// and what was said meanwhile.
    fn take_over(&mut self, hand_off: HandOffPlan) {
        let HandOffPlan { mode, plan, session } = hand_off;
        self.transcript = Transcript::Unwritten(session);
        self.mode_changed(mode);
        let emptied = self.meter.reset_context();
        emptied.into_iter().for_each(|update| self.update(update));
        for (id, prompt) in self.prompts.iter_mut().filter(|(_, prompt)| prompt.sent) {
            let text = format!("Implement the following plan:\n\n{plan}");
            let uuid = MessageUuid::from(id.to_string());
            let mut content = vec![ContentBlock::text(text)];
            content.extend(self.unheard.drain(..).flat_map(|(_, said)| said));
            prompt.message = OutgoingUserMessage::prompt(uuid, content);
        }
    }
}
