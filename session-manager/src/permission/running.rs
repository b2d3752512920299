//! The hooks that run for Claude's callbacks, and what each callback waits with.
//!
//! Place in the flow: `guard` starts them and hears of their ends. A hook that nobody waits for any more is killed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use claude_sdk_bridge::hooks::run_hook;
use claude_sdk_bridge::messages::ControlId;
use futures::future::{AbortHandle, BoxFuture, abortable};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use permission_core::decide::Evaluation;
use permission_core::decide::hooks::{HookCommand, HookRun, hook_payload};
use serde_json::Value;

use super::call::SeenCall;

/// All of a session's.
#[derive(Default)]
pub(super) struct RunningHooks {
    waiting: HashMap<ControlId, Waiting>,
    hooks: FuturesUnordered<BoxFuture<'static, Option<HookEnded>>>,
}

/// A callback whose hook is running.
struct Waiting {
    call: SeenCall,
    state: State,
    running: AbortHandle,
}

pub(super) enum State {
    Before(Evaluation),
    After(After),
}

/// The hooks after a tool that has run.
pub(super) struct After {
    /// Those to come, the next one last.
    pub(super) rest: Vec<Arc<HookCommand>>,
    /// What came out of the tool.
    pub(super) response: Value,
    /// What they said to the model.
    pub(super) feedback: Vec<String>,
}

/// The end of a hook.
pub(crate) struct HookEnded {
    pub(super) control: ControlId,
    pub(super) run: HookRun,
}

impl RunningHooks {
    /// Starts a hook in the session's directory.
    pub(super) fn start(
        &mut self,
        control: &ControlId,
        hook: Arc<HookCommand>,
        directory: &Path,
        (call, state): (SeenCall, State),
    ) {
        let (input, response) = match &state {
            State::Before(examination) => (examination.input(), None),
            State::After(after) => (None, Some(&after.response)),
        };
        let input = input.unwrap_or(&call.input);
        let payload = hook_payload(&call.facts, &call.tool, input, &call.tool_use_id, response);
        let directory = directory.to_owned();
        let id = control.clone();
        let (running, abort) = abortable(async move {
            let run = run_hook(&hook, &payload, &directory).await;
            HookEnded { control: id, run }
        });
        self.hooks.push(running.map(Result::ok).boxed());
        let waiting = Waiting {
            call,
            state,
            running: abort,
        };
        self.waiting.insert(control.clone(), waiting);
    }

    /// The next hook that ends, passing over those that were given up; `None` when none is left.
    pub(super) async fn next(&mut self) -> Option<HookEnded> {
        loop {
            if let Some(ended) = self.hooks.next().await? {
                return Some(ended);
            }
        }
    }

    /// What waited for a hook that has ended.
    pub(super) fn take(&mut self, control: &ControlId) -> Option<(SeenCall, State)> {
        let Waiting { call, state, .. } = self.waiting.remove(control)?;
        Some((call, state))
    }

    /// Gives one up.
    pub(super) fn abort(&mut self, control: &ControlId) {
        if let Some(waiting) = self.waiting.remove(control) {
            waiting.running.abort();
        }
    }

    /// Gives all up.
    pub(super) fn abort_all(&mut self) {
        self.waiting
            .drain()
            .for_each(|(_, waiting)| waiting.running.abort());
    }
}
