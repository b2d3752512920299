//! Whole chats over an in-memory duplex, with a scripted agent at the other end and a terminal made of channels.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use acp_proto::schema::{
    AgentCapabilities, ContentChunk, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, MessageId, NewSessionRequest, NewSessionResponse, PermissionOption,
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SessionCapabilities, SessionInfo, SessionListCapabilities, SessionNotification, SessionUpdate,
    ToolCallUpdate, ToolCallUpdateFields,
};
use acp_proto::{RequestContext, RouterBuilder, RpcError, errors};
use serde_json::json;
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;
use crate::console::Asking;
use crate::present::style::Style;

const PATIENCE: Duration = Duration::from_secs(120);

/// What tests tell the agent, and what it tells them.
#[derive(Clone, Default)]
struct Script {
    cancelled: Arc<Notify>,
    go_on: Arc<Notify>,
}

/// Plays the turn that the prompt names.
async fn play(
    context: RequestContext,
    request: PromptRequest,
    script: Script,
) -> Result<PromptResponse, RpcError> {
    let Some(ContentBlock::Text(prompt)) = request.prompt.first() else {
        panic!("a text prompt")
    };
    let connection = &context.connection;
    let reason = match prompt.text.as_str() {
        "ask" => {
            let (line, answer) = connection.prepare_request("session/request_permission", &permission());
            connection.send(line).await.unwrap();
            say(connection, &format!("outcome: {}", outcome_of(answer).await)).await;
            StopReason::EndTurn
        }
        "ask and withdraw" => {
            let (line, answer) = connection.prepare_request("session/request_permission", &permission());
            connection.send(line).await.unwrap();
            script.go_on.notified().await;
            answer.cancel();
            say(connection, "never mind").await;
            StopReason::EndTurn
        }
        "hang" => {
            say(connection, "working").await;
            script.cancelled.notified().await;
            StopReason::Cancelled
        }
        "ignore cancel" => {
            say(connection, "working").await;
            std::future::pending().await
        }
        "limit" => StopReason::MaxTokens,
        "fail" => {
            return Err(errors::internal(
                "it broke",
                Some(json!({"errorKind": "rate_limit"})),
            ));
        }
        "log in" => return Err(errors::auth_required()),
        "hang up" => {
            connection.close();
            std::future::pending().await
        }
        other => {
            say(connection, &format!("you said: {other}")).await;
            StopReason::EndTurn
        }
    };
    Ok(PromptResponse::new(reason))
}

async fn say(connection: &Connection, text: &str) {
    let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
    let update = SessionNotification::new("s1", SessionUpdate::AgentMessageChunk(chunk));
    connection
        .send(Line::notification("session/update", &update))
        .await
        .unwrap();
}

fn permission() -> RequestPermissionRequest {
    let call = ToolCallUpdate::new("t1", ToolCallUpdateFields::new().title("rm -r build"));
    let options = vec![
        PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
    ];
    RequestPermissionRequest::new("s1", call, options)
}

async fn outcome_of(answer: acp_proto::PendingResponse) -> String {
    let answer = answer.await.unwrap();
    let response: RequestPermissionResponse = serde_json::from_str(answer.get()).unwrap();
    match response.outcome {
        RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
        _ => "cancelled".to_owned(),
    }
}

fn agent(script: &Script) -> acp_proto::Router {
    let (prompts, cancels) = (script.clone(), script.clone());
    RouterBuilder::new()
        .request(
            "initialize",
            |context: RequestContext, request: InitializeRequest| async move {
                context.connection.tell_cancellations();
                let response = InitializeResponse::new(request.protocol_version)
                    .agent_capabilities(remembers())
                    .agent_info(Implementation::new("scripted", "1.0"));
                Ok(response)
            },
        )
        .unwrap()
        .request("session/new", |_, _: NewSessionRequest| async {
            Ok(NewSessionResponse::new("s1"))
        })
        .unwrap()
        .request("session/list", |_, request: ListSessionsRequest| async move {
            Ok(ListSessionsResponse::new(conversations(request.cwd.as_deref())))
        })
        .unwrap()
        .request("session/load", tell)
        .unwrap()
        .request("session/prompt", move |context, request| {
            play(context, request, prompts.clone())
        })
        .unwrap()
        .notification("session/cancel", move |_, _: CancelNotification| {
            cancels.cancelled.notify_one()
        })
        .unwrap()
        .build()
}

