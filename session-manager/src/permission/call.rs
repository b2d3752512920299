//! A tool call as the session's guard sees it: from a callback or a question of Claude's.
//!
//! Place in the flow: `guard` makes one when Claude calls, and lends it to permission-core. Where Claude and the session
//! disagree about the mode, `plan` wins.

use std::path::{Component, Path, PathBuf};

use claude_sdk_bridge::messages::TaskId;
use claude_sdk_bridge::messages::control::{CanUseTool, HookCallback};
use claude_sdk_bridge::paths::FileSystemPaths;
use permission_core::decide::hooks::HookFacts;
use permission_core::{PathResolver as _, PermissionMode, ToolCall, Workspace};
use serde_json::Value;
use tokio::time::Instant;

use super::callbacks::BEFORE_TOOL;
use super::guard::GuardFacts;

/// The directories of a session.
pub(super) struct Places {
    /// The session's directory, where hooks run.
    pub(super) root: PathBuf,
    cwd: String,
    home: Option<String>,
    pub(super) additional: Vec<String>,
    /// Where Claude keeps plans.
    plans: Option<PathBuf>,
}

/// A tool call.
pub(super) struct SeenCall {
    /// The event of Claude's that it was made known by.
    pub(super) event: String,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) tool_use_id: String,
    pub(super) agent: Option<TaskId>,
    pub(super) mode: PermissionMode,
    /// Claude would ask about it only because it cannot bypass permissions, as the session does.
    pub(super) stood_in_for: bool,
    /// What hooks are told about the session.
    pub(super) facts: HookFacts,
    pub(super) begun: Instant,
    plan_file: Option<String>,
    /// Whether the server of an MCP tool says that it only reads; `None` where that is not known.
    pub(super) read_only_hint: Option<bool>,
}

impl Places {
    pub(super) fn new(facts: &GuardFacts) -> Self {
        let home = facts.home.as_deref().map(real);
        let policy = facts
            .policy
            .iter()
            .flat_map(|policy| policy.directories(home.as_deref()));
        let given = facts.additional.iter().map(|directory| text(directory));
        // Claude tells paths as they really are; a client, a person or a model may use the links that lead there.
        let mut additional: Vec<String> = Vec::new();
        for directory in std::iter::once(text(&facts.whose.cwd)).chain(given).chain(policy) {
            let really = real(Path::new(&directory));
            for form in [directory, really] {
                if !additional.contains(&form) {
                    additional.push(form);
                }
            }
        }
        Self {
            root: facts.whose.cwd.clone(),
            cwd: real(&facts.whose.cwd),
            additional,
            home,
            plans: facts.claude.as_ref().map(|claude| claude.join("plans")),
        }
    }

    /// Settings may have Claude keep plans in a directory of the project.
    pub(super) fn keep_plans_in(&mut self, directory: &str) {
        let directory = Path::new(directory);
        let below = directory
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if below {
            self.plans = Some(self.root.join(directory).components().collect());
        }
    }

    /// The file of a call, if it is a plan's.
    fn plan_file(&self, input: &Value) -> Option<String> {
        let file = input.get("file_path")?.as_str()?;
        let path = Path::new(file);
        let plan = path.extension().is_some_and(|extension| extension == "md");
        let link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        (plan && path.parent() == self.plans.as_deref() && !link()).then(|| file.to_owned())
    }
}

