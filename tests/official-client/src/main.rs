//! Drives an ACP agent with the official client crate: somebody else's reading of the protocol.
//!
//! It says hello, opens a session, sends a prompt and answers every permission request with the first
//! `allow_once` option; then it sends a second prompt and cancels it at its first words. What it saw is printed as
//! one JSON object on the last line of stdout. The test that runs it judges; this program does not.
//!
//! Usage: `official-client --cwd DIR (--connect HOST:PORT | -- AGENT ARGS…)`

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::{ConnectionTo, Responder, schema};
use agent_client_protocol::{
    AcpAgent, AcpAgentConfig, Agent, ByteStreams, Client, ConnectTo, Error, on_receive_notification,
    on_receive_request,
};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// How long the whole conversation may take.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() {
    let verdict = tokio::time::timeout(PATIENCE, run()).await;
    match verdict {
        Ok(Ok(verdict)) => println!("{verdict}"),
        Ok(Err(error)) => fail(&error.to_string()),
        Err(_) => fail("the conversation takes too long"),
    }
}

fn fail(problem: &str) -> ! {
    eprintln!("official-client: {problem}");
    std::process::exit(1);
}

struct Arguments {
    cwd: String,
    connect: Option<String>,
    agent: Vec<String>,
}

fn arguments() -> Result<Arguments, String> {
    let (mut cwd, mut connect, mut agent) = (None, None, Vec::new());
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--cwd" => cwd = given.next(),
            "--connect" => connect = given.next(),
            "--" => agent.extend(given.by_ref()),
            other => return Err(format!("unknown argument `{other}`")),
        }
    }
    let cwd = cwd.ok_or("`--cwd` is missing")?;
    if connect.is_none() == agent.is_empty() {
        return Err("give either `--connect` or a command after `--`".into());
    }
    Ok(Arguments { cwd, connect, agent })
}

async fn run() -> Result<Value, Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    if let Some(address) = &arguments.connect {
        let stream = tokio::net::TcpStream::connect(address).await?;
        let (reader, writer) = stream.into_split();
        return Ok(talk(
            ByteStreams::new(writer.compat_write(), reader.compat()),
            &arguments.cwd,
        )
        .await?);
    }
    let [program, rest @ ..] = arguments.agent.as_slice() else {
        return Err("no agent".into());
    };
    let config = AcpAgentConfig::new(program).args(rest);
    Ok(talk(AcpAgent::new(config), &arguments.cwd).await?)
}

/// What the handlers saw of one prompt.
#[derive(Default)]
struct Seen {
    text: String,
    thoughts: String,
    asked: Vec<String>,
    tool_calls: Map<String, Value>,
}

/// The handlers' shared record.
#[derive(Default)]
struct Record {
    seen: Mutex<Seen>,
    words: Notify,
}

impl Record {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn note(&self, update: &schema::SessionUpdate) {
        let mut seen = self.seen();
        match update {
            schema::SessionUpdate::AgentMessageChunk(chunk) => {
                seen.text.push_str(&text(&chunk.content));
                self.words.notify_one();
            }
            schema::SessionUpdate::AgentThoughtChunk(chunk) => seen.thoughts.push_str(&text(&chunk.content)),
            schema::SessionUpdate::ToolCall(call) => {
                seen.tool_calls
                    .insert(call.tool_call_id.to_string(), json!(call.status));
            }
            schema::SessionUpdate::ToolCallUpdate(update) => {
                if let Some(status) = update.fields.status.as_ref() {
                    seen.tool_calls
                        .insert(update.tool_call_id.to_string(), json!(status));
                }
            }
            _ => {}
        }
    }

    /// Waits for the first words of the answer.
    async fn spoken(&self) {
        while self.seen().text.is_empty() {
            self.words.notified().await;
        }
    }

    /// Ends the record of a prompt.
    fn take(&self, response: &schema::PromptResponse) -> Value {
        let seen = std::mem::take(&mut *self.seen());
        json!({
            "stopReason": response.stop_reason, "text": seen.text, "thoughts": seen.thoughts,
            "asked": seen.asked, "toolCalls": seen.tool_calls,
        })
    }
}

async fn talk(transport: impl ConnectTo<Client> + 'static, cwd: &str) -> Result<Value, Error> {
    let record = Arc::new(Record::default());
    let (updates, asks, kept) = (Arc::clone(&record), Arc::clone(&record), Arc::clone(&record));
    let cwd = cwd.to_owned();
    Client
        .v1()
        .name("official-client")
        .on_receive_notification(
            async move |notification: schema::SessionNotification, _: ConnectionTo<Agent>| {
                updates.note(&notification.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: schema::RequestPermissionRequest,
                        responder: Responder<schema::RequestPermissionResponse>,
                        _: ConnectionTo<Agent>| {
                asks.seen().asked.push(request.tool_call.tool_call_id.to_string());
                responder.respond(allow_once(&request)?)
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            converse(&agent, &kept, cwd).await
        })
        .await
}

async fn converse(agent: &ConnectionTo<Agent>, record: &Record, cwd: String) -> Result<Value, Error> {
    let hello = schema::InitializeRequest::new(ProtocolVersion::V1);
    let hello = agent.send_request(hello).block_task().await?;
    let session = agent
        .send_request(schema::NewSessionRequest::new(cwd))
        .block_task()
        .await?
        .session_id;

    let response = agent
        .send_request(prompt(&session, "write two files"))
        .block_task()
        .await?;
    let first = record.take(&response);

    let sent = agent.send_request(prompt(&session, "think for ever"));
    let (response, ()) = tokio::join!(sent.block_task(), async {
        record.spoken().await;
        agent
            .send_notification(schema::CancelNotification::new(session.clone()))
            .ok();
    });
    let second = record.take(&response?);
    Ok(json!({"agentInfo": hello.agent_info, "prompt": first, "cancelled": second}))
}

fn prompt(session: &schema::SessionId, words: &str) -> schema::PromptRequest {
    let block = schema::ContentBlock::Text(schema::TextContent::new(words));
    schema::PromptRequest::new(session.clone(), vec![block])
}

fn allow_once(
    request: &schema::RequestPermissionRequest,
) -> Result<schema::RequestPermissionResponse, Error> {
    let option = request
        .options
        .iter()
        .find(|option| option.kind == schema::PermissionOptionKind::AllowOnce);
    let option = option.ok_or_else(|| Error::invalid_params().data("no option allows once"))?;
    let outcome = schema::SelectedPermissionOutcome::new(option.option_id.clone());
    Ok(schema::RequestPermissionResponse::new(
        schema::RequestPermissionOutcome::Selected(outcome),
    ))
}

fn text(content: &schema::ContentBlock) -> String {
    match content {
        schema::ContentBlock::Text(text) => text.text.clone(),
        _ => String::new(),
    }
}
