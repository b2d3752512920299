//! One option as a client sees it: its kind, its value and what can be chosen.
//!
//! Place in the flow: `Options` makes views; they are shown, and choices are checked against them, so that what is
//! offered and what is accepted are the same. Must not know where a value comes from.

use acp_proto::schema;
use permission_core::PermissionMode;
use serde_json::Value;

use super::change::{Choices, OptionError};
use super::wording;

/// The options that a session can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionId {
    Mode,
    Model,
    Effort,
    Fast,
    Agent,
}

/// An option that the session has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) id: OptionId,
    pub(super) kind: Kind,
}

/// What kind of option it is, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Select { current: String, choices: Vec<Choice> },
    Boolean(bool),
}

/// A value that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    value: String,
    name: String,
    description: Option<String>,
    /// What kind of mode it is, for icons.
    mode_kind: Option<&'static str>,
}

impl OptionId {
    /// All options, in the order in which they are shown.
    pub(super) const ALL: [Self; 5] = [Self::Mode, Self::Model, Self::Effort, Self::Fast, Self::Agent];

    pub(super) fn wire(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Effort => "effort",
            Self::Fast => "fast",
            Self::Agent => "agent",
        }
    }

    fn category(self) -> Option<schema::SessionConfigOptionCategory> {
        match self {
            Self::Mode => Some(schema::SessionConfigOptionCategory::Mode),
            Self::Model => Some(schema::SessionConfigOptionCategory::Model),
            Self::Effort => Some(schema::SessionConfigOptionCategory::ThoughtLevel),
            Self::Fast => Some(schema::SessionConfigOptionCategory::ModelConfig),
            Self::Agent => None,
        }
    }
}

impl View {
    /// The option as the client takes it.
    pub(super) fn to_schema(&self) -> schema::SessionConfigOption {
        let (name, description) = wording::option(self.id);
        let option = match &self.kind {
            Kind::Select { current, choices } => {
                let choices: Vec<_> = choices.iter().map(Choice::to_schema).collect();
                schema::SessionConfigOption::select(self.id.wire(), name, current.clone(), choices)
            }
            Kind::Boolean(on) => schema::SessionConfigOption::boolean(self.id.wire(), name, *on),
        };
        option
            .description(description.to_owned())
            .category(self.id.category())
    }

    /// The boolean that a client sent.
    pub(super) fn boolean(&self, value: &schema::SessionConfigOptionValue) -> Result<bool, OptionError> {
        value.as_bool().ok_or_else(|| OptionError::NeedsBoolean {
            id: self.id.wire(),
            value: excerpt(value.as_value_id().map_or("", |value| &value.0)),
        })
    }

    /// The text that a client sent, which need not be a choice.
    pub(super) fn text<'v>(
        &self,
        value: &'v schema::SessionConfigOptionValue,
    ) -> Result<&'v str, OptionError> {
        match value.as_value_id() {
            Some(value) => Ok(&value.0),
            None => Err(OptionError::NeedsChoice {
                id: self.id.wire(),
                choices: self.choices(),
            }),
        }
    }

    /// The choice that a client sent.
    pub(super) fn choice<'v>(
        &self,
        value: &'v schema::SessionConfigOptionValue,
    ) -> Result<&'v str, OptionError> {
        let text = self.text(value)?;
        if self.offers(text) {
            Ok(text)
        } else {
            Err(self.no_choice(text))
        }
    }

    /// The refusal of a value that is not on offer.
    pub(super) fn no_choice(&self, value: &str) -> OptionError {
        OptionError::unknown(self.id, value, self.choices().0)
    }

    fn offers(&self, value: &str) -> bool {
        match &self.kind {
            Kind::Select { current, choices } => {
                current == value || choices.iter().any(|choice| choice.value == value)
            }
            Kind::Boolean(_) => false,
        }
    }

    fn choices(&self) -> Choices {
        match &self.kind {
            Kind::Select { choices, .. } => {
                Choices(choices.iter().map(|choice| choice.value.clone()).collect())
            }
            Kind::Boolean(_) => Choices(["true", "false"].map(str::to_owned).to_vec()),
        }
    }
}

impl Choice {
    pub(super) fn new(value: &str, name: &str, description: Option<&str>) -> Self {
        Self {
            value: value.to_owned(),
            name: name.to_owned(),
            description: description.map(str::to_owned),
            mode_kind: None,
        }
    }

    pub(super) fn mode(mode: PermissionMode) -> Self {
        Self {
            mode_kind: Some(mode.kind()),
            ..Self::new(mode.wire_id(), mode.name(), Some(mode.description()))
        }
    }

    pub(super) fn value(&self) -> &str {
        &self.value
    }

    fn to_schema(&self) -> schema::SessionConfigSelectOption {
        let meta = self
            .mode_kind
            .map(|kind| schema::Meta::from_iter([("kind".to_owned(), Value::from(kind))]));
        schema::SessionConfigSelectOption::new(self.value.clone(), self.name.clone())
            .description(self.description.clone())
            .meta(meta)
    }
}

/// As much of what a client sent as an error repeats.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(100).collect()
}
