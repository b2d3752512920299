//! Conversations made of updates, as Markdown and as a page.

use acp_proto::schema::{
    Content, ContentBlock, ContentChunk, Diff, MessageId, Plan, PlanEntry, PlanEntryPriority,
    PlanEntryStatus, SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use jiff::Timestamp;
use serde_json::json;
use session_manager::history::Told;

use super::conversation::Conversation;
use super::timeline::{stretches, totals};
use super::{About, html, markdown, wording};

fn chunk(text: &str, message: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
        .message_id(MessageId::new(message.to_owned()))
}

fn text(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

/// At a second of the conversation.
fn at(second: i64, update: SessionUpdate) -> Told {
    Told {
        at: Some(Timestamp::from_second(second).unwrap()),
        asked: false,
        update,
    }
}

fn asked(told: Told) -> Told {
    Told { asked: true, ..told }
}

fn conversation() -> Conversation {
    let steps = |status| {
        let step = PlanEntry::new("mend <it>", PlanEntryPriority::Medium, status);
        SessionUpdate::Plan(Plan::new(vec![step]))
    };
    let diff = Diff::new("/project/a.rs", "one\ntwo\n").old_text("one\nold\n".to_owned());
    let edit = ToolCall::new("edit", "Edit a.rs").content(vec![ToolCallContent::Diff(diff)]);
    let edited = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
    let nested = json!({"claudeCode": {"parentToolUseId": "edit"}});
    let ran = ToolCall::new("run", "`cargo test`")
        .status(ToolCallStatus::Failed)
        .content(vec![
            text("```console\nno `fence` ends this\n```"),
            text("It **failed**."),
        ])
        .meta(nested.as_object().cloned());
    Conversation::of([
        at(0, SessionUpdate::UserMessageChunk(chunk("Mend it,\n", "u1"))),
        at(0, SessionUpdate::UserMessageChunk(chunk("please.", "u1"))),
        at(4, SessionUpdate::AgentThoughtChunk(chunk("Hm.", "m1"))),
        at(4, SessionUpdate::AgentMessageChunk(chunk("I **look**.", "m1"))),
        at(5, SessionUpdate::ToolCall(edit)),
        at(5, steps(PlanEntryStatus::Pending)),
        asked(at(
            25,
            SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("edit", edited)),
        )),
        at(20, SessionUpdate::ToolCall(ran)),
        at(26, steps(PlanEntryStatus::Completed)),
        at(27, SessionUpdate::AgentMessageChunk(chunk("Done.", "m2"))),
        at(7227, SessionUpdate::UserMessageChunk(chunk("Thanks", "u2"))),
    ])
}

fn about() -> About {
    About {
        id: "0b1f8f5e-0000-4000-8000-000000000001".to_owned(),
        title: "Mend <it>".to_owned(),
        cwd: "/project".to_owned(),
        updated: "2026-11-30T10:00:00Z".to_owned(),
    }
}

#[test]
fn a_conversation_as_markdown() {
    insta::assert_snapshot!(markdown::page(&about(), &conversation()));
}

#[test]
fn a_conversation_as_a_page() {
    let page = html::page(&about(), &conversation());
    let (_, body) = page.split_once("</style>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn time_goes_to_what_ended_it() {
    let stretches = stretches(&conversation().moments);
    let totals: Vec<String> = totals(&stretches)
        .into_iter()
        .map(|(span, milliseconds)| format!("{span:?}: {}", wording::length(milliseconds)))
        .collect();
    assert_eq!(totals, ["Model: 7.0 s", "Asked: 20 s", "Idle: 2 h 0 min"]);
}

#[test]
fn lengths_of_time_are_short() {
    let lengths = [0, 1540, 59_999, 61_000, 3_600_000, 90_000_000].map(wording::length);
    assert_eq!(
        lengths,
        ["0.0 s", "1.5 s", "59 s", "1 min 1 s", "1 h 0 min", "1 d 1 h"]
    );
}

/// Whatever the model and its tools write, the page runs and loads nothing.
#[test]
fn a_page_holds_no_markup_but_its_own() {
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<iframe src=\"https://a\"></iframe>\n\n\
                   ![picture](https://tracker.example/a.png) [run](javascript:alert(1)) [ok](https://example.com)\n\n\
                   ```<b>\n</pre><script>\n```";
    let call = ToolCall::new("t", hostile)
        .status(ToolCallStatus::Completed)
        .content(vec![
            text(hostile),
            ToolCallContent::Diff(Diff::new("/a<b>.rs", hostile)),
        ]);
    let steps = PlanEntry::new(hostile, PlanEntryPriority::Low, PlanEntryStatus::Pending);
    let told = [
        SessionUpdate::UserMessageChunk(chunk(hostile, "u")),
        SessionUpdate::AgentMessageChunk(chunk(hostile, "m")),
        SessionUpdate::AgentThoughtChunk(chunk(hostile, "n")),
        SessionUpdate::ToolCall(call),
        SessionUpdate::Plan(Plan::new(vec![steps])),
    ];
    let conversation = Conversation::of(told.map(|update| at(0, update)));
    let page = html::page(
        &About {
            title: hostile.to_owned(),
            ..about()
        },
        &conversation,
    );
    for forbidden in [
        "<script",
        "<img",
        "<iframe",
        "href=\"javascript:",
        "tracker.example\"",
    ] {
        assert!(!page.contains(forbidden), "{forbidden} in {page}");
    }
    assert!(page.contains("<a href=\"https://example.com\">ok</a>"), "{page}");
}

/// All lines differ, which is what takes longest to find out.
#[test]
fn a_file_that_was_written_anew_is_compared_in_bounded_time() {
    let text = |word: &str| -> String { (0..19_000).map(|line| format!("{word} {line}\n")).collect() };
    let diff = Diff::new("/a", text("new")).old_text(text("old"));
    let lines = super::changed(&diff);
    let count = |wanted| lines.iter().filter(|(change, _)| *change == wanted).count();
    assert_eq!(
        (count(chat::Change::Added), count(chat::Change::Removed)),
        (19_000, 19_000)
    );
}
