//! A tool call as rules see it: its tool, its input, and the world in which paths mean something.
//!
//! Place in the flow: whoever is asked about a call borrows it from there. Its command is analysed once, when somebody asks
//! what it runs.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use serde_json::Value;

use crate::modes::PermissionMode;
use crate::paths::{PathResolver, Places, Subject, normalized};
use crate::rules::{Files, doubt};
use crate::shell::{self, Analysis, Invocation, Word, is_read_only, is_writer};
use crate::tools::{GLOB, POWERSHELL, SANDBOX_NETWORK, Tool, ToolGroup};

/// The directories that a session works in.
#[derive(Clone, Copy)]
pub struct Workspace<'a> {
    /// The working directory, absolute.
    pub cwd: &'a str,
    /// Where relative paths start, absolute: the working directory, unless a command has changed to another since.
    pub current: &'a str,
    /// The project's root, absolute; rules like `/src/**` start here.
    pub project_root: &'a str,
    /// The user's home directory, absolute.
    pub home: Option<&'a str>,
    /// Further working directories, absolute.
    pub additional: &'a [String],
    /// Resolves symbolic links.
    pub paths: &'a dyn PathResolver,
}

/// One tool call, with what the session is like when it comes.
pub struct ToolCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// Where it happens.
    pub workspace: Workspace<'a>,
    /// The session's mode.
    pub mode: PermissionMode,
    /// The file that may be written in `plan`, absolute.
    pub plan_file: Option<&'a str>,
    /// The subagent that calls; `None` for the session itself.
    pub agent: Option<&'a str>,
    /// The tool's server says that it only reads.
    pub read_only_hint: bool,
    /// Anything may come in through the input of a command.
    fed_anything: bool,
    command: Rc<OnceCell<Option<Command>>>,
}

/// The command of a shell call.
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) analysis: Analysis,
    pub(crate) files: Files,
}

impl<'a> Workspace<'a> {
    pub(crate) fn places(&self) -> Places<'a> {
        let Self {
            cwd,
            current,
            project_root,
            home,
            additional: _,
            paths,
        } = *self;
        Places::new(cwd, project_root, home, paths).starting_at(current)
    }
}

impl<'a> ToolCall<'a> {
    /// A call of `tool` with `input`, by the session itself in `default`.
    pub fn new(tool: &'a str, input: &'a Value, workspace: Workspace<'a>) -> Self {
        Self {
            tool,
            input,
            workspace,
            mode: PermissionMode::Default,
            plan_file: None,
            agent: None,
            read_only_hint: false,
            fed_anything: false,
            command: Rc::default(),
        }
    }

    /// The same, where anything may come in through a command's input: so a rule about the command would have it next time.
    pub(crate) fn fed_anything(&self) -> Self {
        Self {
            fed_anything: true,
            ..self.with_input(self.input)
        }
    }

