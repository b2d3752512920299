//! The tool calls that have no result yet: announced once, refined as their input arrives, ended once. Owns which
//! ids a client knows; how a call looks is `tools`' business.

use std::collections::VecDeque;

use acp_proto::schema::{SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields};
use serde_json::Value;

use crate::tools::{self, Family, Presenting, ToolCallRef, ToolResultRef};

/// Ids that have ended are remembered for a while, so that a late or repeated frame does not revive them.
const REMEMBERED_ENDS: usize = 256;

/// The open calls in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
    ended: VecDeque<String>,
    /// Calls that returned while their work goes on: background commands and background agents.
    background: Vec<Background>,
}

#[derive(Debug)]
struct OpenCall {
    id: String,
    name: String,
    input: Value,
    parent: Option<String>,
    known: Input,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Shown as part of the plan instead.
    Hidden,
    Announced,
    Running,
    /// Ended by a denial of which the client has been told; only its result is missing.
    Denied,
}

#[derive(Debug)]
struct Background {
    id: String,
    family: Family,
}

/// Why open calls are ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettleReason {
    /// The client cancelled the turn.
    Cancelled,
    /// The turn ended, or Claude went idle, without a result for the call.
    TurnEnded,
    /// The Claude process is gone.
    ProcessDied,
}

/// How much of a call's input is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The call's block has only begun.
    Begun,
    /// The beginning of it has been shown.
    Growing,
    Complete,
}

impl Calls {
    /// A call in Claude's output: announces it, or refines what was announced.
    pub(super) fn seen(
        &mut self,
        call: &ToolCallRef<'_>,
        input: Input,
        ctx: &Presenting<'_>,
    ) -> Option<SessionUpdate> {
        if self.has_ended(call.id) {
            return None;
        }
        if let Some(open) = self.find(call.id) {
            return if input == Input::Complete {
                open.refine(call.input, ctx)
            } else {
                None
            };
        }
        let hidden = Family::of(call.name) == Family::Todo;
        let stage = if hidden { Stage::Hidden } else { Stage::Announced };
        self.open.push(OpenCall::new(call, input, stage));
        (!hidden).then(|| SessionUpdate::ToolCall(tools::tool_call(call, ctx)))
    }

    /// The model has written more of a call's input.
    pub(super) fn grown(&mut self, id: &str, input: Value, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        let call = self
            .find(id)
            .filter(|call| call.stage == Stage::Announced && call.known != Input::Complete)?;
        let before = tools::view(&call.by_ref(), ctx);
        call.input = input;
        call.known = Input::Growing;
        tools::growth(&call.by_ref(), before, ctx).map(SessionUpdate::ToolCallUpdate)
    }

