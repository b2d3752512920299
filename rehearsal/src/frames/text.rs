//! Every text the rehearsal says in the CLI's place, in one file: errors, refusals, its own polite turn.
//!
//! Where a host may act on a text, it is the CLI's wording, because a host that reads it must read it here too.

use std::fmt::Write as _;

use crate::script::{self, FailureKind, Script};

pub(crate) const INTERRUPTED: &str = "[Request interrupted by user]";
pub(crate) const INTERRUPTED_TOOL: &str = "[Request interrupted by user for tool use]";
pub(crate) const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
pub(crate) const STOPPED_WHILE_RUNNING: &str = " Correction to the text above: this call was stopped while running, not refused before it ran. It may have run in part or in full, and its changes may have been written.";
pub(crate) const REJECTED_SUMMARY: &str = "User rejected tool use";
pub(crate) const STREAM_CLOSED_PENDING: &str =
    "AbortError: Tool permission stream closed before response received";
pub(crate) const STREAM_CLOSED: &str = "AbortError: Stream closed";
pub(crate) const MALFORMED_ANSWER: &str = "Error: the answer is neither `allow` nor `deny`";
pub(crate) const NO_OUTPUT: &str = "(Bash completed with no output)";
pub(crate) const PLAN_APPROVED: &str = "User has approved exiting plan mode. You can now proceed.";
pub(crate) const PLAN_ENTERED: &str = "Entered plan mode. Explore first, then present a plan.";
pub(crate) const TODOS_WRITTEN: &str = "Todos have been modified successfully.";
pub(crate) const HOOK_LATE: &str = "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not executed; other configured hooks may not have completed.";
pub(crate) const INVALID_ANSWER: &str = "the host's answer to the hook callback is not valid";
pub(crate) const AGENT_TYPE: &str = "general-purpose";
pub(crate) const INVALID_MODE: &str =
    "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, dontAsk, plan";
pub(crate) const BYPASS_NOT_LAUNCHED: &str = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions";
pub(crate) const NO_REQUEST: &str = "Error: Missing request on control_request";
pub(crate) const BYPASS_SETTING: &str = "bypass_not_launched";
pub(crate) const INVALID_MODE_CODE: &str = "invalid_mode";
pub(crate) const DONT_ASK: &str =
    "Permission to use this tool has been denied because the session does not ask.";
pub(crate) const NOBODY_TO_ASK: &str =
    "Permission to use this tool has been denied because nobody can be asked.";

/// What is said once the script has no more turns.
pub(crate) const SCRIPT_OVER: &str =
    "The script of this rehearsal is over. I was only reading lines; `/rehearse` lists the scenes there are.";

pub(crate) const SCENE_COMMAND_ABOUT: &str = "Play a scene of the rehearsal, or list the scenes";
pub(crate) const SCENE_COMMAND_HINT: &str = "[scene]";

/// The scenes that can be picked.
pub(crate) fn scenes(loaded: &Script) -> String {
    let mut list = String::from("`/rehearse NAME` plays a scene from its start.\n\nIn this script:\n");
    scene_lines(&mut list, "", loaded);
    list.push_str("\nBuilt-in scripts:\n");
    for name in script::names() {
        let Ok(builtin) = Script::builtin(name) else {
            continue;
        };
        scene_line(&mut list, "", name, &builtin.about);
        if builtin.scenes.len() > 1 {
            scene_lines(&mut list, &format!("{name}/"), &builtin);
        }
    }
    list
}

pub(crate) fn unknown_scene(name: &str, loaded: &Script) -> String {
    format!("There is no scene `{name}`. {}", scenes(loaded))
}

fn scene_lines(list: &mut String, prefix: &str, script: &Script) {
    for scene in &script.scenes {
        scene_line(list, prefix, &scene.name, &scene.about);
    }
}

fn scene_line(list: &mut String, prefix: &str, name: &str, about: &str) {
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(": {about}")
    };
    // Writing into a string cannot fail.
    let _ = writeln!(list, "- `{prefix}{name}`{about}");
}

