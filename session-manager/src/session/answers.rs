//! How a prompt is answered: the one place that turns the end of a turn into a response or an error.
//!
//! Every text here reaches a user. A failure of Claude's is said once, in the error of the prompt it belongs to, with its
//! kind in `data.errorKind`; the session goes on.

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::backend::Exit;
use claude_sdk_bridge::messages::{ApiErrorKind, ResultMessage, TurnOutcome};
use claude_sdk_bridge::query::StartError;
use serde_json::{Value, json};

use super::Login;
use super::start::LaunchFailure;
use crate::turn::Outcome;

/// The event that ended a turn, with what it has to say.
#[derive(Clone, Copy)]
pub(super) enum Cause<'a> {
    None,
    Result(&'a ResultMessage),
    Exit(&'a Exit),
    Launch(&'a LaunchFailure),
}

/// What was seen during the running turn that its end does not say itself.
#[derive(Default)]
pub(super) struct TurnFacts {
    /// The user rejected a plan without a word: Claude reports that turn as interrupted.
    pub(super) plan_rejected: bool,
    /// The kind of the API error that Claude last reported; the result has only its text.
    pub(super) api_error: Option<ApiErrorKind>,
    /// The user has been told that the client cannot show Claude's questions.
    pub(super) complained: bool,
}

/// The answer to a prompt. `used`: what it has used so far.
pub(super) fn answer(
    outcome: Outcome,
    cause: Cause<'_>,
    facts: &TurnFacts,
    used: Option<schema::Usage>,
    login: &Login,
) -> Result<schema::PromptResponse, RpcError> {
    match (outcome, cause) {
        (Outcome::Finished, Cause::Result(result)) => {
            Ok(schema::PromptResponse::new(finished(result, facts, login)?).usage(used))
        }
        (Outcome::Cancelled, _) => Ok(schema::PromptResponse::new(schema::StopReason::Cancelled).usage(used)),
        (Outcome::Died, Cause::Exit(exit)) => Err(died(exit)),
        (Outcome::LaunchFailed, Cause::Launch(failure)) => Err(launch_error(failure, login)),
        (Outcome::QueueFull, _) => Err(failure(
            "too many prompts wait for this session; wait for answers before sending more",
            "queue_full",
        )),
        (Outcome::Closed, _) => Err(failure("the session is closed; open a new one", "session_closed")),
        (Outcome::Finished | Outcome::NoResult | Outcome::Died | Outcome::LaunchFailed, _) => Err(failure(
            "Claude stopped without finishing the turn; send the prompt again",
            "no_result",
        )),
    }
}

/// The error of a process that did not start.
pub(super) fn launch_error(failure: &LaunchFailure, login: &Login) -> RpcError {
    let error = match failure {
        LaunchFailure::Start(error) => error,
        LaunchFailure::Account => return login.refused(),
    };
    let exit = match error {
        StartError::Launch(_) => None,
        StartError::Exited { exit }
        | StartError::Refused { exit, .. }
        | StartError::Initialize { exit, .. }
        | StartError::Flooded { exit } => Some(exit_data(exit)),
    };
    errors::internal(error, exit)
}

/// Whether a turn failed for want of a login, so that only a new process can do better.
pub(super) fn is_signed_out(result: &ResultMessage, facts: &TurnFacts) -> bool {
    let TurnOutcome::ApiError { kind, status, .. } = result.outcome() else {
        return false;
    };
    match kind.as_ref().or(facts.api_error.as_ref()) {
        Some(ApiErrorKind::AuthenticationFailed) => true,
        Some(ApiErrorKind::Unknown) | None => matches!(status, Some(401 | 403)),
        Some(_) => false,
    }
}

fn finished(
    result: &ResultMessage,
    facts: &TurnFacts,
    login: &Login,
) -> Result<schema::StopReason, RpcError> {
    if is_signed_out(result, facts) {
        return Err(login.required());
    }
    let stop = match result.outcome() {
        TurnOutcome::Completed | TurnOutcome::HookStopped | TurnOutcome::ToolDeferred => {
            schema::StopReason::EndTurn
        }
        TurnOutcome::Cancelled(_) if facts.plan_rejected => schema::StopReason::EndTurn,
        TurnOutcome::Cancelled(_) => schema::StopReason::Cancelled,
        TurnOutcome::MaxTokens => schema::StopReason::MaxTokens,
        TurnOutcome::MaxTurns => schema::StopReason::MaxTurnRequests,
        TurnOutcome::Refusal { .. } => schema::StopReason::Refusal,
        TurnOutcome::ApiError { kind, text, .. } => {
            let kind = kind.as_ref().or(facts.api_error.as_ref());
            return Err(failure(&text, kind.map_or("unknown", ApiErrorKind::as_str)));
        }
        TurnOutcome::PromptTooLong { text } => return Err(failure(&text, "invalid_request")),
        TurnOutcome::MaxBudget => {
            return Err(failure(
                "the cost limit of this session is reached; raise it or open a new session",
                "max_budget",
            ));
        }
        TurnOutcome::StructuredOutputFailed => {
            return Err(failure(
                "Claude could not produce output of the schema that was asked for",
                "structured_output",
            ));
        }
        TurnOutcome::Failed { text, .. } => return Err(failure(&text, "execution_failed")),
    };
    Ok(stop)
}

fn died(exit: &Exit) -> RpcError {
    let message =
        format!("the Claude process ended during the turn with {exit}; send the prompt again to go on");
    errors::internal(message, Some(exit_data(exit)))
}

fn failure(message: &str, kind: &str) -> RpcError {
    let message = if message.trim().is_empty() {
        NO_REASON
    } else {
        message
    };
    errors::internal(message, Some(json!({"errorKind": kind})))
}

const NO_REASON: &str = "Claude ended the turn without saying why; send the prompt again";

fn exit_data(exit: &Exit) -> Value {
    json!({"errorKind": "process_ended", "exit": exit.status.to_string(), "stderr": exit.stderr_tail})
}
