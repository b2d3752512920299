//! Claude's callbacks before and after its tools, step by step: decide, run hooks, reply.
//!
//! What is decided is the guard's. Every callback ends here with one reply, unless Claude withdraws it or is gone.

use claude_sdk_bridge::messages::control::{ControlRequest, HookCallback};
use claude_sdk_bridge::messages::{ControlId, UserMessage};
use serde_json::Value;

use super::{Context, Effect, Purpose, Questions};
use crate::permission::{GuardReply, HookEnded};
use crate::translate;

const PASSED_OVER: &str = "Claude ran a tool without asking the operator's policy, and was ended.";

impl Questions {
    /// Takes a callback of Claude's.
    pub(super) fn called_back(
        &mut self,
        control: ControlId,
        callback: Box<HookCallback>,
        session: &Context<'_>,
    ) -> Vec<Effect> {
        let mode = session.choices.modes().guarded();
        match self.guard.takes(&control, &callback, mode) {
            GuardReply::Now(reply) => vec![Effect::Reply(control, Ok(reply))],
            GuardReply::Later => Vec::new(),
            GuardReply::NeedsHints => vec![Effect::Call(
                ControlRequest::McpStatus(Default::default()),
                Purpose::Servers(control, callback),
            )],
        }
    }

    /// Claude told of its MCP servers, or did not: then none of their tools only reads.
    pub(in crate::session) fn servers_told(
        &mut self,
        control: ControlId,
        callback: Box<HookCallback>,
        status: Option<&Value>,
        session: Context<'_>,
    ) -> Vec<Effect> {
        self.guard.learn_hints(status.unwrap_or(&Value::Null), &callback);
        self.called_back(control, callback, &session)
    }

    /// A Claude that uses tools without asking the guard of a policy is ended.
    pub(super) fn check_results(&mut self, user: &UserMessage) -> Vec<Effect> {
        if !self.guard.was_passed_over(user) {
            return Vec::new();
        }
        tracing::error!("claude ran a tool without asking the guard; its process is ended");
        vec![Effect::update(translate::warning(PASSED_OVER)), Effect::Kill]
    }

    /// A hook of the policy's has ended.
    pub(super) fn hook_ended(&mut self, ended: HookEnded, session: &Context<'_>) -> Option<Effect> {
        let (control, reply) = self.guard.hook_ended(ended, session.choices.modes().guarded())?;
        Some(Effect::Reply(control, Ok(reply)))
    }
}
