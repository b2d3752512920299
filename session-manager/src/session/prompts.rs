//! The prompts that have no answer yet, with what was said into the running turn and what was seen during it.
//!
//! Place in the flow: the turn machine says which prompt is sent and how each ends; `answers` turns that into a response.

use std::collections::HashMap;

use acp_proto::{RpcError, schema};
use claude_sdk_bridge::messages::{ContentBlock, MessageUuid, OutgoingUserMessage, Priority, ResultMessage};

use super::answers::{self, Cause, TurnFacts};
use super::effect::Effect;
use super::{Login, Reply};
use crate::turn::{Outcome, PromptId};
use crate::usage::TurnUsage;

/// The prompts of one session.
#[derive(Default)]
pub(super) struct Prompts {
    open: HashMap<PromptId, Prompt>,
    /// What was said into the running turn and Claude has not taken up.
    steering: Vec<(PromptId, Vec<ContentBlock>)>,
    /// What was seen during the running turn.
    pub(super) facts: TurnFacts,
    /// What the running prompt has used, over all the results it took.
    usage: TurnUsage,
}

/// A prompt that has not been answered.
struct Prompt {
    message: OutgoingUserMessage,
    /// Whether Claude has had it.
    sent: bool,
    /// How it will be answered, unless something happens to what it still waits for.
    held: Option<Result<schema::PromptResponse, RpcError>>,
    /// Nobody waits for a turn that steering has started.
    reply: Option<Reply<schema::PromptResponse>>,
}

impl Prompts {
    /// A prompt of the client's.
    pub(super) fn add(
        &mut self,
        id: PromptId,
        content: Vec<ContentBlock>,
        reply: Option<Reply<schema::PromptResponse>>,
    ) {
        let prompt = Prompt {
            message: user_message(id, content),
            sent: false,
            held: None,
            reply,
        };
        self.open.insert(id, prompt);
    }

    /// The message of a prompt that goes to Claude now, and whether it does so for the first time.
    pub(super) fn send(&mut self, id: PromptId) -> Option<(&OutgoingUserMessage, bool)> {
        let prompt = self.open.get_mut(&id)?;
        let first = !std::mem::replace(&mut prompt.sent, true);
        self.facts = TurnFacts::default();
        // A prompt that is sent again goes on with what it has used.
        if first {
            self.usage = TurnUsage::default();
        }
        Some((&prompt.message, first))
    }

    /// The message of the running prompt.
    pub(super) fn running(&self) -> Option<&OutgoingUserMessage> {
        let running = self.open.values().find(|prompt| prompt.sent);
        running.map(|prompt| &prompt.message)
    }

    /// The message that says something into the running turn.
    pub(super) fn steering_message(
        id: PromptId,
        content: Vec<ContentBlock>,
        priority: Priority,
    ) -> OutgoingUserMessage {
        OutgoingUserMessage {
            priority: priority.into(),
            ..user_message(id, content)
        }
    }

    /// Something was said into the running turn.
    pub(super) fn steered(&mut self, id: PromptId, content: Vec<ContentBlock>) {
        self.steering.push((id, content));
    }

    /// Claude has taken this up.
    pub(super) fn taken_up(&mut self, id: PromptId) {
        self.steering.retain(|(waiting, _)| *waiting != id);
    }

    /// The prompt that made a plan is the plan from here on, and what was said meanwhile.
    pub(super) fn become_plan(&mut self, plan: &str) {
        for (id, prompt) in self.open.iter_mut().filter(|(_, prompt)| prompt.sent) {
            let text = format!("Implement the following plan:\n\n{plan}");
            let mut content = vec![ContentBlock::text(text)];
            content.extend(self.steering.drain(..).flat_map(|(_, said)| said));
            prompt.message = user_message(*id, content);
        }
    }

    /// A result of the running turn's.
    pub(super) fn count(&mut self, result: &ResultMessage) {
        self.usage.add(result);
    }

    /// The prompt has its result, but is not over: the answer is kept.
    pub(super) fn hold(&mut self, id: PromptId, cause: Cause<'_>, login: &Login) {
        let answer = answers::answer(Outcome::Finished, cause, &self.facts, None, login);
        if let Some(prompt) = self.open.get_mut(&id) {
            prompt.held = Some(answer);
        }
    }

    /// What a prompt that is held still waits for has a result of its own. Only a failure changes the answer.
    pub(super) fn goes_on(&mut self, result: &ResultMessage, login: &Login) {
        self.usage.add(result);
        let answer = answers::answer(Outcome::Finished, Cause::Result(result), &self.facts, None, login);
        let held = self.open.values_mut().find_map(|prompt| prompt.held.as_mut());
        if let (Some(held), Err(error)) = (held, answer) {
            *held = Err(error);
        }
    }

    /// Answers a prompt. Returns whether Claude has had it, and the answer for whoever waits.
    pub(super) fn answer(
        &mut self,
        id: PromptId,
        outcome: Outcome,
        cause: Cause<'_>,
        login: &Login,
    ) -> Option<(bool, Option<Effect>)> {
        let Prompt {
            reply, sent, held, ..
        } = self.open.remove(&id)?;
        if sent {
            self.steering.clear();
        }
        let used = sent.then(|| self.usage.total()).flatten();
        let answer = match held.filter(|_| outcome == Outcome::Finished) {
            Some(held) => held.map(|answer| answer.usage(used)),
            None => answers::answer(outcome, cause, &self.facts, used, login),
        };
        Some((sent, reply.map(|reply| Effect::answer(reply, answer))))
    }
}

fn user_message(id: PromptId, content: Vec<ContentBlock>) -> OutgoingUserMessage {
    OutgoingUserMessage::prompt(MessageUuid::from(id.to_string()), content)
}