    /// The same with another input.
    pub(crate) fn with_input<'b>(&self, input: &'b Value) -> ToolCall<'b>
    where
        'a: 'b,
    {
        ToolCall {
            input,
            command: Rc::default(),
            ..*self
        }
    }

    /// The same elsewhere: what its command runs does not depend on that.
    pub fn within<'b>(&self, workspace: Workspace<'b>) -> ToolCall<'b>
    where
        'a: 'b,
    {
        ToolCall {
            workspace,
            command: Rc::clone(&self.command),
            ..*self
        }
    }

    /// The command, if it is a shell's.
    pub(crate) fn command(&self) -> Option<&Command> {
        self.command.get_or_init(|| self.read_command()).as_ref()
    }

    fn read_command(&self) -> Option<Command> {
        let runs = ToolGroup::of(self.tool) == ToolGroup::Command;
        let text = self.text("command").filter(|_| runs)?;
        let analysis = if self.tool == POWERSHELL && !shell::is_plain(text) {
            shell::unreadable(text)
        } else if self.fed_anything {
            shell::analyse_fed_anything(text)
        } else {
            shell::analyse(text)
        };
        Some(Command {
            text: text.to_owned(),
            analysis,
            files: Files::default(),
        })
    }

    pub(crate) fn places(&self) -> Places<'a> {
        self.workspace.places()
    }

    /// The analysis of the command; `None` for other tools, and without a command.
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        self.command().map(|command| &command.analysis)
    }

    /// Why the command cannot be analysed, so that no rule allows it by its content.
    pub fn doubt(&self) -> Option<&'static str> {
        self.analysis()?.doubt().map(doubt)
    }

    /// A text of the input.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.input.get(name).and_then(Value::as_str)
    }

    /// The address that is called, if the input names one.
    pub(crate) fn url(&self) -> Option<Cow<'a, str>> {
        match self.text("host") {
            Some(host) if self.tool == SANDBOX_NETWORK => Some(format!("https://{}/", host.trim()).into()),
            Some(_) | None => self.text("url").map(Cow::Borrowed),
        }
    }

    /// The file or directory of a file tool. `None` where the input names none that can be told.
    pub(crate) fn subject(&self) -> Option<Subject> {
        if self.tool == GLOB {
            return self.searched();
        }
        let tool = Tool::of(self.tool);
        let named = tool.paths.iter().find_map(|field| self.text(field));
        let path = named.or(tool.starts_here.then_some("."))?;
        (!path.contains('\0')).then(|| self.places().subject(path))
    }

    /// The directory that a search for names looks into.
    fn searched(&self) -> Option<Subject> {
        let directory = self.text("path").unwrap_or(".");
        let pattern = self.text("pattern")?;
        let fixed: Vec<&str> = pattern
            .split('/')
            .take_while(|step| !step.contains(['*', '?', '[', '{']))
            .collect();
        let rest = pattern.split('/').skip(fixed.len());
        if rest.into_iter().any(|step| step.contains("..")) {
            return None;
        }
        let fixed = fixed.join("/");
        let absolute = pattern.starts_with('/') || pattern.starts_with('~');
        let path = if absolute {
            format!("{fixed}/")
        } else {
            format!("{directory}/{fixed}")
        };
        Some(self.places().subject(&path))
    }

    /// Whether a working directory holds it, through symbolic links too.
    pub(crate) fn is_inside(&self, subject: &Subject) -> bool {
        let places = self.places();
        let directories =
            std::iter::once(self.workspace.cwd).chain(self.workspace.additional.iter().map(String::as_str));
        directories
            .into_iter()
            .any(|directory| places.directory_covers(directory, subject))
    }

    /// Whether it is a reading tool whose file lies in the workspace.
    pub(crate) fn reads_inside(&self) -> bool {
        ToolGroup::of(self.tool) == ToolGroup::Reads
            && self.subject().is_some_and(|subject| self.is_inside(&subject))
    }

    /// Whether it is an editing tool whose file lies in the workspace. Claude's own settings are never among it.
    pub(crate) fn edits_inside(&self) -> bool {
        ToolGroup::of(self.tool) == ToolGroup::Edits
            && self.subject().is_some_and(|subject| self.accepts_edit(&subject))
    }

    /// Whether it is an editing tool whose file is, or may be, among Claude's own settings.
    pub(crate) fn edits_claude_settings(&self) -> bool {
        let settings = |subject: Subject| self.places().is_claude_settings(&subject);
        ToolGroup::of(self.tool) == ToolGroup::Edits && self.subject().is_some_and(settings)
    }

    /// The commands that certainly run, as they were written.
    pub(crate) fn commands(&self) -> Vec<String> {
        let seen = self.analysis().map(Analysis::seen);
        let invocations = seen.into_iter().flat_map(|seen| &seen.invocations);
        let certain = invocations.filter(|invocation| invocation.certain && !invocation.words.is_empty());
        certain.map(Invocation::written).collect()
    }

    /// Whether the call certainly changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        match ToolGroup::of(self.tool) {
            ToolGroup::Reads => true,
            ToolGroup::Command => match self.analysis() {
                Some(Analysis::Commands(commands)) => {
                    let certain = commands
                        .invocations
                        .iter()
                        .filter(|invocation| invocation.certain);
                    let writes = commands.redirections.iter().any(|file| file.access.writes());
                    !writes && certain.into_iter().all(is_read_only)
                }
                Some(Analysis::Unanalysable(_)) | None => false,
            },
            ToolGroup::Edits => false,
            // A working tree of its own is a change.
            ToolGroup::Agent
                if self
                    .input
                    .get("isolation")
                    .is_some_and(|isolation| !isolation.is_null()) =>
            {
                false
            }
            ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                Tool::of(self.tool).only_looks
            }
        }
    }

    /// Whether the call changes a file for certain. A command of which nobody can tell may.
    pub(crate) fn certainly_writes(&self) -> bool {
        match ToolGroup::of(self.tool) {
            ToolGroup::Edits => true,
            ToolGroup::Command => match self.analysis() {
                Some(Analysis::Commands(commands)) => {
                    let mut invocations = commands.invocations.iter();
                    let writes = |invocation: &Invocation| invocation.certain && is_writer(&invocation.words);
                    commands.redirections.iter().any(|file| file.access.writes()) || invocations.any(writes)
                }
                Some(Analysis::Unanalysable(_)) | None => false,
            },
            ToolGroup::Reads | ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                false
            }
        }
    }

    /// Whether it is planning: a tool of its own, or the plan's file in `plan`.
    pub(crate) fn is_planning(&self) -> bool {
        Tool::of(self.tool).plans || self.writes_plan()
    }

    /// Whether it writes the plan's file in `plan`.
    pub(crate) fn writes_plan(&self) -> bool {
        let is_plan = |file: &str| {
            let same = |subject: Subject| subject.given() == normalized(file) && subject.is_no_link();
            file.starts_with('/') && self.subject().is_some_and(same)
        };
        self.mode == PermissionMode::Plan
            && ToolGroup::of(self.tool) == ToolGroup::Edits
            && self.plan_file.is_some_and(is_plan)
    }

    fn accepts_edit(&self, subject: &Subject) -> bool {
        self.is_inside(subject) && !self.places().is_claude_settings(subject)
    }

    /// Whether an edit of a command's path may be accepted with all edits of the workspace.
    pub(crate) fn accepts_word(&self, path: &Word) -> bool {
        let settings = |text: &str| self.places().is_claude_settings(&self.places().subject(text));
        self.is_word_inside(path) && !path.literal().is_some_and(settings)
    }

    /// Whether the path of a command certainly lies in a working directory.
    pub(crate) fn is_word_inside(&self, path: &Word) -> bool {
        let Some(text) = path.literal() else {
            return false;
        };
        // A quoted `~` is a name, an unquoted one the home directory.
        let named = text.starts_with('~') && !path.home;
        let text = if named {
            format!("./{text}")
        } else {
            text.to_owned()
        };
        (text != "~" || !path.home) && self.is_inside(&self.places().subject(&text))
    }
}
