//! Control requests in both directions, their answers and their cancellation.
//!
//! `request` and `initialize`: what we ask Claude. `incoming`: what Claude asks us. `reply`: how we answer it.
//! `response`: the envelope of an answer, the same both ways. Correlation of ids is `query`'s work.

mod incoming;
mod initialize;
mod reply;
mod request;
mod response;

pub use incoming::{
    CanUseTool, Elicitation, HookCallback, HookInput, IncomingControl, IncomingRequest, MatchedAskRule,
    McpMessage, UserDialog,
};
pub use initialize::{
    Account, AgentDefinition, AgentInfo, HookMatcher, InitializeRequest, InitializeResponse, ModelInfo,
    SlashCommand,
};
pub use reply::{AllowReply, DenyReply, PermissionReply};
pub use request::{
    ApplyFlagSettings, ControlRequest, GetContextUsage, HostControl, Interrupt, NoFields, SetModel,
    SetPermissionMode,
};
pub use response::{ControlCancel, ControlFailure, ControlResponse, ErrorBody, ResponseBody, SuccessBody};
