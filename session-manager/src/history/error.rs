//! Why a stored conversation cannot be had, and what a client is told then.

use std::io;
use std::path::PathBuf;

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::messages::ClaudeSessionId;
use serde_json::json;

use crate::setup::shown;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("no such conversation")]
    Unknown,
    #[error("`{path}` cannot be read: {1}", path = .0.display())]
    Unreadable(PathBuf, io::Error),
    #[error("`{path}` cannot be deleted: {1}", path = .0.display())]
    Kept(PathBuf, io::Error),
    #[error("the conversation is open on another connection of this agent; close it there")]
    Elsewhere,
    #[error("the conversation is being opened already; wait for that")]
    Opening,
    #[error("another agent has the conversation open; close it there, or fork the conversation")]
    AnotherAgent,
    #[error("the process {0} has the conversation open; end it there, or fork the conversation")]
    Held(i32),
    #[error("the conversation is part of the session `{0}`, which is open; go on there")]
    Chained(ClaudeSessionId),
    #[error("the conversation belongs to the folder `{}`, which does not exist any more; make it again to go on", shown(.0))]
    FolderGone(PathBuf),
}

impl HistoryError {
    pub(super) fn for_client(&self, id: &schema::SessionId) -> RpcError {
        let data = json!({"sessionId": id});
        match self {
            Self::Unknown => errors::resource_not_found(id),
            Self::Unreadable(..) | Self::Kept(..) => errors::internal(self, Some(data)),
            Self::Elsewhere | Self::Opening | Self::AnotherAgent | Self::Held(_) | Self::Chained(_) => {
                errors::invalid_request(self, Some(data))
            }
            Self::FolderGone(folder) => errors::invalid_params(self, Some(json!({"cwd": folder}))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_names_what_it_is_about() {
        let io = || io::Error::other("no");
        let all = [
            HistoryError::Unknown,
            HistoryError::Unreadable("/t.jsonl".into(), io()),
            HistoryError::Kept("/t.jsonl".into(), io()),
            HistoryError::Elsewhere,
            HistoryError::Opening,
            HistoryError::AnotherAgent,
            HistoryError::Held(7),
            HistoryError::Chained("first".into()),
            HistoryError::FolderGone("/gone\nagain".into()),
        ];
        let told = all.map(|error| {
            let error = error.for_client(&"id".into());
            format!("{} {}", error.code(), error.message())
        });
        insta::assert_snapshot!(told.join("\n"), @r"
        -32002 Resource not found: `id`
        -32603 Internal error: `/t.jsonl` cannot be read: no
        -32603 Internal error: `/t.jsonl` cannot be deleted: no
        -32600 Invalid request: the conversation is open on another connection of this agent; close it there
        -32600 Invalid request: the conversation is being opened already; wait for that
        -32600 Invalid request: another agent has the conversation open; close it there, or fork the conversation
        -32600 Invalid request: the process 7 has the conversation open; end it there, or fork the conversation
        -32600 Invalid request: the conversation is part of the session `first`, which is open; go on there
        -32602 Invalid params: the conversation belongs to the folder `/gone\nagain`, which does not exist any more; make it again to go on
        ");
    }
}