fn remembers() -> AgentCapabilities {
    AgentCapabilities::new()
        .load_session(true)
        .session_capabilities(SessionCapabilities::new().list(SessionListCapabilities::new()))
}

/// Nothing happened outside of the project.
fn conversations(cwd: Option<&Path>) -> Vec<SessionInfo> {
    let all = [("new", "Fix the\u{1b}[2J build"), ("old", "Say hello")];
    let here = cwd == Some(Path::new("/project"));
    all.into_iter()
        .filter(|_| here)
        .map(|(id, title)| {
            SessionInfo::new(id, "/project")
                .title(title.to_owned())
                .updated_at("2026-11-30T10:00:00Z".to_owned())
        })
        .collect()
}

/// Tells a session whose id is one of those that are known.
async fn tell(context: RequestContext, request: LoadSessionRequest) -> Result<LoadSessionResponse, RpcError> {
    let id = request.session_id.to_string();
    if !["new", "old"].contains(&id.as_str()) {
        return Err(errors::invalid_params(format_args!("no session `{id}`"), None));
    }
    // More than the backlog takes: what is told has to be taken while the request runs.
    for number in 0..3 * BACKLOG {
        let said = ContentChunk::new(ContentBlock::Text(TextContent::new(format!(
            "{id} {number}\nsecond"
        ))));
        let said = said.message_id(Some(MessageId::new(number.to_string())));
        let update = SessionNotification::new(id.clone(), SessionUpdate::UserMessageChunk(said));
        let line = Line::notification("session/update", &update);
        context.connection.send(line).await.unwrap();
        say(&context.connection, "so it was").await;
    }
    Ok(LoadSessionResponse::new())
}

/// An output that tests can wait for, and a terminal that echoes what is typed.
#[derive(Clone)]
struct Screen(Arc<watch::Sender<String>>);

impl AsyncWrite for Screen {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0
            .send_modify(|text| text.push_str(std::str::from_utf8(bytes).unwrap()));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A chat that runs, and its user.
struct User {
    keyboard: Option<mpsc::Sender<String>>,
    interrupts: mpsc::Sender<()>,
    echo: Screen,
    screen: watch::Receiver<String>,
    script: Script,
    chat: JoinHandle<Result<Ending, ChatError>>,
}

impl User {
    /// Starts a chat at a terminal.
    fn at_terminal(prompt: Option<&str>) -> Self {
        Self::goes_on_with(Conversation::New, prompt)
    }

    /// Starts a chat at a terminal that goes on with a conversation.
    fn goes_on_with(conversation: Conversation, prompt: Option<&str>) -> Self {
        let (keyboard, lines) = mpsc::channel(16);
        let input = Input::Lines(lines);
        Self::start(conversation, prompt, input, Asking::Output, Some(keyboard))
    }

    /// Starts a chat without one.
    fn piped(prompt: Option<&str>, input: &'static str) -> Self {
        Self::start(
            Conversation::New,
            prompt,
            Input::Piped(Box::new(input.as_bytes())),
            Asking::Nowhere,
            None,
        )
    }

    fn start(
        conversation: Conversation,
        prompt: Option<&str>,
        input: Input,
        asking: Asking,
        keyboard: Option<mpsc::Sender<String>>,
    ) -> Self {
        let script = Script::default();
        let (ours, theirs) = (tokio::io::duplex(4096), agent(&script));
        // An agent that hangs up does not wait for the turn it plays.
        let options = acp_proto::PeerOptions {
            drain: Duration::ZERO,
            ..acp_proto::PeerOptions::default()
        };
        let (_, driver) = acp_proto::serve(duplex(ours.1), theirs, options);
        tokio::spawn(driver);
        let (screen, shown) = watch::channel(String::new());
        let screen = Screen(Arc::new(screen));
        let (interrupts, receiver) = mpsc::channel(2);
        let output = Box::new(screen.clone());
        let console = Console {
            output,
            asking,
            style: Style::Plain,
            input,
            interrupts: receiver,
        };
        let options = Options {
            cwd: "/project".into(),
            conversation,
            prompt: prompt.map(str::to_owned),
            client: ("chat".to_owned(), "1.0".to_owned()),
            agent_command: "claude-acp".to_owned(),
        };
        let chat = tokio::spawn(run(options, console, duplex(ours.0)));
        Self {
            keyboard,
            interrupts,
            echo: screen,
            screen: shown,
            script,
            chat,
        }
    }

