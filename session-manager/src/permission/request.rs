//! Between permission-core's terms and ACP's: a question in, `session/request_permission` out.

use std::path::PathBuf;

use acp_proto::ext::{MetaRecord, PermissionPresentation};
use acp_proto::schema;
use claude_sdk_bridge::messages::control::CanUseTool;
use permission_core::{AskContext, OptionKind, PlanFacts, PrepareError, PreparedRequest, Presentation};

use super::AskFacts;

/// Prepares the options and the presentation of a question.
///
/// # Errors
/// When the tool's question is no permission question.
pub(crate) fn prepare(question: &CanUseTool, facts: &AskFacts<'_>) -> Result<PreparedRequest, PrepareError> {
    let suggestions = serde_json::to_value(&question.permission_suggestions).ok();
    permission_core::prepare(&AskContext {
        display_name: question.display_name.as_str(),
        suggestions: suggestions.as_ref(),
        blocked_path: question.blocked_path.as_str(),
        decision_reason: question.decision_reason.as_str(),
        decision_reason_type: question.decision_reason_type.as_str(),
        decision_reason_rule_source: question.decision_reason_rule_source.as_str(),
        matched_ask_rule: !question.matched_ask_rule.is_absent(),
        rules: facts.rules,
        suppress_always_allow_rule: question.suppress_always_allow_rule.is_true(),
        default_to_no: question.default_to_no.is_true(),
        tool_title: facts.title,
        plan: PlanFacts {
            offered_modes: facts.modes,
            fresh_modes: facts.fresh_modes,
            text: facts.plan,
            clear_context: true,
            context_used_percent: facts.context_used_percent,
        },
        ..AskContext::new(&facts.call, question.tool_use_id.as_str())
    })
}

/// The request as it goes to the client. `call` is the tool call as the client has seen it announced.
pub(crate) fn wire_request(
    session_id: schema::SessionId,
    mut call: schema::ToolCallUpdate,
    prepared: &PreparedRequest,
) -> schema::RequestPermissionRequest {
    if let Some(title) = prepared.tool_title_override() {
        call.fields.title = Some(title.to_owned());
    }
    if let Some(json) = prepared.synthesized_json_content()
        && call.fields.content.as_ref().is_none_or(Vec::is_empty)
    {
        call.fields.content = Some(vec![json.to_owned().into()]);
    }
    let rendered: Vec<String> = call
        .fields
        .locations
        .iter()
        .flatten()
        .map(|location| location.path.to_string_lossy().into_owned())
        .collect();
    if let Some(blocked) = prepared.extra_location(rendered.iter().map(String::as_str)) {
        call.fields
            .locations
            .get_or_insert_default()
            .push(schema::ToolCallLocation::new(PathBuf::from(blocked)));
    }
    let options = prepared.options().iter().map(|option| {
        schema::PermissionOption::new(option.id.as_str(), option.name.clone(), kind(option.kind))
    });
    schema::RequestPermissionRequest::new(session_id, call, options.collect())
        .meta(presentation(prepared.presentation()).into_meta())
}

fn kind(kind: OptionKind) -> schema::PermissionOptionKind {
    match kind {
        OptionKind::AllowOnce => schema::PermissionOptionKind::AllowOnce,
        OptionKind::AllowAlways => schema::PermissionOptionKind::AllowAlways,
        OptionKind::RejectOnce => schema::PermissionOptionKind::RejectOnce,
    }
}

fn presentation(presentation: &Presentation) -> PermissionPresentation {
    PermissionPresentation {
        description: presentation.description.clone(),
        default_to_no: presentation.default_to_no.then_some(true),
        ..PermissionPresentation::new(presentation.title.clone())
    }
}