    /// Makes sure that the client knows a call before it is asked about it.
    pub(super) fn announce(&mut self, call: &ToolCallRef<'_>, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        if self.has_ended(call.id) {
            return None;
        }
        let Some(open) = self.find(call.id) else {
            self.open
                .push(OpenCall::new(call, Input::Complete, Stage::Announced));
            return Some(SessionUpdate::ToolCall(tools::tool_call(call, ctx)));
        };
        match open.stage {
            Stage::Hidden => {
                *open = OpenCall::new(call, Input::Complete, Stage::Announced);
                Some(SessionUpdate::ToolCall(tools::tool_call(call, ctx)))
            }
            Stage::Announced if open.known == Input::Complete => open.corrected(call.input, ctx),
            Stage::Announced => open.refine(call.input, ctx),
            Stage::Running | Stage::Denied => None,
        }
    }

    /// The call's input as far as it is known.
    pub(super) fn input(&self, id: &str) -> Option<&Value> {
        self.open
            .iter()
            .find(|call| call.id == id)
            .map(|call| &call.input)
    }

    /// The call runs now; said once.
    pub(super) fn running(&mut self, id: &str) -> Option<SessionUpdate> {
        let call = self.find(id).filter(|call| call.stage == Stage::Announced)?;
        call.stage = Stage::Running;
        Some(call.status(ToolCallStatus::InProgress))
    }

    /// Ends a call that Claude only asks about: no result of it will ever come.
    pub(super) fn end_without_result(&mut self, id: &str, allowed: bool) -> Option<SessionUpdate> {
        self.find(id).filter(|call| tools::is_question_only(&call.name))?;
        let call = self.take(id)?;
        let status = if allowed {
            ToolCallStatus::Completed
        } else {
            ToolCallStatus::Failed
        };
        Some(call.status(status))
    }

    /// The call was denied without anybody being asked; its result follows.
    pub(super) fn denied(&mut self, id: &str, text: &str, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        let call = self
            .find(id)
            .filter(|call| matches!(call.stage, Stage::Announced | Stage::Running))?;
        call.stage = Stage::Denied;
        Some(call.unfinished(text, Some("permission-rule"), ctx))
    }

    /// The call has its result. Returns the call too, for those who learn from results.
    pub(super) fn finish(
        &mut self,
        id: &str,
        result: &ToolResultRef<'_>,
        ctx: &Presenting<'_>,
    ) -> Option<(Vec<SessionUpdate>, EndedCall)> {
        let call = self.take(id)?;
        if !result.is_error && tools::goes_on(&call.name, result) {
            self.background.push(Background {
                id: call.id.clone(),
                family: Family::of(&call.name),
            });
        }
        let updates = match call.stage {
            Stage::Hidden => Vec::new(),
            Stage::Announced | Stage::Running => tools::outcome(&call.by_ref(), result, ctx),
            Stage::Denied => vec![tools::late_result(&call.by_ref(), result)],
        };
        let updates = updates.into_iter().map(SessionUpdate::ToolCallUpdate).collect();
        Some((updates, EndedCall(call)))
    }

    /// A background task ended: its terminal is closed, and what its agent left open is ended.
    pub(super) fn task_ended(&mut self, id: &str, ctx: &Presenting<'_>) -> Vec<SessionUpdate> {
        let Some(at) = self.background.iter().position(|task| task.id == id) else {
            return Vec::new();
        };
        let task = self.background.swap_remove(at);
        if task.family == Family::Shell {
            return tools::background_end(&task.id, ctx)
                .map(SessionUpdate::ToolCallUpdate)
                .into_iter()
                .collect();
        }
        let children: Vec<_> = self
            .open
            .iter()
            .filter(|call| self.is_below(call, id))
            .map(|call| call.id.clone())
            .collect();
        let text = SettleReason::TurnEnded.text();
        children
            .iter()
            .filter_map(|child| self.abandon(child, text, ctx))
            .collect()
    }

    /// Ends what is open. The calls of agents that work on in the background stay, unless the process is gone.
    pub(super) fn settle(&mut self, reason: SettleReason, ctx: &Presenting<'_>) -> Vec<SessionUpdate> {
        let all = reason == SettleReason::ProcessDied;
        let stays =
            |call: &OpenCall| !all && self.background.iter().any(|agent| self.is_below(call, &agent.id));
        let ending: Vec<_> = self
            .open
            .iter()
            .filter(|call| !stays(call))
            .map(|call| call.id.clone())
            .collect();
        let mut updates: Vec<_> = ending
            .iter()
            .filter_map(|id| self.abandon(id, reason.text(), ctx))
            .collect();
        if all {
            for task in std::mem::take(&mut self.background) {
                let shell = task.family == Family::Shell;
                updates.extend(
                    shell
                        .then(|| tools::background_end(&task.id, ctx))
                        .flatten()
                        .map(SessionUpdate::ToolCallUpdate),
                );
            }
        }
        updates
    }

    /// The call has done what it was for, whatever result Claude still gives it.
    pub(super) fn complete(&mut self, id: &str) -> Option<SessionUpdate> {
        Some(self.take(id)?.status(ToolCallStatus::Completed))
    }

    fn abandon(&mut self, id: &str, text: &str, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        let call = self.take(id)?;
        match call.stage {
            // The client has not heard of it, or has been told of its end already.
            Stage::Hidden | Stage::Denied => None,
            Stage::Announced | Stage::Running => Some(call.unfinished(text, None, ctx)),
        }
    }

    fn take(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.id == id)?;
        let call = self.open.remove(at);
        if self.ended.len() >= REMEMBERED_ENDS {
            self.ended.pop_front();
        }
        self.ended.push_back(call.id.clone());
        Some(call)
    }

    fn find(&mut self, id: &str) -> Option<&mut OpenCall> {
        self.open.iter_mut().find(|call| call.id == id)
    }

    fn has_ended(&self, id: &str) -> bool {
        self.ended.iter().any(|ended| ended == id)
    }

    fn is_below(&self, call: &OpenCall, agent: &str) -> bool {
        let mut parent = call.parent.as_deref();
        // A chain of parents is never longer than the list; a ring in bad input ends here.
        for _ in 0..=self.open.len() {
            match parent {
                Some(id) if id == agent => return true,
                Some(id) => {
                    parent = self
                        .open
                        .iter()
                        .find(|open| open.id == id)
                        .and_then(|open| open.parent.as_deref())
                }
                None => return false,
            }
        }
        false
    }
}

