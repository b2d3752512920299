//! The life of a chat: hello, a session, then prompts until the argument is answered, the input ends or the user has
//! had enough. Connects the console with the agent's events and answers; what anything looks like is decided by the
//! presentation.

use std::collections::VecDeque;
use std::path::PathBuf;

use acp_proto::schema::{
    AuthCapabilities, CancelNotification, ClientCapabilities, ContentBlock, Implementation,
    InitializeRequest, InitializeResponse, PromptRequest, PromptResponse, ProtocolVersion, SessionId,
    StopReason, TextContent,
};
use acp_proto::{Connection, Duplex, Line};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backlog::{self, backlog};
use crate::console::Input;
use crate::peer::{self, Event};
use crate::present::transcript::Transcript;
use crate::present::{sanitize, wording};
use crate::{ChatError, Console};

mod ask;
mod explain;
mod reopen;
mod turn;

/// Updates that may wait to be shown before the agent has to.
const BACKLOG: usize = 1024;

/// What to chat about, and as whom.
#[derive(Debug, Clone)]
pub struct Options {
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    /// The conversation to have.
    pub conversation: Conversation,
    /// The only prompt; without it, prompts come from the console.
    pub prompt: Option<String>,
    /// What the client calls itself to the agent, and its version.
    pub client: (String, String),
    /// The command that starts the agent, for instructions to the user.
    pub agent_command: String,
}

/// Which conversation the chat goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// None: a new one.
    New,
    /// The newest one of the directory.
    Newest,
    /// One of the directory's, which the user chooses.
    Chosen,
    /// The one with this session id.
    Named(String),
}

/// How a chat ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything that was asked was answered, or the user left.
    Finished,
    /// The only turn ended early: refused, cancelled or at a limit.
    Stopped,
    /// The user interrupted something that was running.
    Interrupted,
}

/// Chats over `duplex` until the end.
///
/// # Errors
/// When the agent cannot be talked to, does not open a session, or fails the only prompt; when the console fails.
pub async fn run(options: Options, mut console: Console, duplex: Duplex) -> Result<Ending, ChatError> {
    let prompt = match &options.prompt {
        Some(prompt) => Some(prompt.clone()),
        None => tokio::select! {
            piped = console.input.piped_prompt() => piped.map_err(ChatError::Input)?,
            _ = console.interrupts.recv() => return Ok(Ending::Interrupted),
        },
    };
    if prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err(ChatError::NothingToSend);
    }
    let (sender, events, gate) = backlog(BACKLOG);
    let router = peer::router(sender)?;
    let Duplex {
        reader,
        writer,
        label,
        caller,
    } = duplex;
    let gated = Duplex {
        reader: Box::new(gate.gated(reader)),
        writer,
        label,
        caller,
    };
    let (connection, driver) = acp_proto::serve(gated, router, peer::options());
    let mut chat = Chat::new(options, console, connection, events);
    tokio::select! {
        ended = chat.chat(prompt) => ended,
        // Everything the agent said before it hung up was queued for the chat, which notices the end by itself.
        never = async { driver.await; std::future::pending().await } => never,
    }
}

/// A running chat.
struct Chat {
    options: Options,
    console: Console,
    connection: Connection,
    events: backlog::Receiver<Event>,
    transcript: Transcript,
    /// Rendered, but not written yet: what arrives together is written together.
    unwritten: String,
    /// What was typed while nothing was asked for.
    typed_ahead: VecDeque<String>,
    /// The terminal's end was reached.
    input_ended: bool,
    logins: Vec<(String, String)>,
}

/// The agent after the hello.
struct Agent {
    session: SessionId,
    name: String,
}

/// What the user wants next.
enum Wish {
    Prompt(String),
    Leave,
}

/// What the terminal gave when it was read.
enum Typed {
    /// A line, or the lines of a paste.
    Text(String),
    Interrupt,
    End,
}

