//! The command line of policies: the options that put sessions under one, and `policy check` and `policy explain`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use permission_core::PermissionMode;
use serde_json::Value;

use super::{Request, conflict, wording};

/// Under whose eyes sessions run.
#[derive(Debug, Clone, Default, Args, PartialEq, Eq)]
pub(crate) struct OversightArgs {
    /// Keep every session to this operator's policy, whatever the client, a
    /// project or the model say; with a mistake in it nothing starts
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) policy: Option<PathBuf>,

    /// Append every decision about a tool call to this file, a line of JSON
    /// each; a call that cannot be recorded does not run
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) audit: Option<PathBuf>,
}

/// What `policy` does.
#[derive(Debug, Clone, Subcommand, PartialEq)]
pub(crate) enum PolicyCommand {
    /// Tell whether files are policies: file, line, key and what is allowed there; exits with 1 if one is not
    Check {
        /// The policy files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Tell, stage by stage, what would become of a tool call, and which rule in which file decides
    #[command(after_help = wording::EXPLAIN_HELP)]
    Explain(ExplainArgs),
}

/// What `policy explain` takes.
#[derive(Debug, Clone, Args, PartialEq)]
pub(crate) struct ExplainArgs {
    /// The tool, such as Bash, Edit or `mcp__server__tool` [default with --command: Bash]
    #[arg(long, value_name = "NAME", required_unless_present = "command")]
    pub(crate) tool: Option<String>,

    /// Its input, a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", value_parser = parse_input, required_unless_present = "command")]
    pub(crate) input: Option<Given<Value>>,

    /// The command of a shell tool, instead of --input; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", value_parser = parse_command, conflicts_with = "input")]
    pub(crate) command: Option<Given<String>>,

    /// The session's working directory, whose settings count [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// The session's mode [default: the one that policy and settings give]
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) mode: Option<PermissionMode>,

    /// With this operator's policy in front of Claude's own rules
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// A value of the command line, or the word that it comes in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given<T> {
    Here(T),
    Stdin,
}

impl OversightArgs {
    /// Whether sessions run under nobody's eyes.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What was given before a subcommand and behind it, as one.
    pub(super) fn or(self, behind: Self) -> Result<Self, clap::Error> {
        Ok(Self {
            policy: either(self.policy, behind.policy, wording::POLICY_TWICE)?,
            audit: either(self.audit, behind.audit, wording::AUDIT_TWICE)?,
        })
    }
}

/// Reads what stands around `policy`.
pub(super) fn policy_request(
    mut command: PolicyCommand,
    before: OversightArgs,
) -> Result<Request, clap::Error> {
    if before.audit.is_some() {
        return Err(conflict(wording::AUDIT_WITH_POLICY));
    }
    match &mut command {
        PolicyCommand::Check { .. } if before.policy.is_some() => {
            return Err(conflict(wording::POLICY_WITH_CHECK));
        }
        PolicyCommand::Check { .. } => {}
        PolicyCommand::Explain(explain) => {
            explain.policy = either(before.policy, explain.policy.take(), wording::POLICY_TWICE)?;
        }
    }
    Ok(Request::Policy(command))
}

/// What was given before the subcommand or behind it. Where the two could differ, none of them wins unseen.
fn either(
    before: Option<PathBuf>,
    behind: Option<PathBuf>,
    twice: &str,
) -> Result<Option<PathBuf>, clap::Error> {
    match (before, behind) {
        (Some(_), Some(_)) => Err(conflict(twice)),
        (before, behind) => Ok(before.or(behind)),
    }
}

fn parse_input(text: &str) -> Result<Given<Value>, String> {
    if text == "-" {
        return Ok(Given::Stdin);
    }
    object(text).map(Given::Here)
}

/// The input of a call.
pub(crate) fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(input @ Value::Object(_)) => Ok(input),
        Ok(_) => Err(wording::NO_OBJECT.to_owned()),
        Err(error) => Err(format!("{}: {error}", wording::NO_OBJECT)),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a parser of an argument gives")]
fn parse_command(text: &str) -> Result<Given<String>, String> {
    Ok(match text {
        "-" => Given::Stdin,
        text => Given::Here(text.to_owned()),
    })
}

/// `manual` is what clients call the mode `default`.
fn parse_mode(text: &str) -> Result<PermissionMode, String> {
    let manual = (text == "manual").then_some(PermissionMode::Default);
    manual
        .or_else(|| PermissionMode::from_wire_id(text))
        .ok_or_else(|| {
            let modes = PermissionMode::ALL.map(|mode| mode.wire_id());
            format!("expected one of {}, manual", modes.join(", "))
        })
}
