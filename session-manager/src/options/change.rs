//! What a choice asks of Claude, and why a choice is refused.
//!
//! Place in the flow: `Options::change` returns a [`Change`], the session sends its requests in order and reports each
//! that Claude took to `Options::applied`. Must not send anything.

use claude_sdk_bridge::messages::control::{ApplyFlagSettings, ControlRequest, SetModel, SetPermissionMode};
use permission_core::PermissionMode;
use serde_json::{Map, Value};

use super::view::{OptionId, excerpt};

/// A checked choice: what has to be asked of Claude, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The choice itself.
    pub(crate) request: Request,
    /// What has to follow, so that the other options stay true.
    pub(crate) then: Option<Request>,
}

/// One control request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// `set_permission_mode`; the mode itself is kept by the session.
    SetMode(PermissionMode),
    /// `set_model`; `None` for the default. The answer names the model that runs: report it as observed.
    SetModel(Option<String>),
    /// `apply_flag_settings`.
    ApplyFlagSettings(FlagSetting),
}

/// One setting of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlagSetting {
    /// `effortLevel`; `None` for the model's own.
    Effort(Option<String>),
    /// `fastMode`.
    Fast(bool),
    /// `agent`; `None` for Claude Code itself.
    Agent(Option<String>),
}

/// Why a choice is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OptionError {
    #[error("`{id}` is not an option of this session; choose one of {choices}")]
    UnknownOption { id: String, choices: Choices },
    #[error("`{value}` is not a value of the option `{id}`; choose one of {choices}")]
    UnknownValue {
        id: &'static str,
        value: String,
        choices: Choices,
    },
    #[error("the option `{id}` takes a boolean value, but received `{value}`; send `true` or `false`")]
    NeedsBoolean { id: &'static str, value: String },
    #[error("the option `{id}` takes no boolean value; choose one of {choices}")]
    NeedsChoice { id: &'static str, choices: Choices },
}

/// What could have been chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choices(pub(super) Vec<String>);

impl OptionError {
    /// The refusal of a value that is none of these.
    pub(super) fn unknown(id: OptionId, value: &str, choices: Vec<String>) -> Self {
        Self::UnknownValue {
            id: id.wire(),
            value: excerpt(value),
            choices: Choices(choices),
        }
    }

    /// The option, by its id.
    pub(crate) fn option(&self) -> &str {
        match self {
            Self::UnknownOption { id, .. } => id,
            Self::UnknownValue { id, .. } | Self::NeedsBoolean { id, .. } | Self::NeedsChoice { id, .. } => {
                id
            }
        }
    }
}

impl Request {
    /// The request as Claude takes it.
    pub(crate) fn to_control(&self) -> ControlRequest {
        match self {
            Self::SetMode(mode) => ControlRequest::SetPermissionMode(SetPermissionMode::to(mode.wire_id())),
            Self::SetModel(model) => ControlRequest::SetModel(SetModel {
                model: model.clone().into(),
                ..SetModel::default()
            }),
            Self::ApplyFlagSettings(setting) => {
                let (key, value) = setting.entry();
                ControlRequest::ApplyFlagSettings(ApplyFlagSettings {
                    settings: Map::from_iter([(key.to_owned(), value)]).into(),
                    ..ApplyFlagSettings::default()
                })
            }
        }
    }

    /// Whether `get_settings` should be asked once Claude has taken this, because only that tells the whole effect: an
    /// agent can bring its own model, and limits of an organization or the environment can hold an effort back.
    pub(crate) fn needs_settings(&self) -> bool {
        match self {
            Self::SetMode(_) => false,
            Self::SetModel(_) => true,
            Self::ApplyFlagSettings(FlagSetting::Effort(_) | FlagSetting::Agent(_)) => true,
            Self::ApplyFlagSettings(FlagSetting::Fast(_)) => false,
        }
    }
}

impl FlagSetting {
    fn entry(&self) -> (&'static str, Value) {
        match self {
            Self::Effort(level) => ("effortLevel", level.clone().into()),
            Self::Fast(on) => ("fastMode", (*on).into()),
            Self::Agent(name) => ("agent", name.clone().into()),
        }
    }
}

impl std::fmt::Display for Choices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, choice) in self.0.iter().enumerate() {
            let before = if at == 0 { "" } else { ", " };
            write!(f, "{before}`{choice}`")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_what_claude_takes() {
        let settings = |setting| Request::ApplyFlagSettings(setting);
        let cases = [
            (
                Request::SetMode(PermissionMode::AcceptEdits),
                json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}),
            ),
            (
                Request::SetModel(Some("opus".to_owned())),
                json!({"subtype": "set_model", "model": "opus"}),
            ),
            (Request::SetModel(None), json!({"subtype": "set_model"})),
            (
                settings(FlagSetting::Effort(Some("max".to_owned()))),
                json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": "max"}}),
            ),
            (
                settings(FlagSetting::Effort(None)),
                json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": null}}),
            ),
            (
                settings(FlagSetting::Fast(false)),
                json!({"subtype": "apply_flag_settings", "settings": {"fastMode": false}}),
            ),
            (
                settings(FlagSetting::Agent(Some("rev".to_owned()))),
                json!({"subtype": "apply_flag_settings", "settings": {"agent": "rev"}}),
            ),
        ];
        for (request, expected) in cases {
            let control = serde_json::to_value(request.to_control()).unwrap();
            assert_eq!(control, expected, "{request:?}");
        }
    }

    #[test]
    fn settings_are_read_again_where_they_tell_more_than_the_answer() {
        let cases = [
            (Request::SetMode(PermissionMode::Plan), false),
            (Request::SetModel(None), true),
            (Request::ApplyFlagSettings(FlagSetting::Effort(None)), true),
            (Request::ApplyFlagSettings(FlagSetting::Fast(true)), false),
            (Request::ApplyFlagSettings(FlagSetting::Agent(None)), true),
        ];
        for (request, expected) in cases {
            assert_eq!(request.needs_settings(), expected, "{request:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_choices() {
        let choices = || Choices(vec!["on".to_owned(), "off".to_owned()]);
        let errors = [
            OptionError::UnknownOption {
                id: "nope".to_owned(),
                choices: choices(),
            },
            OptionError::UnknownValue {
                id: "fast",
                value: "maybe".to_owned(),
                choices: choices(),
            },
            OptionError::NeedsBoolean {
                id: "fast",
                value: "on".to_owned(),
            },
            OptionError::NeedsChoice {
                id: "fast",
                choices: choices(),
            },
        ];
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
