//! Control requests from the host to Claude, one record each.
//!
//! All fields that Claude may miss are optional; kinds that nobody here sends are `Unknown`.

use serde_json::{Map, Value};

use super::InitializeRequest;
use crate::messages::ControlId;

wire! {
    /// A request of ours under its id. Claude handles one without an id, and answers without one.
    pub struct HostControl {
        required { request: ControlRequest, }
        optional { request_id: ControlId, }
    }
}

tagged! {
    /// What the agent asks.
    pub enum ControlRequest by "subtype" {
        "initialize" => Initialize(Box<InitializeRequest>),
        "interrupt" => Interrupt(Interrupt),
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        "set_model" => SetModel(SetModel),
        "apply_flag_settings" => ApplyFlagSettings(ApplyFlagSettings),
        "get_settings" => GetSettings(NoFields),
        "mcp_status" => McpStatus(NoFields),
        "get_context_usage" => GetContextUsage(GetContextUsage),
        "get_plan" => GetPlan(NoFields),
    }
}

impl Default for ControlRequest {
    fn default() -> Self {
        ControlRequest::Unknown(Value::Null)
    }
}

wire! {
    /// A request or answer without fields of its own.
    pub struct NoFields {}
}

wire! {
    /// Stop the running turn.
    pub struct Interrupt {
        optional { cancel_queued: bool, }
    }
}

wire! {
    /// Change the permission mode. Does not settle asks that are open.
    pub struct SetPermissionMode {
        required { mode: String, }
    }
}

impl SetPermissionMode {
    /// Change to `mode`, as the wire spells it.
    pub fn to(mode: impl Into<String>) -> Self {
        SetPermissionMode {
            mode: mode.into(),
            ..SetPermissionMode::default()
        }
    }
}

wire! {
    /// Change the model; null for the session's default.
    pub struct SetModel {
        optional { model: String, }
    }
}

wire! {
    /// Merge keys into the flag layer of the settings; a null value clears a key.
    pub struct ApplyFlagSettings {
        optional { settings: Map<String, Value>, }
    }
}

wire! {
    /// How full the context is.
    pub struct GetContextUsage {
        optional { detail: String, }
    }
}
