//! Hooks around a tool: which are configured, and what they are told.
//!
//! Place in the flow: a host reads [`Hooks`] from settings; the machine picks the ones for a tool; the host runs them
//! and reports a [`HookRun`] each. A policy's hook that cannot be run as it is configured denies. Must not run anything.

mod matcher;
mod outcome;
mod wording;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

pub use matcher::HookMatcher;
pub use outcome::{HookRun, PostToolUse, PreToolUse};

use crate::modes::PermissionMode;
use crate::settings::{Origin, Sourced};

/// How long a hook may run if it does not say otherwise.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(60);
/// How much it may write to each of its outputs.
pub const HOOK_OUTPUT_BYTES: usize = 1024 * 1024;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a tool.
    PreToolUse,
    /// After a tool's success.
    PostToolUse,
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    /// The shell command; `None` where the configuration names none that can be run: then it denies, if it is a policy's.
    pub command: Option<String>,
    /// Its limit.
    pub timeout: Duration,
    /// Where it stands.
    pub origin: Origin,
}

/// Configured hooks, in order.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    entries: Vec<(HookEvent, HookMatcher, Arc<HookCommand>)>,
    /// They are read as Claude reads its own, not as a policy's.
    of_claude: bool,
}

/// Something in a hook's configuration that does not count as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookProblem {
    /// Where.
    pub origin: Origin,
    /// What is wrong, and what is done instead.
    pub message: &'static str,
}

/// What a hook is told about the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFacts {
    /// The session.
    pub session_id: String,
    /// Where its transcript is; may be empty.
    pub transcript_path: String,
    /// Its working directory.
    pub cwd: String,
    /// Its mode.
    pub mode: PermissionMode,
}

impl HookEvent {
    /// The event's name in settings and payloads.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
        }
    }
}

impl fmt::Display for HookProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wording::hook_problem(&self.origin, self.message))
    }
}

impl Hooks {
    /// Reads the `hooks` objects of a policy: what cannot be run denies.
    pub fn read(policy: &[Sourced<Value>]) -> (Self, Vec<HookProblem>) {
        Self::default().reading(policy)
    }

    /// Reads the `hooks` objects of Claude's own settings. Claude has kinds of hooks that are no commands.
    pub fn of_claude(settings: &[Sourced<Value>]) -> (Self, Vec<HookProblem>) {
        let hooks = Self {
            of_claude: true,
            ..Self::default()
        };
        hooks.reading(settings)
    }

    fn reading(mut self, settings: &[Sourced<Value>]) -> (Self, Vec<HookProblem>) {
        let mut problems = Vec::new();
        for Sourced { value, origin } in settings {
            for event in [HookEvent::PreToolUse, HookEvent::PostToolUse] {
                let Some(groups) = value.get(event.name()) else {
                    continue;
                };
                match groups.as_array() {
                    Some(groups) => groups
                        .iter()
                        .for_each(|group| self.group(event, group, origin, &mut problems)),
                    None => {
                        let every = self.matcher(None).0;
                        self.unusable(event, every, origin, &mut problems);
                    }
                }
            }
        }
        (self, problems)
    }

    fn matcher(&self, text: Option<&str>) -> (HookMatcher, bool) {
        if self.of_claude {
            HookMatcher::of_claude(text)
        } else {
            HookMatcher::read(text)
        }
    }

    /// Adds the hooks of another configuration behind these.
    pub fn extend(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// The hooks for a tool, in order.
    pub fn matching(&self, event: HookEvent, tool: &str) -> Vec<Arc<HookCommand>> {
        let wanted = self
            .entries
            .iter()
            .filter(|(at, matcher, _)| *at == event && matcher.is_about(tool));
        wanted.map(|(_, _, command)| Arc::clone(command)).collect()
    }

    /// How many hooks there are for an event, for any tool.
    pub fn count(&self, event: HookEvent) -> usize {
        self.entries.iter().filter(|(at, _, _)| *at == event).count()
    }

    fn group(&mut self, event: HookEvent, group: &Value, origin: &Origin, problems: &mut Vec<HookProblem>) {
        let text = group.get("matcher");
        let (matcher, mut readable) = self.matcher(text.and_then(Value::as_str));
        readable &= text.is_none_or(Value::is_string);
        if !readable {
            problems.push(HookProblem {
                origin: origin.clone(),
                message: if self.of_claude {
                    wording::HOOK_BAD_MATCHER_OF_CLAUDE
                } else {
                    wording::HOOK_BAD_MATCHER
                },
            });
        }
        let Some(commands) = group.get("hooks").and_then(Value::as_array) else {
            return self.unusable(event, matcher, origin, problems);
        };
        for hook in commands {
            let is_command = hook.get("type").and_then(Value::as_str).unwrap_or("command") == "command";
            let command = hook
                .get("command")
                .and_then(Value::as_str)
                .filter(|command| !command.trim().is_empty());
            let Some(command) = command.filter(|_| is_command) else {
                self.unusable(event, matcher.clone(), origin, problems);
                continue;
            };
            let seconds = hook.get("timeout").and_then(Value::as_f64);
            let timeout = seconds
                .filter(|seconds| *seconds > 0.0)
                .map(Duration::try_from_secs_f64);
            self.entries.push((
                event,
                matcher.clone(),
                Arc::new(HookCommand {
                    command: Some(command.to_owned()),
                    timeout: timeout.and_then(Result::ok).unwrap_or(HOOK_TIMEOUT),
                    origin: origin.clone(),
                }),
            ));
        }
    }

    fn unusable(
        &mut self,
        event: HookEvent,
        matcher: HookMatcher,
        origin: &Origin,
        problems: &mut Vec<HookProblem>,
    ) {
        problems.push(HookProblem {
            origin: origin.clone(),
            message: if self.of_claude {
                wording::HOOK_UNUSABLE_BY_US
            } else {
                wording::HOOK_UNUSABLE
            },
        });
        let command = HookCommand {
            command: None,
            timeout: HOOK_TIMEOUT,
            origin: origin.clone(),
        };
        self.entries.push((event, matcher, Arc::new(command)));
    }
}

/// The JSON object that a hook reads from its standard input. `response` is the tool's, after it.
pub fn hook_payload(
    facts: &HookFacts,
    tool: &str,
    input: &Value,
    tool_use_id: &str,
    response: Option<&Value>,
) -> Value {
    let event = if response.is_some() {
        HookEvent::PostToolUse
    } else {
        HookEvent::PreToolUse
    };
    let mut payload = json!({
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.cwd,
        "permission_mode": facts.mode.wire_id(),
        "hook_event_name": event.name(),
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": tool_use_id,
    });
    if let (Some(response), Some(payload)) = (response, payload.as_object_mut()) {
        payload.insert("tool_response".to_owned(), response.clone());
    }
    payload
}

#[cfg(test)]
mod tests;