impl Chat {
    fn new(
        options: Options,
        console: Console,
        connection: Connection,
        events: backlog::Receiver<Event>,
    ) -> Self {
        let transcript = Transcript::new(console.style);
        let unwritten = String::new();
        let (typed_ahead, logins) = (VecDeque::new(), Vec::new());
        Self {
            options,
            console,
            connection,
            events,
            transcript,
            unwritten,
            typed_ahead,
            input_ended: false,
            logins,
        }
    }

    async fn chat(&mut self, prompt: Option<String>) -> Result<Ending, ChatError> {
        let Some(agent) = self.open(prompt.is_none()).await? else {
            return Ok(Ending::Interrupted);
        };
        match prompt {
            Some(prompt) => self.one_turn(&agent.session, prompt).await,
            None => self.converse(&agent).await,
        }
    }

    async fn one_turn(&mut self, session: &SessionId, prompt: String) -> Result<Ending, ChatError> {
        match self.turn(session, prompt).await? {
            turn::End::Stopped(StopReason::EndTurn) => Ok(Ending::Finished),
            turn::End::Stopped(StopReason::Cancelled) => Ok(Ending::Interrupted),
            turn::End::Stopped(_) => Ok(Ending::Stopped),
            turn::End::Failed(text) => Err(ChatError::Agent(text)),
            turn::End::Abandoned => Ok(Ending::Interrupted),
        }
    }

    async fn converse(&mut self, agent: &Agent) -> Result<Ending, ChatError> {
        let cwd = sanitize::line(&self.options.cwd.to_string_lossy());
        self.remark(&wording::greeting(&agent.name, &cwd)).await?;
        loop {
            let prompt = match self.next_wish().await? {
                Wish::Leave => return Ok(Ending::Finished),
                Wish::Prompt(prompt) => prompt,
            };
            match self.turn(&agent.session, prompt).await? {
                turn::End::Stopped(_) => self.print("\n").await?,
                turn::End::Failed(text) => {
                    let text = format!("{text}\n{}", wording::RETRY);
                    let text = self.transcript.problem(&text);
                    self.print(&format!("{text}\n")).await?;
                }
                turn::End::Abandoned => return Ok(Ending::Interrupted),
            }
        }
    }

    /// Hello and a session, which is shown if it was there before and somebody is to talk in it; nothing when the user
    /// interrupted it.
    async fn open(&mut self, shown: bool) -> Result<Option<Agent>, ChatError> {
        let capabilities = ClientCapabilities::new().auth(AuthCapabilities::new().terminal(true));
        let (name, version) = self.options.client.clone();
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(Implementation::new(name, version));
        let Some(hello) = self
            .ask_agent::<_, InitializeResponse>(peer::INITIALIZE, &hello)
            .await?
        else {
            return Ok(None);
        };
        if hello.protocol_version != ProtocolVersion::V1 {
            return Err(ChatError::WrongVersion(hello.protocol_version.to_string()));
        }
        self.logins = hello
            .auth_methods
            .iter()
            .filter_map(|method| self.login(method))
            .collect();
        let Some(session) = self.session(&hello.agent_capabilities, shown).await? else {
            return Ok(None);
        };
        let info = hello.agent_info.as_ref();
        let name = info.map(|info| sanitize::line(info.title.as_deref().unwrap_or(&info.name)));
        let version = info.map(|info| sanitize::line(&info.version));
        let name = wording::agent(name.as_deref(), version.as_deref());
        Ok(Some(Agent { session, name }))
    }

