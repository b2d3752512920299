//! What all parts of the engine share while a session is played: script, launch facts, memory, queue, output.
//!
//! Place in the flow: owned by `Engine`, lent to `Turn` for each step. No behaviour of a turn stands here.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use claude_sdk_bridge::messages::control::ControlCancel;
use claude_sdk_bridge::messages::{
    CommandState, Content, ContentBlock, ControlId, Message, MessageUuid, OutgoingUserMessage,
    SessionState as State, ToolUseId,
};
use permission_core::PermissionMode;
use permission_core::decide::Authorizer;
use serde_json::{Map, Value};

use super::call::hooks::HostHooks;
use super::selection::Selection;
use super::setup::Setup;
use super::state::SessionState;
use crate::frames::{self, InitFacts, Outbox};
use crate::script::{Plan, Script, TokenUsage, ToolStep};

/// The shared part of an engine.
#[derive(Debug)]
pub(crate) struct Core {
    /// The script that was loaded.
    pub(crate) script: Arc<Script>,
    /// What is played of it, or instead of it.
    pub(crate) selected: Selection,
    pub(crate) setup: Setup,
    pub(crate) state: SessionState,
    pub(crate) out: Outbox,
    pub(crate) mode: PermissionMode,
    /// The mode that an approved plan goes back to.
    pub(crate) before_plan: PermissionMode,
    pub(crate) model: String,
    pub(crate) mcp_servers: Vec<String>,
    pub(crate) commands: Vec<Value>,
    pub(crate) queue: VecDeque<Prompt>,
    pub(crate) end_of_input: bool,
    /// What each model has used since the last result.
    pub(crate) since_last: BTreeMap<String, TokenUsage>,
    pub(crate) results: u64,
    pub(crate) last_failed: bool,
    /// The hooks that the host has registered.
    pub(crate) host_hooks: HostHooks,
    /// What decides about calls that the script leaves to rules.
    pub(crate) authorizer: Authorizer,
    /// The prompt that is answered.
    pub(crate) prompt_id: Option<String>,
    seen: HashSet<MessageUuid>,
}

/// A user message of the host's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) uuid: Option<MessageUuid>,
    pub(crate) content: Content,
}

impl Core {
    /// Takes back what the host was asked.
    pub(crate) fn cancel(&mut self, id: &ControlId) {
        self.out.send(&Message::ControlCancel(ControlCancel {
            request_id: id.clone(),
            extra: Map::new(),
        }));
    }

    pub(crate) fn new(script: Arc<Script>, setup: Setup, state: SessionState) -> Self {
        let named = setup
            .options
            .model
            .clone()
            .or_else(|| script.session.model.clone());
        Self {
            out: Outbox::new(setup.session_id.clone(), setup.seed, setup.clock),
            mode: setup.mode,
            before_plan: PermissionMode::Default,
            model: frames::resolve_model(named.as_deref().unwrap_or(frames::DEFAULT_MODEL)).to_owned(),
            mcp_servers: setup.mcp_servers(),
            commands: frames::commands(script.session.commands.as_deref()),
            selected: Selection::of(&script, &state),
            script,
            setup,
            state,
            queue: VecDeque::new(),
            end_of_input: false,
            since_last: BTreeMap::new(),
            results: 0,
            last_failed: false,
            host_hooks: HostHooks::default(),
            authorizer: Authorizer::default(),
            prompt_id: None,
            seen: HashSet::new(),
        }
    }

    /// Takes in a user message; `None` if it repeats one.
    pub(crate) fn accept(&mut self, message: OutgoingUserMessage) -> Option<Prompt> {
        let uuid = message.uuid.into_known();
        let prompt = Prompt {
            content: message.message.content,
            uuid,
        };
        if let Some(uuid) = &prompt.uuid
            && !self.seen.insert(uuid.clone())
        {
            self.replay(&prompt, false);
            return None;
        }
        Some(prompt)
    }

    /// Echoes a prompt, if the host wants that.
    pub(crate) fn replay(&mut self, prompt: &Prompt, starts_turn: bool) {
        if self.setup.options.replay_user_messages {
            frames::replay(
                &mut self.out,
                prompt.content.clone(),
                prompt.uuid.clone(),
                starts_turn,
            );
        }
    }

    pub(crate) fn lifecycle(&mut self, prompt: &Prompt, state: CommandState) {
        if let Some(uuid) = &prompt.uuid {
            frames::lifecycle(&mut self.out, uuid, state);
        }
    }

    /// Tells the state of the session, if the host reads it.
    pub(crate) fn tell(&mut self, state: State) {
        if self.setup.tells_state {
            frames::session_state(&mut self.out, state);
        }
    }

    /// The session runs again after its questions were withdrawn.
    pub(crate) fn runs_again(&mut self, withdrawn: bool) {
        if withdrawn {
            self.tell(State::Running);
        }
    }

    /// An id for a call, as the script says or the next one.
    pub(crate) fn tool_id(&mut self, tool: &ToolStep) -> ToolUseId {
        let named = tool.id.as_deref().map(Into::into);
        named.unwrap_or_else(|| self.state.next_tool_id())
    }

    /// Switches the permission mode and tells.
    pub(crate) fn switch_mode(&mut self, mode: PermissionMode) {
        if mode == PermissionMode::Plan && self.mode != PermissionMode::Plan {
            self.before_plan = self.mode;
        }
        self.mode = mode;
        frames::mode_changed(&mut self.out, mode);
    }

    pub(crate) fn init(&mut self, prompts: &[MessageUuid]) {
        let facts = InitFacts {
            cwd: self.setup.cwd(),
            model: &self.model,
            mode: self.mode,
            tools: self.setup.tools(),
            disallowed_tools: &self.setup.options.disallowed_tools,
            asks: self.setup.asks(),
            mcp_servers: &self.mcp_servers,
            additional_directories: &self.setup.additional_directories(),
            commands: &self.commands,
            pid: self.setup.pid,
            prompts,
        };
        frames::init(&mut self.out, &facts);
    }

    /// Counts what a request to the model has used.
    pub(crate) fn count(&mut self, model: &str, usage: TokenUsage) {
        for table in [&mut self.state.totals, &mut self.since_last] {
            table
                .entry(model.to_owned())
                .or_insert(TokenUsage::NONE)
                .add(usage);
        }
    }

    /// The plan file of what is played.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.selected.script.session.plan.as_ref()
    }

    pub(crate) fn now(&self) -> Duration {
        self.out.now()
    }
}

/// The text of several prompts, as a turn's `prompt` is matched against it.
pub(crate) fn text(prompts: &[Prompt]) -> String {
    let texts: Vec<String> = prompts.iter().map(|prompt| prompt.content.text()).collect();
    texts.join("\n")
}

/// Several prompts as the model sees them: one message.
pub(crate) fn merged(prompts: &[Prompt]) -> Content {
    if let [only] = prompts {
        return only.content.clone();
    }
    let last = prompts.len().saturating_sub(1);
    let texts = prompts.iter().enumerate().map(|(place, prompt)| {
        let end = if place == last { "" } else { "\n" };
        ContentBlock::text(format!("{}{end}", prompt.content.text()))
    });
    Content::Blocks(texts.collect())
}
