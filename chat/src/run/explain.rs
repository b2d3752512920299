//! Why a request has no result, in plain words and with what to do about it. Text of the agent's is made fit to be
//! printed here.

use acp_proto::RpcError;
use acp_proto::schema::AuthMethod;
use serde_json::Value;

use super::Chat;
use crate::ChatError;
use crate::peer::Failure;
use crate::present::{sanitize, wording};

impl Chat {
    pub(super) fn chat_error(&self, failure: Failure) -> ChatError {
        match failure {
            Failure::Closed => ChatError::Closed,
            Failure::LoginNeeded | Failure::Refused(_) => ChatError::Agent(self.explain(failure)),
        }
    }

    pub(super) fn explain(&self, failure: Failure) -> String {
        match failure {
            Failure::Closed => wording::connection_closed(),
            Failure::LoginNeeded => wording::login_needed(&self.options.agent_command, &self.logins),
            Failure::Refused(error) => explain_error(&error),
        }
    }

    /// What to type to log in the way a method says, with its name.
    pub(super) fn login(&self, method: &AuthMethod) -> Option<(String, String)> {
        match method {
            AuthMethod::Terminal(method) => {
                let command = format!("{} {}", self.options.agent_command, method.args.join(" "));
                Some((sanitize::line(&method.name), sanitize::line(&command)))
            }
            _ => None,
        }
    }
}

fn explain_error(error: &RpcError) -> String {
    let data: Value = error
        .data()
        .and_then(|data| serde_json::from_str(data.get()).ok())
        .unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(sanitize::line);
    let detail = text(data.get("details")).or_else(|| text(Some(&data)));
    let hint = text(data.get("errorKind")).and_then(|kind| wording::error_hint(&kind));
    // The name of the code says nothing to a person when a reason follows.
    let message = error.message();
    let message = message.strip_prefix("Internal error: ").unwrap_or(message);
    wording::agent_error(sanitize::block(message).trim_end(), detail.as_deref(), hint)
}

#[cfg(test)]
mod tests {
    use acp_proto::errors;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_its_reason_its_detail_and_a_hint() {
        let check = |error: RpcError, expected: String| assert_eq!(explain_error(&error), expected);
        check(
            errors::internal("it broke", Some(json!({"errorKind": "rate_limit"}))),
            wording::agent_error("it broke", None, wording::error_hint("rate_limit")),
        );
        check(
            errors::internal(
                "it \u{1b}[2Jbroke",
                Some(json!({"details": "a\nb", "errorKind": "news"})),
            ),
            wording::agent_error("it ␛[2Jbroke", Some("a ⏎ b"), None),
        );
        check(
            errors::invalid_params("`cwd` is no directory", Some(json!("text"))),
            wording::agent_error("Invalid params: `cwd` is no directory", Some("text"), None),
        );
        check(
            RpcError::owned(-32603, "Internal error", None::<()>),
            wording::agent_error("Internal error", None, None),
        );
    }
}
