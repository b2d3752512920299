//! The wire between host and Claude, typed, both ways. Read by `decode`, written by `query`, used by every crate above.
//!
//! Rules of this folder: reading loses nothing (unknown kinds and fields are kept), writing what was read gives equal
//! JSON, and no type decides anything. `wire` and `macros` are the tools, the other files the protocol.

#[macro_use]
mod macros;
mod wire;

mod ids;

mod assistant;
mod content;
pub mod control;
mod host;
mod message;
mod result;
mod stream;
mod system;
mod tasks;
mod usage;
mod user;

pub use assistant::{ApiErrorKind, ApiMessage, AssistantMessage, SYNTHETIC_MODEL};
pub use content::{
    Base64Source, Content, ContentBlock, MediaBlock, MediaSource, RedactedThinkingBlock, TextBlock,
    TextSource, ThinkingBlock, ToolResultBlock, ToolUseBlock, UrlSource,
};
pub use host::{HostMessage, OutgoingUserMessage, Priority};
pub use ids::{ApiMessageId, ClaudeSessionId, ControlId, MessageUuid, TaskId, ToolUseId};
pub use message::{
    CommandLifecycle, CommandState, ConversationReset, KeepAlive, Message, RateLimitEvent, RateLimitInfo,
    ToolProgress,
};
pub use result::{Abort, PermissionDenial, ResultMessage, ResultSubtype, TerminalReason, TurnOutcome};
pub use stream::{
    AbandonedBlocks, ApiEvent, BlockDelta, BlockStart, BlockStop, Delta, InputJsonDelta, MessageDelta,
    MessageStart, MessageStop, SignatureDelta, StopDelta, StreamEvent, TextDelta, ThinkingDelta,
};
pub use system::{
    ActivityStatus, ApiRetry, CommandsChanged, CompactBoundary, CompactMetadata, Informational,
    LocalCommandOutput, McpServerState, ModelRefusal, PermissionDenied, SessionState, SessionStateChanged,
    SessionTitleChanged, Status, SystemEvent, SystemInit, SystemMessage, ThinkingTokens,
};
pub use tasks::{
    BackgroundTask, BackgroundTasksChanged, TaskNotification, TaskStarted, TaskStatus, TaskType,
};
pub use usage::{ModelUsage, OutputTokensDetails, Usage};
pub use user::{NonExecutionKind, Origin, PermissionDecisionMeta, ToolResultMeta, UserContent, UserMessage};
pub use wire::{Field, FromWire, Lenient, List, Table, WireFields};

#[cfg(test)]
mod tests;
