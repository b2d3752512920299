//! The life of a permission question between Claude and the client.
//!
//! Place in the flow: `can_use_tool` → announce the tool call → `permission_core::prepare` → `session/request_permission` →
//! answer → `PreparedRequest::settle` → the reply to Claude. This module keeps the open questions and guarantees that each
//! gets one reply: by the client's answer, or by being withdrawn. What an answer means is permission-core's decision.

mod call;
mod callbacks;
mod guard;
mod hints;
mod question;
mod record;
mod request;
mod running;

use std::collections::{HashMap, HashSet};

use acp_proto::{PendingResponse, RequestFailed};
use claude_sdk_bridge::messages::control::CanUseTool;
use claude_sdk_bridge::messages::{ControlId, TaskId, ToolUseId};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use permission_core::rules::RuleSet;
use permission_core::{
    Answer, FollowUp, FormReply, PermissionMode, PreparedRequest, QuestionForm, SettleError, Settlement,
    ToolCall,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use callbacks::callbacks;
pub(crate) use guard::{GuardFacts, GuardReply, Guarded, SessionGuard};
pub(crate) use question::form_request;
pub(crate) use record::Whose;
pub use record::{Audit, DecisionRecord, RecordedOutcome, RecordedRule};
pub(crate) use request::{prepare, wire_request};
pub(crate) use running::HookEnded;

/// The questions of one session that wait for the client.
#[derive(Default)]
pub(crate) struct Asks {
    /// Questions that are being prepared.
    expected: HashSet<ControlId>,
    open: HashMap<ControlId, Ask>,
    answers: FuturesUnordered<BoxFuture<'static, Answered>>,
}

struct Ask {
    shown: Shown,
    tool_use: ToolUseId,
    guarded: Guarded,
    withdraw: CancellationToken,
}

/// What the client was asked, which is also what its answer is looked up in.
pub(crate) enum Shown {
    /// Options to choose from.
    Options(Box<PreparedRequest>),
    /// A form to fill in.
    Form(QuestionForm),
}

/// A client's response, or why there is none.
pub(crate) struct Answered {
    control: ControlId,
    response: Result<Value, RequestFailed>,
}

/// A question that has its reply.
pub(crate) struct Settled {
    pub(crate) control: ControlId,
    pub(crate) tool_use: ToolUseId,
    /// The tool call, for the session's guard.
    pub(crate) guarded: Guarded,
    /// The settlement, or the text of the error that goes to Claude; either way nothing else is allowed.
    pub(crate) outcome: Result<Settlement, String>,
    /// The client could not show the question, in its words.
    pub(crate) client_error: Option<String>,
}

impl Asks {
    /// Whether no response is awaited.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The next response of the client's.
    pub(crate) async fn next(&mut self) -> Option<Answered> {
        self.answers.next().await
    }

    /// Remembers a question that is still being prepared.
    pub(crate) fn expect(&mut self, control: ControlId) {
        self.expected.insert(control);
    }

    /// Whether a question that was being prepared is still wanted.
    pub(crate) fn expected(&mut self, control: &ControlId) -> bool {
        self.expected.remove(control)
    }

    /// Remembers a question whose request is on its way to the client.
    pub(crate) fn open(
        &mut self,
        control: ControlId,
        tool_use: ToolUseId,
        guarded: Guarded,
        (shown, pending): (Shown, PendingResponse),
    ) {
        let withdraw = CancellationToken::new();
        let withdrawn = withdraw.clone();
        let id = control.clone();
        self.answers.push(Box::pin(async move {
            let response = tokio::select! {
                biased;
                // Dropping the pending response sends `$/cancel_request`.
                () = withdrawn.cancelled() => Err(RequestFailed::Cancelled),
                response = pending => response.map(|raw| serde_json::from_str(raw.get()).unwrap_or(Value::Null)),
            };
            Answered { control: id, response }
        }));
        self.open.insert(
            control,
            Ask {
                shown,
                tool_use,
                guarded,
                withdraw,
            },
        );
    }

    /// Settles the question that a response belongs to; `None` when it has been withdrawn meanwhile.
    pub(crate) fn settle(&mut self, answered: Answered) -> Option<Settled> {
        let ask = self.open.remove(&answered.control)?;
        let client_error = match &answered.response {
            Err(RequestFailed::Rpc(error)) => Some(error.message().to_owned()),
            Ok(_) | Err(RequestFailed::Closed | RequestFailed::Cancelled) => None,
        };
        let outcome = ask.shown.settle(answered.response);
        Some(Settled {
            control: answered.control,
            tool_use: ask.tool_use,
            guarded: ask.guarded,
            outcome,
            client_error,
        })
    }

    /// Withdraws one question, which Claude no longer asks: the client is told, Claude needs no reply. Hands back the tool
    /// call that it was about, if the client knew of it.
    pub(crate) fn withdraw(&mut self, control: &ControlId) -> Option<(ToolUseId, Guarded)> {
        self.expected.remove(control);
        let ask = self.open.remove(control)?;
        ask.withdraw.cancel();
        Some((ask.tool_use, ask.guarded))
    }

    /// Withdraws every question; each of the ids that come back needs a reply to Claude.
    pub(crate) fn withdraw_all(&mut self) -> Vec<(ControlId, Option<(ToolUseId, Guarded)>)> {
        let open = self.open.drain().map(|(control, ask)| {
            ask.withdraw.cancel();
            (control, Some((ask.tool_use, ask.guarded)))
        });
        open.chain(self.expected.drain().map(|control| (control, None)))
            .collect()
    }
}

impl Shown {
    fn settle(&self, response: Result<Value, RequestFailed>) -> Result<Settlement, String> {
        let aborted = || SettleError::Aborted.to_string();
        match (self, response) {
            (_, Err(RequestFailed::Closed | RequestFailed::Cancelled)) => Err(aborted()),
            (Self::Options(prepared), Ok(response)) => prepared
                .settle(&Answer::from_response(&response))
                .map_err(|error| error.to_string()),
            (Self::Options(_), Err(RequestFailed::Rpc(error))) => Err(not_shown(error.message())),
            (Self::Form(form), Ok(response)) => {
                let result = form.settle(&FormReply::from_response(&response));
                result.map(plain).map_err(|error| error.to_string())
            }
            (Self::Form(_), Err(RequestFailed::Rpc(_))) => Ok(plain(QuestionForm::not_presented())),
        }
    }
}

/// What Claude is told where the client has an error for a question.
fn not_shown(error: &str) -> String {
    format!("Nobody was asked, because the client could not show the question: {error}")
}

fn plain(result: permission_core::PermissionResult) -> Settlement {
    Settlement {
        result,
        follow_up: FollowUp::None,
    }
}

/// Which tool call spawned which subagent, so that a subagent's questions can name their parent.
#[derive(Default)]
pub(crate) struct Subagents {
    parents: HashMap<TaskId, ToolUseId>,
}

impl Subagents {
    /// A task has started on behalf of a tool call.
    pub(crate) fn started(&mut self, task: &TaskId, parent: &ToolUseId) {
        self.parents.insert(task.clone(), parent.clone());
    }

    /// A task is over.
    pub(crate) fn ended(&mut self, task: &TaskId) {
        self.parents.remove(task);
    }

    /// The tool call behind the agent that asks. An agent that is not known is shown without a parent.
    pub(crate) fn parent(&self, question: &CanUseTool) -> Option<&ToolUseId> {
        self.parents.get(question.agent_id.get()?)
    }
}

/// What permission-core needs to know besides the question.
pub(crate) struct AskFacts<'a> {
    /// The call.
    pub(crate) call: ToolCall<'a>,
    /// The tool call's title, as the client sees it.
    pub(crate) title: &'a str,
    /// The rules of the settings and of the session.
    pub(crate) rules: &'a RuleSet,
    /// The plan that the question is about, where its input has none.
    pub(crate) plan: Option<&'a str>,
    /// The modes that a plan may be carried out in by the running process.
    pub(crate) modes: &'a [PermissionMode],
    /// The same of a fresh process.
    pub(crate) fresh_modes: &'a [PermissionMode],
    /// How full Claude's context is.
    pub(crate) context_used_percent: Option<u8>,
}
