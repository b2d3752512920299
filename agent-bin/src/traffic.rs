//! Protocol traffic in the log, at `trace`: each line between a client, this agent and Claude, in outline.
//!
//! Place in the flow: put around the streams of a connection and of a Claude, and only where somebody reads it. Shows
//! what kind of message went by and never whose words it carries: a text is its length, unless its field is on the list.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use acp_proto::Duplex;
use async_trait::async_trait;
use claude_sdk_bridge::backend::{Backend, LaunchError, Running};
use claude_sdk_bridge::launch::LaunchOptions;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Fields whose texts are names, ids and kinds of the protocols.
const SHOWN: [&str; 33] = [
    "behavior",
    "callback_id",
    "configId",
    "decision",
    "errorKind",
    "hookEventName",
    "hook_event_name",
    "id",
    "jsonrpc",
    "kind",
    "method",
    "mode",
    "modeId",
    "model",
    "optionId",
    "outcome",
    "permissionDecision",
    "permission_mode",
    "request_id",
    "role",
    "sessionId",
    "sessionUpdate",
    "session_id",
    "status",
    "stopReason",
    "stop_reason",
    "subtype",
    "toolCallId",
    "toolName",
    "tool_name",
    "tool_use_id",
    "type",
    "uuid",
];
/// Fields that hold what tools and forms take and give: in them a field of any name may be a secret.
const FOREIGN: [&str; 11] = [
    "answers",
    "arguments",
    "env",
    "headers",
    "input",
    "rawInput",
    "rawOutput",
    "tool_input",
    "tool_response",
    "tool_use_result",
    "updatedInput",
];
/// A name is not longer, and has no other characters.
const NAME_BYTES: usize = 80;
/// So many elements of a list or an object are shown.
const ELEMENTS: usize = 20;
/// A longer outline is cut.
const OUTLINE_CHARS: usize = 4096;
/// Of a longer line only the length is told.
const LINE_BYTES: usize = 1024 * 1024;

/// The streams of a connection, in the log if that is wanted.
pub(crate) fn of_client(duplex: Duplex) -> Duplex {
    if !is_wanted() {
        return duplex;
    }
    Duplex {
        reader: Box::new(Tap::new(duplex.reader, "client →")),
        writer: Box::new(Tap::new(duplex.writer, "client ←")),
        ..duplex
    }
}

/// A backend whose Claudes' streams are in the log, if that is wanted.
pub(crate) fn of_claude(backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
    if is_wanted() {
        Arc::new(Watched(backend))
    } else {
        backend
    }
}

fn is_wanted() -> bool {
    tracing::enabled!(tracing::Level::TRACE)
}

struct Watched(Arc<dyn Backend>);

#[async_trait]
impl Backend for Watched {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    async fn launch(&self, options: &LaunchOptions) -> Result<Running, LaunchError> {
        let Running { stdin, stdout, life } = self.0.launch(options).await?;
        Ok(Running {
            stdin: Box::new(Tap::new(stdin, "claude ←")),
            stdout: Box::new(Tap::new(stdout, "claude →")),
            life,
        })
    }
}

/// A stream that passes everything on as it is, and logs each line.
struct Tap<S> {
    stream: S,
    direction: &'static str,
    line: Vec<u8>,
    bytes: usize,
}

impl<S> Tap<S> {
    fn new(stream: S, direction: &'static str) -> Self {
        Self {
            stream,
            direction,
            line: Vec::new(),
            bytes: 0,
        }
    }

