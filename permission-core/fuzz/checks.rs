//! What must hold for every text that claims to be a suggestion bundle or a permission response.
//!
//! Place in the flow: the fuzz targets feed it random bytes, an ordinary test feeds it the seeds. Uses nothing but
//! the public interface.

use permission_core::{
    Answer, AskContext, Effect, FormReply, LexicalPaths, PermissionUpdate, PreparedRequest, QuestionForm,
    Snapshot, prepare,
};
use serde_json::{Value, json};

/// A bundle is taken whole or not at all, and every durable option echoes it behind a label that can be shown.
pub(crate) fn suggestions(bytes: &[u8]) {
    let Ok(suggestions) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let snapshot = Snapshot::take(Some(&suggestions));
    if let Some(snapshot) = &snapshot {
        assert_eq!(
            Some(snapshot.original()),
            suggestions.as_array().map(Vec::as_slice)
        );
        for (original, typed) in snapshot.original().iter().zip(snapshot.updates()) {
            let again: PermissionUpdate = serde_json::from_value(original.clone()).expect("valid twice");
            assert_eq!(&again, typed);
        }
    }
    for tool in [
        "Bash",
        "PowerShell",
        "Read",
        "Glob",
        "Edit",
        "mcp__srv__tool",
        "SandboxNetworkAccess",
    ] {
        let request = request(tool, Some(&suggestions));
        for option in request.options() {
            let Effect::AllowWithUpdates { updates, .. } = &option.effect else {
                continue;
            };
            assert_eq!(Some(updates), snapshot.as_ref(), "the effect is the bundle");
            assert!(option.name.encode_utf16().count() <= 200, "{}", option.name);
            assert!(!option.name.contains(char::is_control), "{:?}", option.name);
        }
    }
}

/// Whatever a client answers, only a plain selection of an offered option that allows lets the tool run.
pub(crate) fn response(bytes: &[u8]) {
    let Ok(response) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let suggestions = json!([{
        "type": "addRules",
        "rules": [{ "toolName": "Bash", "ruleContent": "npm test:*" }],
        "behavior": "allow",
        "destination": "localSettings",
    }]);
    for tool in ["Bash", "ExitPlanMode"] {
        let request = request(tool, Some(&suggestions));
        let selected = response
            .pointer("/outcome/outcome")
            .filter(|outcome| outcome.as_str() == Some("selected"))
            .and_then(|_| response.pointer("/outcome/optionId")?.as_str());
        let allows = request.options().iter().any(|option| {
            let allows = matches!(option.effect, Effect::AllowOnce | Effect::AllowWithUpdates { .. });
            allows && Some(option.id.as_str()) == selected
        });
        let settled = request.settle(&Answer::from_response(&response));
        assert_eq!(
            settled.is_ok_and(|settled| settled.result.is_allow()),
            allows,
            "{response}"
        );
    }
    let questions = json!({ "questions": [{ "question": "Q", "options": [{ "label": "A" }] }] });
    let form = QuestionForm::build(&questions).expect("a question");
    let reply = FormReply::from_response(&response);
    let answers = matches!(reply, FormReply::Accepted(_) | FormReply::Declined);
    assert_eq!(form.settle(&reply).is_ok(), answers, "{response}");
}

fn request(tool: &str, suggestions: Option<&Value>) -> PreparedRequest {
    let input = json!({ "file_path": "/repo/src/a", "host": "example.com", "plan": "p" });
    let mut ask = AskContext::new(tool, &input, "toolu_1", "/repo", &LexicalPaths);
    ask.suggestions = suggestions;
    ask.plan.clear_context = true;
    prepare(&ask).expect("not a question")
}
