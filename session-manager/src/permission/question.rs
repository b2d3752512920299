//! Claude's questions to the user, as an ACP form: AskUserQuestion in, `elicitation/create` out.
//!
//! What the form holds and what an answer means is permission-core's; only the envelope is made here.

use acp_proto::schema::SessionId;
use permission_core::QuestionForm;
use serde::Serialize;
use serde_json::Value;

/// `elicitation/create` for a form. The schema is permission-core's JSON as it stands, so that nothing of it is lost.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FormRequest<'a> {
    mode: &'static str,
    session_id: &'a SessionId,
    tool_call_id: &'a str,
    message: &'a str,
    requested_schema: Value,
}

/// The request that shows a form.
pub(crate) fn form_request<'a>(
    session_id: &'a SessionId,
    tool_call_id: &'a str,
    form: &'a QuestionForm,
) -> FormRequest<'a> {
    FormRequest {
        mode: "form",
        session_id,
        tool_call_id,
        message: form.message(),
        requested_schema: form.schema(),
    }
}

#[cfg(test)]
mod tests {
    use acp_proto::schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_request_reads_as_the_protocols_own_type() {
        let input = json!({"questions": [
            {"question": "Which?", "header": "Pick", "options": [{"label": "a", "description": "A"}, {"label": "b"}], "multiSelect": false},
            {"question": "More?", "header": "Many", "options": [{"label": "x"}, {"label": "y"}], "multiSelect": true},
        ]});
        let form = QuestionForm::build(&input).unwrap();
        let session = SessionId::new("s");
        let wire = serde_json::to_value(form_request(&session, "toolu_1", &form)).unwrap();
        let typed: schema::CreateElicitationRequest = serde_json::from_value(wire.clone()).unwrap();
        let again = serde_json::to_value(typed).unwrap();
        for key in ["mode", "sessionId", "toolCallId", "message"] {
            assert_eq!(again[key], wire[key], "{key}");
        }
    }
}