/// A call that has its result.
pub(super) struct EndedCall(OpenCall);

impl EndedCall {
    pub(super) fn by_ref(&self) -> ToolCallRef<'_> {
        self.0.by_ref()
    }
}

impl SettleReason {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Cancelled => tools::wording::SETTLED_CANCELLED,
            Self::TurnEnded => tools::wording::SETTLED_ENDED,
            Self::ProcessDied => tools::wording::SETTLED_DIED,
        }
    }
}

impl OpenCall {
    fn new(call: &ToolCallRef<'_>, input: Input, stage: Stage) -> Self {
        Self {
            id: call.id.to_owned(),
            name: call.name.to_owned(),
            input: call.input.clone(),
            parent: call.parent.map(str::to_owned),
            known: input,
            stage,
        }
    }

    fn status(&self, status: ToolCallStatus) -> SessionUpdate {
        let update = ToolCallUpdate::new(self.id.clone(), ToolCallUpdateFields::new().status(status));
        SessionUpdate::ToolCallUpdate(update.meta(tools::call_meta(&self.name, self.parent.as_deref())))
    }

    fn by_ref(&self) -> ToolCallRef<'_> {
        ToolCallRef {
            id: &self.id,
            name: &self.name,
            input: &self.input,
            parent: self.parent.as_deref(),
        }
    }

    /// The whole input replaces what was known; only what looks different is sent.
    fn refine(&mut self, input: &Value, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        // Of what grew only its looks have been sent.
        let grown = std::mem::replace(&mut self.known, Input::Complete) == Input::Growing;
        if self.input == *input && !grown {
            return None;
        }
        let before = tools::view(&self.by_ref(), ctx);
        self.input = input.clone();
        if self.stage == Stage::Hidden {
            return None;
        }
        Some(SessionUpdate::ToolCallUpdate(tools::refinement(
            &self.by_ref(),
            before,
            ctx,
        )))
    }

    /// A question may be about another input than the message had: a hook changed it, or a plan was filled in. Only
    /// what can be seen counts, and only what adds to it: the rest is how Claude writes the same input twice.
    fn corrected(&mut self, input: &Value, ctx: &Presenting<'_>) -> Option<SessionUpdate> {
        let before = tools::view(&self.by_ref(), ctx);
        let after = tools::view(
            &ToolCallRef {
                input,
                ..self.by_ref()
            },
            ctx,
        );
        let less = after.content.is_empty() && !before.content.is_empty();
        if less || after == before {
            None
        } else {
            self.refine(input, ctx)
        }
    }

    fn unfinished(&self, text: &str, non_execution: Option<&str>, ctx: &Presenting<'_>) -> SessionUpdate {
        SessionUpdate::ToolCallUpdate(tools::unfinished(&self.by_ref(), text, non_execution, ctx))
    }
}