    fn saw(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.bytes = self.bytes.saturating_add(part.len());
            if self.bytes <= LINE_BYTES {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.tell();
            }
        }
    }

    fn tell(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let line = std::mem::take(&mut self.line);
        let shown = (line.len() == bytes).then(|| outline(&line));
        let shown = shown.unwrap_or_else(|| "too long to show".to_owned());
        tracing::trace!(bytes, "{} {shown}", self.direction);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.saw(buffer.filled().get(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = written {
            self.saw(bytes.get(..count).unwrap_or_default());
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        if let Poll::Ready(Ok(mut left)) = written {
            for part in parts {
                let count = left.min(part.len());
                self.saw(part.get(..count).unwrap_or_default());
                left -= count;
            }
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn outline(line: &[u8]) -> String {
    let mut shown = match serde_json::from_slice::<Value>(line) {
        Ok(message) => cut(message, "", true).to_string(),
        Err(_) => "not JSON".to_owned(),
    };
    if let Some((cut, _)) = shown.char_indices().nth(OUTLINE_CHARS) {
        shown.truncate(cut);
        shown.push('…');
    }
    shown
}

fn cut(value: Value, field: &str, named: bool) -> Value {
    let named = named && !FOREIGN.contains(&field);
    match value {
        Value::String(text) if named && SHOWN.contains(&field) && is_name(&text) => Value::String(text),
        Value::String(text) => Value::String(format!("({} bytes)", text.len())),
        Value::Array(items) => {
            let left_out = items.len().saturating_sub(ELEMENTS);
            let mut shown: Vec<Value> = items
                .into_iter()
                .take(ELEMENTS)
                .map(|item| cut(item, "", named))
                .collect();
            if left_out > 0 {
                shown.push(format!("({left_out} more)").into());
            }
            shown.into()
        }
        Value::Object(fields) => {
            let left_out = fields.len().saturating_sub(ELEMENTS);
            let mut shown = Map::new();
            for (name, value) in fields.into_iter().take(ELEMENTS) {
                let value = cut(value, &name, named);
                // The name of a field may be somebody's words as well: a question that is answered.
                let name = if is_name(&name) {
                    name
                } else {
                    format!("({} bytes)", name.len())
                };
                shown.insert(name, value);
            }
            if left_out > 0 {
                shown.insert(format!("({left_out} more)"), Value::Null);
            }
            shown.into()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./$:[]".contains(c);
    text.len() <= NAME_BYTES && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn an_outline_tells_the_kind_of_a_message_and_nobodys_words() {
        let rows = [
            (
                r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"my secret"}]}}"#,
                r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"(9 bytes)"}]}}"#,
            ),
            (
                r#"{"mcpServers":[{"name":"a b","env":[{"name":"TOKEN","value":"sk-1"}],"type":"http"}]}"#,
                r#"{"mcpServers":[{"name":"(3 bytes)","env":[{"name":"(5 bytes)","value":"(4 bytes)"}],"type":"http"}]}"#,
            ),
            (
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","input":{"command":"ls"}}]}}"#,
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","input":{"command":"(2 bytes)"}}]}}"#,
            ),
            (
                r#"{"tool_name":"Bash","tool_input":{"id":"pass","deep":[{"kind":"word"}],"count":2}}"#,
                r#"{"tool_name":"Bash","tool_input":{"id":"(4 bytes)","deep":[{"kind":"(4 bytes)"}],"count":2}}"#,
            ),
            (
                r#"{"answers":{"Which one, then?":"this"},"id":"not a name at all"}"#,
                r#"{"answers":{"(16 bytes)":"(4 bytes)"},"id":"(17 bytes)"}"#,
            ),
            ("GET / HTTP/1.1", "not JSON"),
        ];
        for (line, expected) in rows {
            assert_eq!(outline(line.as_bytes()), expected, "{line}");
        }
        let long = format!("[{}0]", "0,".repeat(30));
        assert_eq!(
            outline(long.as_bytes()),
            format!("[{}\"(11 more)\"]", "0,".repeat(20))
        );
        let large = serde_json::to_vec(&vec![vec![vec!["x"; 20]; 20]; 20]).unwrap();
        assert_eq!(outline(&large).chars().count(), OUTLINE_CHARS + 1);
    }

    #[tokio::test]
    async fn a_tap_passes_everything_on_and_tells_whole_lines() {
        let (ours, theirs) = tokio::io::duplex(8);
        let (mut tap, mut other) = (Tap::new(ours, "→"), theirs);
        let sent = b"{\"id\":1}\nhalf";
        let sending = async {
            tap.write_all(sent).await.unwrap();
            tap.shutdown().await.unwrap();
            tap
        };
        let mut passed = Vec::new();
        let (tap, read) = tokio::join!(sending, other.read_to_end(&mut passed));
        read.unwrap();
        assert_eq!(passed, sent);
        assert_eq!(
            (tap.line.as_slice(), tap.bytes),
            (&b"half"[..], 4),
            "what is no line yet"
        );
    }
}