    async fn sees(&mut self, text: &str) {
        let seen = timeout(PATIENCE, self.screen.wait_for(|screen| screen.contains(text))).await;
        let seen = seen.map(|seen| seen.is_ok());
        assert!(seen == Ok(true), "no {text:?} in {:?}", *self.screen.borrow());
    }

    async fn types(&self, line: &str) {
        self.echo
            .0
            .send_modify(|text| text.push_str(&format!("{line}\n")));
        self.keyboard
            .as_ref()
            .unwrap()
            .send(line.to_owned())
            .await
            .unwrap();
    }

    async fn interrupts(&self) {
        self.interrupts.send(()).await.unwrap();
    }

    fn ends_input(&mut self) {
        self.keyboard = None;
    }

    async fn end(self) -> (Result<Ending, ChatError>, String) {
        let ended = timeout(PATIENCE, self.chat)
            .await
            .expect("the chat ends")
            .unwrap();
        let screen = self.screen.borrow().clone();
        (ended, screen)
    }
}

fn duplex(stream: tokio::io::DuplexStream) -> Duplex {
    let (reader, writer) = tokio::io::split(stream);
    Duplex {
        reader: Box::new(reader),
        writer: Box::new(writer),
        label: "memory".to_owned(),
        caller: acp_proto::Caller::Known,
    }
}

#[tokio::test]
async fn a_prompt_as_argument_is_answered_and_that_is_all() {
    let (ended, screen) = User::piped(Some("hello"), "").end().await;
    assert_eq!(
        (ended.unwrap(), screen.as_str()),
        (Ending::Finished, "you said: hello\n")
    );
}

#[tokio::test]
async fn a_prompt_can_be_piped_in() {
    let (ended, screen) = User::piped(None, "two\nlines\n").end().await;
    assert_eq!(
        (ended.unwrap(), screen.as_str()),
        (Ending::Finished, "you said: two\nlines\n")
    );
}

#[tokio::test]
async fn nothing_to_send_is_a_failure() {
    for (prompt, input) in [(None, " \n"), (Some("  "), "")] {
        let (ended, screen) = User::piped(prompt, input).end().await;
        assert!(matches!(ended, Err(ChatError::NothingToSend)), "{ended:?}");
        assert_eq!(screen, "");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_until_the_input_ends() {
    let mut user = User::at_terminal(None);
    user.sees("> ").await;
    user.types("hello").await;
    user.sees("you said: hello\n\n> ").await;
    user.types("").await;
    user.sees("> \n> ").await;
    user.types("one\\").await;
    user.sees("… ").await;
    user.types("two").await;
    user.sees("you said: one\ntwo\n\n> ").await;
    user.ends_input();
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    insta::assert_snapshot!(screen);
}

#[tokio::test]
async fn an_answer_is_the_option_with_that_number() {
    let mut user = User::at_terminal(Some("ask"));
    user.sees("answer (1-2): ").await;
    for nothing in ["", "yes", "3"] {
        user.types(nothing).await;
        user.sees(&format!(
            "{nothing}\n{}\nanswer (1-2): ",
            wording::not_an_option(2)
        ))
        .await;
    }
    user.types("1").await;
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    insta::assert_snapshot!(screen);
}

#[tokio::test]
async fn what_was_typed_before_a_question_does_not_answer_it() {
    let mut user = User::at_terminal(None);
    user.sees("> ").await;
    user.types("hang").await;
    user.sees("working").await;
    user.types("ask").await;
    user.types("1").await;
    user.script.cancelled.notify_one();
    user.sees("answer (1-2): ").await;
    user.types("2").await;
    user.sees("outcome: no").await;
    user.sees("you said: 1").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn the_end_of_input_rejects() {
    let mut user = User::at_terminal(Some("ask"));
    user.sees("answer (1-2): ").await;
    user.ends_input();
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    assert!(
        screen.contains(wording::REJECTED_AT_END) && screen.ends_with("outcome: no\n"),
        "{screen}"
    );
}

#[tokio::test]
async fn without_a_terminal_everything_is_denied_aloud() {
    let (ended, screen) = User::piped(Some("ask"), "1\n").end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    insta::assert_snapshot!(screen);
}

#[tokio::test]
async fn a_question_can_be_withdrawn() {
    let mut user = User::at_terminal(Some("ask and withdraw"));
    user.sees("answer (1-2): ").await;
    user.script.go_on.notify_one();
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    assert!(
        screen.ends_with(&format!("answer (1-2): \n{}\n\nnever mind\n", wording::WITHDRAWN)),
        "{screen}"
    );
}

#[tokio::test]
async fn an_interrupt_cancels_the_turn_and_the_conversation_goes_on() {
    let mut user = User::at_terminal(None);
    user.types("hang").await;
    user.sees("working").await;
    user.interrupts().await;
    user.sees("\ncancelled\n").await;
    user.types("hello").await;
    user.sees("you said: hello").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn an_interrupt_between_turns_asks_for_a_second_one() {
    let mut user = User::at_terminal(None);
    user.sees("> ").await;
    user.types("half of a prompt\\").await;
    user.sees("… ").await;
    user.interrupts().await;
    user.sees(&format!("{}\n> ", wording::LEAVING)).await;
    user.types("hello").await;
    user.sees("you said: hello\n\n> ").await;
    user.interrupts().await;
    user.sees(&format!("hello\n\n> \n{}\n> ", wording::LEAVING)).await;
    user.interrupts().await;
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    assert_eq!(screen.matches(wording::LEAVING).count(), 2, "{screen}");
}

#[tokio::test]
async fn pasted_lines_are_one_prompt_together_with_the_line_that_ends_them() {
    let mut user = User::at_terminal(None);
    user.sees("> ").await;
    user.types("one\n\ntwo").await;
    user.sees(&format!("{}\n… ", wording::pasted(3))).await;
    user.types("three").await;
    user.sees("you said: one\n\ntwo\nthree\n\n> ").await;
    user.types("four\nfive").await;
    user.sees(&wording::pasted(2)).await;
    user.types("").await;
    user.sees("you said: four\nfive\n\n> ").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn pasted_lines_do_not_answer_a_question() {
    let mut user = User::at_terminal(Some("ask"));
    user.sees("answer (1-2): ").await;
    user.types("1\n1").await;
    user.sees(&wording::not_an_option(2)).await;
    user.types("2").await;
    user.sees("outcome: no").await;
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn an_interrupt_of_a_question_cancels_it_and_the_turn() {
    let mut user = User::at_terminal(Some("ask"));
    user.sees("answer (1-2): ").await;
    user.interrupts().await;
    let script = user.script.clone();
    let (ended, screen) = user.end().await;
    assert_eq!(ended.unwrap(), Ending::Finished);
    assert!(screen.ends_with("outcome: cancelled\n"), "{screen}");
    timeout(PATIENCE, script.cancelled.notified())
        .await
        .expect("the turn was cancelled too");
}

#[tokio::test]
async fn a_second_interrupt_ends_the_chat() {
    let mut user = User::at_terminal(None);
    user.types("ignore cancel").await;
    user.sees("working").await;
    user.interrupts().await;
    user.sees(wording::CANCELLING).await;
    user.interrupts().await;
    assert_eq!(user.end().await.0.unwrap(), Ending::Interrupted);
}

#[tokio::test]
async fn a_cancelled_single_turn_is_interrupted() {
    let mut user = User::at_terminal(Some("hang"));
    user.sees("working").await;
    user.interrupts().await;
    assert_eq!(user.end().await.0.unwrap(), Ending::Interrupted);
}

#[tokio::test]
async fn a_turn_at_its_limit_is_told_and_not_a_success() {
    let (ended, screen) = User::piped(Some("limit"), "").end().await;
    assert_eq!(ended.unwrap(), Ending::Stopped);
    assert_eq!(screen.trim(), wording::stopped(StopReason::MaxTokens).unwrap());
}

#[tokio::test]
async fn a_failed_turn_fails_a_single_prompt_with_what_to_do() {
    let text = |ended: Result<Ending, ChatError>| ended.unwrap_err().to_string();
    let (failed, _) = User::piped(Some("fail"), "").end().await;
    let hint = wording::error_hint("rate_limit");
    assert_eq!(text(failed), wording::agent_error("it broke", None, hint));
    let (logged_out, _) = User::piped(Some("log in"), "").end().await;
    assert_eq!(text(logged_out), wording::login_needed("claude-acp", &[]));
}

#[tokio::test]
async fn a_failed_turn_leaves_a_conversation_usable() {
    let mut user = User::at_terminal(None);
    user.types("fail").await;
    user.sees(wording::RETRY).await;
    user.types("hello").await;
    user.sees("you said: hello").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn an_agent_that_hangs_up_ends_the_chat_with_a_reason() {
    for user in [
        User::piped(Some("hang up"), ""),
        User::at_terminal(Some("hang up")),
    ] {
        let (ended, _) = user.end().await;
        assert!(matches!(ended, Err(ChatError::Closed)), "{ended:?}");
    }
    let mut user = User::at_terminal(None);
    user.types("hang up").await;
    user.sees("> ").await;
    assert!(matches!(user.end().await.0, Err(ChatError::Closed)));
}

#[tokio::test]
async fn an_agent_with_another_version_is_refused() {
    let (ours, theirs) = tokio::io::duplex(4096);
    let router = RouterBuilder::new()
        .request("initialize", |_, _: serde_json::Value| async {
            Ok(json!({"protocolVersion": 2}))
        })
        .unwrap()
        .build();
    let (_, driver) = acp_proto::serve(duplex(theirs), router, acp_proto::PeerOptions::default());
    tokio::spawn(driver);
    let screen = Screen(Arc::new(watch::channel(String::new()).0));
    let (_interrupts, receiver) = mpsc::channel(1);
    let console = Console {
        output: Box::new(screen),
        asking: Asking::Nowhere,
        style: Style::Plain,
        input: Input::Piped(Box::new(&b""[..])),
        interrupts: receiver,
    };
    let options = Options {
        cwd: "/project".into(),
        conversation: Conversation::New,
        prompt: Some("hello".to_owned()),
        client: ("chat".to_owned(), "1.0".to_owned()),
        agent_command: "claude-acp".to_owned(),
    };
    let ended = timeout(PATIENCE, run(options, console, duplex(ours)))
        .await
        .unwrap();
    assert!(
        matches!(&ended, Err(ChatError::WrongVersion(version)) if version == "2"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn the_newest_conversation_is_told_and_goes_on() {
    let mut user = User::goes_on_with(Conversation::Newest, None);
    user.sees("> new 0\n> second\n\nso it was").await;
    user.sees(&format!("> new {}\n", 3 * BACKLOG - 1)).await;
    user.types("and now?").await;
    user.sees("you said: and now?").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn a_conversation_is_chosen_by_its_number() {
    let mut user = User::goes_on_with(Conversation::Chosen, None);
    user.sees("  1. Fix the␛[2J build    2026-11-30T10:00:00Z\n  2. Say hello")
        .await;
    user.sees("go on with (1-2): ").await;
    user.types("3").await;
    user.sees("type a number from 1 to 2").await;
    user.types("2").await;
    user.sees("> old 0\n").await;
    user.ends_input();
    assert_eq!(user.end().await.0.unwrap(), Ending::Finished);
}

#[tokio::test]
async fn one_prompt_is_answered_without_telling_what_was() {
    let user = User::goes_on_with(Conversation::Named("old".to_owned()), Some("hello"));
    let (ended, screen) = user.end().await;
    assert_eq!(
        (ended.unwrap(), screen.as_str()),
        (Ending::Finished, "you said: hello\n")
    );
}

#[tokio::test]
async fn what_cannot_be_gone_on_with_is_refused() {
    let unknown = User::goes_on_with(Conversation::Named("other".to_owned()), None);
    let (ended, _) = unknown.end().await;
    let refusal = ended.expect_err("refused").to_string();
    assert!(refusal.contains("no session `other`"), "{refusal}");
    let nobody = User::start(
        Conversation::Chosen,
        Some("hello"),
        Input::Piped(Box::new(&b""[..])),
        Asking::Nowhere,
        None,
    );
    let (ended, _) = nobody.end().await;
    assert!(matches!(ended, Err(ChatError::NobodyChooses)), "{ended:?}");
}
