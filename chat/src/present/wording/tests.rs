//! One snapshot of every sentence, so that a change of wording is seen as one.

use super::*;

#[test]
fn every_fixed_sentence() {
    let constants = [
        PROMPT,
        CONTINUED,
        THINKING,
        TOOL,
        UNTITLED_TOOL,
        PLAN,
        COMMAND_MARGIN,
        EMPTY_PROMPT,
        CANCELLING,
        LEAVING,
        WITHDRAWN,
        REJECTED_AT_END,
        DENIED,
        DENIED_HINT,
        NO_OPTIONS,
        TYPED_TOO_EARLY,
        RETRY,
    ];
    let constants = constants.map(|text| format!("{text:?}"));
    insta::assert_snapshot!("constants", constants.join("\n"));
}

#[test]
fn every_sentence_with_a_value() {
    let problem = "permission denied";
    let built = [
        greeting("Claude 1.2", "/project"),
        pasted(3),
        agent(None, None),
        agent(Some("claude-acp"), Some("")),
        agent(Some("claude-acp"), Some("1.2")),
        mode("Plan"),
        notice(&NoticeSeverity::Info, "title", None),
        notice(&NoticeSeverity::Warning, "title", Some("description")),
        notice(&NoticeSeverity::Error, "title", None),
        not_text("image", "image/png"),
        not_text("content", ""),
        more_lines(1),
        more_lines(2),
        diff_new_file("a.rs"),
        diff_changed_file("a.rs"),
        diff_too_large(1, 30_000),
        question("npm test"),
        untitled_question(Some("Bash")),
        untitled_question(None),
        option(1, "Yes"),
        choose(1),
        choose(3),
        not_an_option(1),
        not_an_option(3),
        agent_error("Internal error", None, None),
        agent_error("Internal error", Some("detail"), Some("hint")),
        login_needed("claude-acp", &[]),
        login_needed(
            "claude-acp",
            &[("Console".to_owned(), "claude-acp --cli auth login".to_owned())],
        ),
        connection_closed(),
        wrong_version("2"),
        bad_answer("session/new", &problem),
        output_failed(&problem),
        input_failed(&problem),
        setup_failed(&problem),
        CANNOT_GO_BACK.to_owned(),
        NOBODY_CHOOSES.to_owned(),
        OLDER_ONES.to_owned(),
        no_conversation("/project"),
        conversation(1, "Say hello", ""),
        conversation(20, "Say hello", "2026-11-30T10:00:00Z"),
        which_conversation(20),
        prompt_too_long(16 << 20),
    ];
    insta::assert_snapshot!("built", built.join("\n"));
}

#[test]
fn every_word_for_a_wire_value() {
    let statuses = [
        ToolCallStatus::Pending,
        ToolCallStatus::InProgress,
        ToolCallStatus::Completed,
        ToolCallStatus::Failed,
    ];
    let entries = [
        PlanEntryStatus::Pending,
        PlanEntryStatus::InProgress,
        PlanEntryStatus::Completed,
    ];
    let compactions = [
        (CompactionStatus::InProgress, None),
        (CompactionStatus::Completed, None),
        (CompactionStatus::Cancelled, None),
        (CompactionStatus::Failed, None),
        (CompactionStatus::Failed, Some("too long")),
    ];
    let reasons = [
        StopReason::EndTurn,
        StopReason::Cancelled,
        StopReason::MaxTokens,
        StopReason::MaxTurnRequests,
        StopReason::Refusal,
    ];
    let kinds = [
        "rate_limit",
        "server_error",
        "overloaded",
        "billing_error",
        "model_not_found",
        "invalid_request",
        "max_output_tokens",
        "something_new",
    ];
    let mut all: Vec<String> = statuses
        .map(|status| format!("{status:?}: {:?}", tool_status(status)))
        .into();
    all.extend(entries.map(|status| plan_entry(&status, "step")));
    all.extend(compactions.map(|(status, error)| compaction(&status, error)));
    all.extend(reasons.map(|reason| format!("{reason:?}: {:?}", stopped(reason))));
    all.extend(kinds.map(|kind| format!("{kind}: {:?}", error_hint(kind))));
    insta::assert_snapshot!(all.join("\n"));
}
