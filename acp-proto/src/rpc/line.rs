//! One outgoing message, serialized and ready for the wire.
//!
//! Place in the flow: built by handlers and sessions, queued by a [`crate::Connection`], written by the peer's writer.
//! It must not build a `serde_json::Value`: [`Line::text_chunk`] runs once for every token Claude streams.

use std::fmt;

use serde::Serialize;

use crate::rpc::RpcId;
use crate::{RpcError, errors};

/// One serialized JSON-RPC message with its line feed.
pub struct Line {
    bytes: Vec<u8>,
    request: Option<u64>,
}

/// Which transcript a text chunk belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// `agent_message_chunk`: what Claude says.
    Message,
    /// `agent_thought_chunk`: what Claude thinks.
    Thought,
    /// `user_message_chunk`: what the user said, on replay.
    User,
}

impl ChunkKind {
    fn tag(self) -> &'static str {
        match self {
            Self::Message => "agent_message_chunk",
            Self::Thought => "agent_thought_chunk",
            Self::User => "user_message_chunk",
        }
    }
}

impl Line {
    /// A notification with these params.
    ///
    /// Params that cannot be serialized are a bug of the caller: it is logged, and sending the line sends nothing.
    pub fn notification<P: Serialize + ?Sized>(method: &str, params: &P) -> Self {
        #[derive(Serialize)]
        struct Notification<'a, P: ?Sized> {
            jsonrpc: &'static str,
            method: &'a str,
            params: &'a P,
        }
        Self::or_log(
            method,
            write(&Notification {
                jsonrpc: "2.0",
                method,
                params,
            }),
        )
    }

    /// The `session/update` of one piece of text.
    ///
    /// `text_literal` is a JSON string literal **with its quotes**, as it stood in Claude's output; it is pasted.
    #[must_use]
    pub fn text_chunk(
        session_id: &str,
        kind: ChunkKind,
        text_literal: &str,
        message_id: Option<&str>,
    ) -> Self {
        const HEAD: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#;
        const UPDATE: &str = r#","update":{"sessionUpdate":""#;
        const CONTENT: &str = r#"","content":{"type":"text","text":"#;
        const MESSAGE_ID: &str = r#"},"messageId":"#;
        const QUOTES: usize = 2;
        debug_assert!(
            text_literal.len() >= 2 && text_literal.starts_with('"') && text_literal.ends_with('"')
        );

        let (before_tail, tail) = match message_id {
            Some(_) => (MESSAGE_ID, "}}}\n"),
            None => ("", "}}}}\n"),
        };
        let fixed = HEAD.len() + UPDATE.len() + CONTENT.len() + before_tail.len() + tail.len();
        let ids = session_id.len() + QUOTES + message_id.map_or(0, |id| id.len() + QUOTES);
        let mut bytes = Vec::with_capacity(fixed + kind.tag().len() + ids + text_literal.len());
        bytes.extend_from_slice(HEAD.as_bytes());
        push_string(&mut bytes, session_id);
        bytes.extend_from_slice(UPDATE.as_bytes());
        bytes.extend_from_slice(kind.tag().as_bytes());
        bytes.extend_from_slice(CONTENT.as_bytes());
        bytes.extend_from_slice(text_literal.as_bytes());
        bytes.extend_from_slice(before_tail.as_bytes());
        if let Some(message_id) = message_id {
            push_string(&mut bytes, message_id);
        }
        bytes.extend_from_slice(tail.as_bytes());
        Self { bytes, request: None }
    }

    /// The message as text, with its line feed. Empty when it could not be serialized.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn request<P: Serialize + ?Sized>(
        id: u64,
        method: &str,
        params: &P,
    ) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        struct Request<'a, P: ?Sized> {
            jsonrpc: &'static str,
            id: u64,
            method: &'a str,
            params: &'a P,
        }
        let bytes = write(&Request {
            jsonrpc: "2.0",
            id,
            method,
            params,
        })?;
        Ok(Self {
            bytes,
            request: Some(id),
        })
    }

    /// The registry's answer with the request's own id in the place of the registry's `null`: its id type knows
    /// neither `1.0` nor `"\u00e9"`, which are echoed as they came.
    pub(crate) fn registry_answer(id: &RpcId, answer: &str) -> Self {
        const HEAD: &str = r#"{"jsonrpc":"2.0","id":null"#;
        let Some(rest) = answer.strip_prefix(HEAD) else {
            let error = errors::unserializable("the registry's answer begins in another way");
            return Self::error(Some(id), &error);
        };
        Self::answer(id.as_json(), rest.as_bytes())
    }

    /// The answer that refuses a request; `None` as id where the request had none that could be read.
    pub(crate) fn error(id: Option<&RpcId>, error: &RpcError) -> Self {
        let mut rest = br#","error":"#.to_vec();
        // An error object holds a number, a string and raw JSON: writing it to memory cannot fail.
        if serde_json::to_writer(&mut rest, error).is_err() {
            tracing::error!(%error, "an error object could not be serialized");
        }
        rest.push(b'}');
        Self::answer(id.map_or("null", RpcId::as_json), &rest)
    }

    fn answer(id: &str, rest: &[u8]) -> Self {
        const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
        Self {
            bytes: [HEAD, id.as_bytes(), rest, b"\n"].concat(),
            request: None,
        }
    }

    pub(crate) fn nothing() -> Self {
        Self {
            bytes: Vec::new(),
            request: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The id, when this is a request of ours that has to be in the table of pending ones to be sent.
    pub(crate) fn request_id(&self) -> Option<u64> {
        self.request
    }

    fn or_log(method: &str, written: Result<Vec<u8>, serde_json::Error>) -> Self {
        match written {
            Ok(bytes) => Self { bytes, request: None },
            Err(error) => {
                let error = errors::unserializable(error);
                tracing::error!(method, %error, "a message could not be serialized and is not sent");
                Self::nothing()
            }
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line")
            .field(&String::from_utf8_lossy(&self.bytes))
            .finish()
    }
}

fn write<T: Serialize>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::with_capacity(256);
    serde_json::to_writer(&mut bytes, message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes `text` as a JSON string. Writing a string to memory cannot fail.
fn push_string(bytes: &mut Vec<u8>, text: &str) {
    if serde_json::to_writer(bytes, text).is_err() {
        tracing::error!("a string could not be serialized");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{
        ContentBlock, ContentChunk, MessageId, SessionNotification, SessionUpdate, TextContent,
    };
    use serde_json::{Value, json};

    fn json_of(line: &Line) -> Value {
        let text = std::str::from_utf8(line.as_bytes()).unwrap();
        let body = text.strip_suffix('\n').expect("a line feed at the end");
        assert!(!body.contains('\n'), "one line only");
        serde_json::from_str(body).unwrap()
    }

    fn typed(session: &str, kind: ChunkKind, text: &str, message_id: Option<&str>) -> Value {
        let content = ContentBlock::Text(TextContent::new(text));
        let chunk = ContentChunk::new(content).message_id(message_id.map(|id| MessageId::new(id.to_owned())));
        let update = match kind {
            ChunkKind::Message => SessionUpdate::AgentMessageChunk(chunk),
            ChunkKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
            ChunkKind::User => SessionUpdate::UserMessageChunk(chunk),
        };
        let params = SessionNotification::new(session.to_owned(), update);
        json_of(&Line::notification("session/update", &params))
    }

    #[test]
    fn a_text_chunk_is_what_the_schema_types_serialize_to() {
        let texts = [
            "",
            "plain",
            "quo\"te \\ back\u{8}\n\t",
            "é 😀 \u{2028}",
            "</script>",
        ];
        let ids = ["5b3a", "msg \"1\"\n", "ü"];
        for kind in [ChunkKind::Message, ChunkKind::Thought, ChunkKind::User] {
            for text in texts {
                for session in ids {
                    for message_id in [None, Some("msg_1"), Some("a\\b")] {
                        let literal = serde_json::to_string(text).unwrap();
                        let line = Line::text_chunk(session, kind, &literal, message_id);
                        assert_eq!(json_of(&line), typed(session, kind, text, message_id));
                    }
                }
            }
        }
    }

    #[test]
    fn a_text_chunk_pastes_the_literal_as_it_is() {
        let line = Line::text_chunk("s", ChunkKind::Message, r#""\u00e9\/""#, None);
        assert!(String::from_utf8_lossy(line.as_bytes()).contains(r#""text":"\u00e9\/"}"#));
    }

    #[test]
    fn a_text_chunk_takes_one_allocation() {
        for message_id in [None, Some("msg_01ABC")] {
            let line = Line::text_chunk(
                "0d9a7f1c-6a4e-4f5b-9a53-1c52f3d9a0b1",
                ChunkKind::Thought,
                r#""hi""#,
                message_id,
            );
            // Sized exactly: it neither grew nor will be shrunk.
            assert_eq!(line.bytes.capacity(), line.bytes.len());
        }
    }

    #[test]
    fn answers_echo_the_id_as_it_was_written() {
        for id in ["7", "-1", "1e2", "null", r#""\u00e9""#] {
            let id = RpcId::parse(id).unwrap();
            let answer = r#"{"jsonrpc":"2.0","id":null,"result":{"a":1}}"#;
            let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"a\":1}}}}\n");
            assert_eq!(
                String::from_utf8_lossy(Line::registry_answer(&id, answer).as_bytes()),
                expected
            );
        }
        let error = Line::error(None, &errors::invalid_params("no", Some(json!([1]))));
        let expected = json!({
            "jsonrpc": "2.0", "id": null,
            "error": {"code": -32602, "message": "Invalid params: no", "data": [1]},
        });
        assert_eq!(json_of(&error), expected);
    }

    #[test]
    fn what_cannot_be_serialized_becomes_a_line_that_sends_nothing() {
        let unwritable = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(Line::notification("x", &unwritable).is_nothing());
        assert!(Line::request(0, "x", &unwritable).is_err());
    }
}
