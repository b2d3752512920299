//! The words of every reason.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn every_reason_has_its_words() {
    let rule = crate::rules::Rule::read(RuleKind::Ask, "Bash(x)", RuleOrigin::Session)
        .0
        .unwrap();
    let text = || "text".to_owned();
    let reasons = [
        Reason::UnknownTool,
        Reason::InvalidInput(text()),
        Reason::Hook(text()),
        Reason::Plan,
        Reason::Rule,
        Reason::ReadOnly,
        Reason::AcceptedEdit,
        Reason::Bypass,
        Reason::User(text()),
        Reason::Check(text()),
        Reason::NoPrompt(AskReason::Rule(Arc::new(rule))),
        Reason::NoPrompt(AskReason::Hook(text())),
        Reason::NoPrompt(AskReason::Denials(3)),
        Reason::NoPrompt(AskReason::NothingMatched),
        Reason::NoPrompt(AskReason::Unanalysable("it is nested too deeply")),
    ];
    insta::assert_snapshot!(reasons.map(|reason| reason.to_string()).join("\n"));
}
