//! `initialize`: what the host wants and what Claude offers. Sent once after the launch, before or with the first prompt.
//!
//! Absent, null and empty differ: an absent `systemPrompt` means Claude Code's own, `[""]` means none at all.

use crate::messages::{List, Table};

wire! {
    /// What the host wants. Default: nothing in particular.
    pub struct InitializeRequest {
        optional {
            /// Hooks by event; null for none.
            hooks: Table<List<HookMatcher>>,
            /// Replaces Claude Code's prompt.
            system_prompt as "systemPrompt": List<String>,
            /// Added to Claude Code's prompt.
            append_system_prompt as "appendSystemPrompt": String,
            system_prompt_snapshot as "systemPromptSnapshot": bool,
            exclude_dynamic_sections as "excludeDynamicSections": bool,
            agents: Table<AgentDefinition>,
            title: String,
        }
    }
}

wire! {
    /// Which tools a hook is for and what to call.
    pub struct HookMatcher {
        optional {
            matcher: String,
            hook_callback_ids as "hookCallbackIds": List<String>,
            /// Seconds.
            timeout: serde_json::Number,
            on_failure as "onFailure": String,
        }
    }
}

wire! {
    /// A subagent the host defines.
    pub struct AgentDefinition {
        required {
            description: String,
            prompt: String,
        }
    }
}

wire! {
    /// What Claude offers. Has no session id.
    pub struct InitializeResponse {
        optional {
            commands: List<SlashCommand>,
            agents: List<AgentInfo>,
            models: List<ModelInfo>,
            account: Account,
            output_style: String,
            available_output_styles: List<String>,
            current_permission_mode: String,
            session_state: crate::messages::SessionState,
            pid: u64,
            claude_code_version: String,
            capabilities: List<String>,
            fast_mode_state: String,
            hooks_applied: bool,
            hook_on_failure_supported: bool,
        }
    }
}

wire! {
    /// A slash command; the name has no slash.
    pub struct SlashCommand {
        required { name: String, }
        optional {
            description: String,
            argument_hint as "argumentHint": String,
            builtin: bool,
        }
    }
}

wire! {
    /// A subagent that can be used.
    pub struct AgentInfo {
        required { name: String, }
        optional {
            description: String,
        }
    }
}

wire! {
    /// A model that can be chosen.
    pub struct ModelInfo {
        required {
            /// What `set_model` takes.
            value: String,
        }
        optional {
            resolved_model as "resolvedModel": String,
            display_name as "displayName": String,
            description: String,
            supports_effort as "supportsEffort": bool,
            supported_effort_levels as "supportedEffortLevels": List<String>,
            supports_adaptive_thinking as "supportsAdaptiveThinking": bool,
            supports_fast_mode as "supportsFastMode": bool,
            supports_auto_mode as "supportsAutoMode": bool,
            supports_thinking_off as "supportsThinkingOff": bool,
        }
    }
}

wire! {
    /// Who pays.
    pub struct Account {
        optional {
            subscription_type as "subscriptionType": String,
            token_source as "tokenSource": String,
            api_key_source as "apiKeySource": String,
            api_provider as "apiProvider": String,
        }
    }
}