    /// A request that has to succeed before anything else can; nothing when the user interrupted it.
    async fn ask_agent<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &P,
    ) -> Result<Option<R>, ChatError> {
        let (line, response) = self.connection.prepare_request(method, params);
        peer::send(&self.connection, line).await?;
        let answer = tokio::select! {
            answer = response => peer::outcome(answer),
            _ = self.console.interrupts.recv() => return Ok(None),
        };
        match answer {
            Ok(answer) => peer::read(method, &answer).map(Some),
            Err(failure) => Err(self.chat_error(failure)),
        }
    }

    /// The next prompt, from what was typed ahead or from the terminal. A paste of several lines, and a line that ends
    /// with a backslash, go on; the line after them ends the prompt. An interrupt drops what there is of it.
    async fn next_wish(&mut self) -> Result<Wish, ChatError> {
        let mut prompt = String::new();
        let mut leaving = false;
        loop {
            let marker = if prompt.is_empty() {
                wording::PROMPT
            } else {
                wording::CONTINUED
            };
            let text = match self.next_typed(marker).await? {
                Typed::Text(text) => text,
                Typed::Interrupt if !leaving => {
                    leaving = true;
                    prompt.clear();
                    self.aside(wording::LEAVING).await?;
                    continue;
                }
                Typed::Interrupt | Typed::End => {
                    self.write_question("\n").await?;
                    return Ok(Wish::Leave);
                }
            };
            leaving = false;
            let pasted = text.lines().count();
            let goes_on = text.strip_suffix('\\');
            prompt.push_str(goes_on.unwrap_or(&text));
            if goes_on.is_some() || pasted > 1 {
                prompt.push('\n');
            } else if prompt.trim().is_empty() {
                prompt.clear();
            } else {
                return Ok(Wish::Prompt(prompt.trim_end_matches('\n').to_owned()));
            }
            if pasted > 1 {
                self.aside(&wording::pasted(pasted)).await?;
            }
        }
    }

    /// What is typed next; shows what the agent does meanwhile.
    async fn next_typed(&mut self, marker: &str) -> Result<Typed, ChatError> {
        if let Some(text) = self.typed_ahead.pop_front() {
            self.write_question(&format!("{marker}{}\n", sanitize::line(&text)))
                .await?;
            self.transcript.line_is_over();
            return Ok(Typed::Text(text));
        }
        let closed = self.connection.closed();
        let mut marker_is_due = true;
        while !self.input_ended {
            if std::mem::take(&mut marker_is_due) {
                self.write_question(marker).await?;
                self.transcript.line_is_open();
            }
            let Input::Lines(lines) = &mut self.console.input else {
                return Ok(Typed::End);
            };
            tokio::select! {
                biased;
                _ = self.console.interrupts.recv() => return Ok(Typed::Interrupt),
                text = lines.recv() => match text {
                    Some(text) => {
                        self.transcript.line_is_over();
                        return Ok(Typed::Text(text));
                    }
                    None => self.input_ended = true,
                },
                Some(event) = self.events.next() => marker_is_due = self.idle_event(event).await?,
                () = closed.cancelled() => return Err(ChatError::Closed),
            }
        }
        Ok(Typed::End)
    }

    /// A remark to what is being typed: below it, since the terminal may show the beginning of a line already.
    async fn aside(&mut self, text: &str) -> Result<(), ChatError> {
        self.transcript.line_is_open();
        self.remark(text).await
    }
}

impl Chat {
    async fn write_question(&mut self, text: &str) -> Result<(), ChatError> {
        self.flush().await?;
        self.console.write_question(text).await.map_err(ChatError::Output)
    }

    async fn print(&mut self, text: &str) -> Result<(), ChatError> {
        self.unwritten.push_str(text);
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), ChatError> {
        let text = std::mem::take(&mut self.unwritten);
        self.console.write(&text).await.map_err(ChatError::Output)
    }

    async fn remark(&mut self, text: &str) -> Result<(), ChatError> {
        let text = self.transcript.remark(text);
        self.print(&text).await
    }
}

fn cancel_line(session: &SessionId) -> Line {
    Line::notification(peer::CANCEL, &CancelNotification::new(session.clone()))
}

fn prompt_request(session: &SessionId, text: String) -> PromptRequest {
    PromptRequest::new(session.clone(), vec![ContentBlock::Text(TextContent::new(text))])
}

fn stop_reason(answer: &serde_json::value::RawValue) -> Result<StopReason, ChatError> {
    peer::read::<PromptResponse>(peer::PROMPT, answer).map(|response| response.stop_reason)
}

#[cfg(test)]
mod tests;