impl SeenCall {
    /// `None` where the callback names no tool or no input.
    pub(super) fn of_callback(
        callback: &HookCallback,
        session: PermissionMode,
        places: &Places,
    ) -> Option<Self> {
        let input = &callback.input;
        let agent = input.agent_id.get().cloned();
        let claimed = input
            .permission_mode
            .as_str()
            .and_then(PermissionMode::from_wire_id);
        let stood_in_for = session == PermissionMode::BypassPermissions
            && claimed.is_some_and(PermissionMode::asks_more_than_bypass);
        let mode = match claimed {
            // Neither a Claude that is behind nor a subagent with a mode of its own ends the session's plan.
            Some(claimed) if session != PermissionMode::Plan && !stood_in_for => claimed,
            _ => session,
        };
        let tool_input = input.tool_input.get()?.clone();
        let tool_use_id = callback.tool_use_id.get().or(input.tool_use_id.get());
        Some(Self {
            event: input.hook_event_name.as_str().unwrap_or(BEFORE_TOOL).to_owned(),
            tool: input.tool_name.as_str()?.to_owned(),
            plan_file: places.plan_file(&tool_input),
            input: tool_input,
            tool_use_id: tool_use_id.map(|id| id.as_str().to_owned()).unwrap_or_default(),
            agent,
            mode,
            stood_in_for,
            facts: HookFacts {
                session_id: input
                    .session_id
                    .get()
                    .map(|id| id.as_str().to_owned())
                    .unwrap_or_default(),
                transcript_path: input.transcript_path.as_str().unwrap_or_default().to_owned(),
                cwd: places.current(input.cwd.as_str()),
                mode,
            },
            begun: Instant::now(),
            read_only_hint: None,
        })
    }

    /// `current` is where the shell is.
    pub(super) fn of_question(
        question: &CanUseTool,
        mode: PermissionMode,
        current: Option<String>,
        places: &Places,
    ) -> Self {
        let input = Value::Object(question.input.clone());
        Self {
            event: BEFORE_TOOL.to_owned(),
            tool: question.tool_name.clone(),
            plan_file: places.plan_file(&input),
            input,
            tool_use_id: question.tool_use_id.as_str().to_owned(),
            agent: question.agent_id.get().cloned(),
            mode,
            stood_in_for: false,
            facts: HookFacts {
                session_id: String::new(),
                transcript_path: String::new(),
                cwd: places.current(current.as_deref()),
                mode,
            },
            begun: Instant::now(),
            read_only_hint: None,
        }
    }

    /// The session's mode may have changed meanwhile: what asks less does not count any more, and what asks more does.
    pub(super) fn goes_on_in(&mut self, session: PermissionMode) {
        if session == PermissionMode::Plan {
            self.mode = session;
        }
        self.stood_in_for &= session == PermissionMode::BypassPermissions;
    }

    /// The user approved it, with another input perhaps, and in the mode that the session is in by now.
    pub(super) fn approved_with(&mut self, input: Option<&Value>, mode: PermissionMode, places: &Places) {
        self.mode = mode;
        if let Some(input) = input {
            self.plan_file = places.plan_file(input);
            self.input = input.clone();
        }
    }

    /// Whether it depends on what the tool's server says of it, and that is not known.
    pub(super) fn wants_hint(&self) -> bool {
        self.mode == PermissionMode::Plan && self.tool.starts_with("mcp__") && self.read_only_hint.is_none()
    }

    /// The call in permission-core's terms.
    pub(super) fn borrowed<'a>(&'a self, places: &'a Places) -> ToolCall<'a> {
        let workspace = Workspace {
            cwd: &places.cwd,
            current: &self.facts.cwd,
            project_root: &places.cwd,
            home: places.home.as_deref(),
            additional: &places.additional,
            paths: &FileSystemPaths,
        };
        let mut call = ToolCall::new(&self.tool, &self.input, workspace);
        call.mode = self.mode;
        call.plan_file = self.plan_file.as_deref();
        call.agent = self.agent.as_ref().map(TaskId::as_str);
        call.read_only_hint = self.read_only_hint == Some(true);
        call
    }
}

impl Places {
    fn current(&self, claimed: Option<&str>) -> String {
        claimed
            .filter(|claimed| claimed.starts_with('/'))
            .unwrap_or(&self.cwd)
            .to_owned()
    }
}

/// A directory without symbolic links, as far as it exists.
fn real(path: &Path) -> String {
    let path = text(path);
    FileSystemPaths.resolve(&path).unwrap_or(path)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
