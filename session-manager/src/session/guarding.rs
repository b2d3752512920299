//! Claude's callbacks before and after its tools, step by step: decide, run hooks, reply.
//!
//! What is decided is the guard's. Every callback ends here with one reply, unless Claude withdraws it or is gone.

use claude_sdk_bridge::{
    messages::{
        ControlId, UserMessage,
        control::{ControlRequest, HookCallback},
    },
    query::ControlError,
};
use serde_json::Value;

use super::{actor::Actor, control::CallDone, effects::EndBy};
use crate::{
    permission::{GuardReply, HookEnded},
    translate,
};

const PASSED_OVER: &str = "Claude ran a tool without asking the operator's policy, and was ended.";

impl Actor {
    /// Takes a callback of Claude's.
    pub(super) fn called_back(&mut self, control: ControlId, callback: Box<HookCallback>) {
        match self.guard.takes(&control, &callback, self.modes.guarded()) {
            GuardReply::Now(reply) => self.reply(&control, Ok(reply)),
            GuardReply::Later => {}
            GuardReply::NeedsHints => {
                let Some(query) = self.query() else { return };
                let call = query.request(ControlRequest::McpStatus(Default::default()));
                self.calls.push(Box::pin(async move {
                    CallDone::ServersTold(control, callback, call.await)
                }));
            }
        }
    }

    /// Claude told of its MCP servers, or did not: then none of their tools only reads.
    pub(super) fn servers_told(
        &mut self,
        control: ControlId,
        callback: Box<HookCallback>,
        status: Result<Value, ControlError>,
    ) {
        self.guard.learn_hints(&status.unwrap_or(Value::Null), &callback);
        self.called_back(control, callback);
    }

    /// A Claude that uses tools without asking the guard of a policy is ended.
    pub(super) fn check_results(&mut self, user: &UserMessage) {
        if self.guard.was_passed_over(user) {
            tracing::error!("claude ran a tool without asking the guard; its process is ended");
            self.update(translate::warning(PASSED_OVER));
            self.end_process(EndBy::Force);
        }
    }

    /// A hook of the policy's has ended.
    pub(super) fn hook_ended(&mut self, ended: HookEnded) {
        if let Some((control, reply)) = self.guard.hook_ended(ended, self.modes.guarded()) {
            self.reply(&control, Ok(reply));
        }
    }
}