pub(crate) fn no_such_tool(name: &str) -> String {
    format!("<tool_use_error>Error: No such tool available: {name}</tool_use_error>")
}

pub(crate) fn hook_denied(tool: &str, reason: &str) -> String {
    format!("PreToolUse:{tool} hook error: {reason}")
}

pub(crate) fn hook_feedback(feedback: &str) -> String {
    format!("PostToolUse hook feedback: {feedback}")
}

pub(crate) fn callback_failed(event: &str, callback: &str) -> String {
    format!(
        "{event}: Hook callback {callback} failed: the SDK host replied with an error or an invalid answer. Its answer was treated as empty."
    )
}

/// The name of the subagent that a call starts.
pub(crate) fn agent(call: &str) -> String {
    format!("agent_{call}")
}

/// Where a transcript would be; there is none.
pub(crate) fn transcript(session_id: &str) -> String {
    format!("/rehearsal/{session_id}.jsonl")
}

pub(crate) fn unanalysable(why: &str) -> String {
    format!("No rule can allow this command, because {why}.")
}

pub(crate) fn questions_answered(answers: &str) -> String {
    format!("Your questions have been answered: {answers}. You can now continue with these answers in mind.")
}

pub(crate) fn request_failed(reason: &str) -> String {
    format!("Tool permission request failed: {reason}")
}

pub(crate) fn wrong_role(role: Option<&str>) -> String {
    format!(
        "Error: Expected message role 'user', got '{}'",
        role.unwrap_or("undefined")
    )
}

pub(crate) fn not_json(length: usize) -> String {
    format!("Error parsing streaming input line (type=unknown, {length} chars): SyntaxError")
}

pub(crate) fn unsupported_subtype(subtype: &str) -> String {
    format!("Unsupported control request subtype: {subtype}")
}

pub(crate) fn no_conversation(session_id: &str) -> String {
    format!("No conversation found with session ID: {session_id}")
}

pub(crate) fn session_in_use(session_id: &str) -> String {
    format!("Error: Session ID {session_id} is already in use.")
}

pub(crate) fn model_set(name: &str, resolved: &str) -> String {
    let shown = if name == resolved {
        resolved.to_owned()
    } else {
        format!("{name} ({resolved})")
    };
    format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>")
}

pub(crate) fn diagnostic(stop_reason: Option<&str>) -> String {
    format!(
        "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={}",
        stop_reason.unwrap_or("null")
    )
}

/// What the CLI tells the user when a turn fails.
pub(crate) fn failure(kind: FailureKind, model: &str) -> String {
    match kind {
        FailureKind::NotLoggedIn => "Not logged in · Please run /login".to_owned(),
        FailureKind::AuthenticationFailed => "Invalid API key · Fix external API key".to_owned(),
        FailureKind::BillingError => "Credit balance is too low".to_owned(),
        FailureKind::RateLimit => "API Error: Request rejected (429) · slow down".to_owned(),
        FailureKind::Unknown => "API Error: 400 unknown".to_owned(),
        FailureKind::Overloaded => "API Error: 529 Overloaded. Try again in a moment.".to_owned(),
        FailureKind::InvalidRequest => "API Error: 400 invalid request".to_owned(),
        FailureKind::PromptTooLong => "Prompt is too long".to_owned(),
        FailureKind::ModelNotFound => {
            format!(
                "There's an issue with the selected model ({model}). It may not exist or you may not have access to it."
            )
        }
        FailureKind::ServerError => "API Error: 500 Internal server error. Try again in a moment.".to_owned(),
        FailureKind::MaxOutputTokens => {
            "API Error: the response exceeded the output token maximum.".to_owned()
        }
        FailureKind::Refusal => {
            "API Error: the model declined to answer this message. Try rephrasing it.".to_owned()
        }
        FailureKind::MaxTurns => "Reached maximum number of turns".to_owned(),
        FailureKind::MaxBudget => "Reached maximum budget".to_owned(),
    }
}

/// The name of a tool for people: the last part of an MCP tool's name, with a capital; else the name.
pub(crate) fn display_name(tool: &str) -> String {
    let Some((_, last)) = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return tool.to_owned();
    };
    let mut letters = last.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
