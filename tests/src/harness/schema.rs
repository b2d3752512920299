//! Reads every message of the agent with the protocol's own types: what does not fit fails the test.

use agent_client_protocol_schema::v1 as acp;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks a request or notification of the agent.
pub(crate) fn check_call(method: &str, params: &Value) {
    match method {
        "session/update" => check::<acp::SessionNotification>(method, params),
        "session/request_permission" => check::<acp::RequestPermissionRequest>(method, params),
        "elicitation/create" => check::<acp::CreateElicitationRequest>(method, params),
        _ => {}
    }
}

/// Checks the result of a request of ours.
pub(crate) fn check_result(method: &str, result: &Value) {
    match method {
        "initialize" => check::<acp::InitializeResponse>(method, result),
        "session/new" => check::<acp::NewSessionResponse>(method, result),
        "session/prompt" => check::<acp::PromptResponse>(method, result),
        "session/set_mode" => check::<acp::SetSessionModeResponse>(method, result),
        "session/load" => check::<acp::LoadSessionResponse>(method, result),
        "session/resume" => check::<acp::ResumeSessionResponse>(method, result),
        "session/fork" => check::<acp::ForkSessionResponse>(method, result),
        "session/delete" => check::<acp::DeleteSessionResponse>(method, result),
        "session/list" => check::<acp::ListSessionsResponse>(method, result),
        "session/close" => check::<acp::CloseSessionResponse>(method, result),
        _ => {}
    }
}

fn check<T: DeserializeOwned>(method: &str, value: &Value) {
    if let Err(error) = serde_json::from_value::<T>(value.clone()) {
        panic!("`{method}` does not fit the protocol: {error}: {value}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_the_protocol_passes() {
        let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
        check_call("session/update", &json!({"sessionId": "s", "update": chunk}));
        check_result("session/prompt", &json!({"stopReason": "end_turn"}));
    }

    #[test]
    #[should_panic(expected = "does not fit the protocol")]
    fn an_update_without_its_fields_fails() {
        check_call(
            "session/update",
            &json!({"sessionId": "s", "update": {"sessionUpdate": "tool_call"}}),
        );
    }

    #[test]
    #[should_panic(expected = "does not fit the protocol")]
    fn an_unknown_stop_reason_fails() {
        check_result("session/prompt", &json!({"stopReason": "because"}));
    }

    #[test]
    #[should_panic(expected = "does not fit the protocol")]
    fn an_unknown_update_fails() {
        check_call(
            "session/update",
            &json!({"sessionId": "s", "update": {"sessionUpdate": "novelty"}}),
        );
    }
}
