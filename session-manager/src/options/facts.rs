//! What decides about the options beside Claude's `initialize` response: the settings, and how the client shows a switch.
//!
//! Place in the flow: read once per process, before [`super::Options::new`]. Must not remember choices.

use std::collections::BTreeMap;

use acp_proto::schema;
use serde_json::Value;

/// What the settings say, and what Claude makes of them: the answer to `get_settings`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SettingsFacts {
    /// The only models that may be chosen; `None` for any.
    pub(super) available_models: Option<Vec<String>>,
    /// Models that may not be chosen.
    pub(super) denied_models: Vec<String>,
    /// The model, as the settings name it.
    pub(super) model: Option<String>,
    /// The model that Claude uses, by its full name.
    pub(super) model_in_use: Option<String>,
    /// The effort that Claude uses.
    pub(super) effort_in_use: Option<String>,
    /// The effort that the settings ask for, by the full name of the model.
    pub(super) efforts: BTreeMap<String, String>,
    /// The agent that leads.
    pub(super) agent: Option<String>,
}

/// How a client shows a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Switches {
    /// As a list of `on` and `off`.
    #[default]
    AsSelect,
    /// As a boolean.
    AsBoolean,
}

impl SettingsFacts {
    /// Reads the answer to `get_settings`. What is missing or of another shape is as if it were not set.
    pub(crate) fn read(response: &Value) -> Self {
        let text = |pointer: &str| {
            let text = response.pointer(pointer).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let owned = |pointer: &str| text(pointer).map(str::to_owned);
        let model_in_use = owned("/applied/model");
        let effort_in_use = owned("/applied/effort");
        let mut efforts = by_model(response.pointer("/effective/modelSettings"));
        // Newer models pass over the general setting, so it counts where Claude says that it does.
        if let (Some(model), Some(level)) = (&model_in_use, text("/effective/effortLevel"))
            && effort_in_use.as_deref() == Some(level)
        {
            efforts.entry(model.clone()).or_insert_with(|| level.to_owned());
        }
        Self {
            available_models: response.pointer("/effective/availableModels").and_then(names),
            denied_models: response
                .pointer("/effective/deniedModels")
                .and_then(names)
                .unwrap_or_default(),
            model: owned("/effective/model"),
            model_in_use,
            effort_in_use,
            efforts,
            agent: owned("/effective/agent"),
        }
    }
}

impl Switches {
    /// Reads the client's capabilities.
    pub(crate) fn read(capabilities: &schema::ClientCapabilities) -> Self {
        let options = capabilities
            .session
            .as_ref()
            .and_then(|session| session.config_options.as_ref());
        match options.and_then(|options| options.boolean.as_ref()) {
            Some(_) => Self::AsBoolean,
            None => Self::AsSelect,
        }
    }
}

fn names(list: &Value) -> Option<Vec<String>> {
    let names = list.as_array()?.iter().filter_map(Value::as_str);
    let names = names.filter(|name| !name.trim().is_empty());
    Some(names.map(str::to_owned).collect())
}

fn by_model(settings: Option<&Value>) -> BTreeMap<String, String> {
    let models = settings.and_then(Value::as_object);
    models
        .into_iter()
        .flatten()
        .filter_map(|(model, settings)| {
            let level = settings.get("effortLevel")?.as_str()?;
            Some((model.clone(), level.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_and_what_is_missing_is_not_set() {
        let response = json!({
            "effective": {
                "model": "sonnet", "agent": "rev", "availableModels": ["sonnet", 5, " "],
                "modelSettings": {"claude-opus-5-5": {"effortLevel": "low"}, "x": {}},
            },
            "applied": {"model": "claude-sonnet-5-5", "effort": "medium"},
        });
        let expected = SettingsFacts {
            available_models: Some(vec!["sonnet".to_owned()]),
            denied_models: Vec::new(),
            model: Some("sonnet".to_owned()),
            model_in_use: Some("claude-sonnet-5-5".to_owned()),
            effort_in_use: Some("medium".to_owned()),
            efforts: BTreeMap::from([("claude-opus-5-5".to_owned(), "low".to_owned())]),
            agent: Some("rev".to_owned()),
        };
        assert_eq!(SettingsFacts::read(&response), expected);
        for odd in [
            json!(null),
            json!([]),
            json!({"effective": {"agent": ""}, "applied": {"model": 2}}),
        ] {
            assert_eq!(SettingsFacts::read(&odd), SettingsFacts::default(), "{odd}");
        }
    }

    #[test]
    fn the_general_effort_counts_only_where_claude_uses_it() {
        let cases = [("high", Some("high")), ("medium", None)];
        for (in_use, expected) in cases {
            let facts = SettingsFacts::read(&json!({
                "effective": {"effortLevel": "high"}, "applied": {"model": "m", "effort": in_use},
            }));
            assert_eq!(facts.efforts.get("m").map(String::as_str), expected, "{in_use}");
        }
    }

    #[test]
    fn only_a_client_that_says_so_gets_booleans() {
        let cases = [
            (json!({}), Switches::AsSelect),
            (json!({"session": {"configOptions": {}}}), Switches::AsSelect),
            (
                json!({"session": {"configOptions": {"boolean": null}}}),
                Switches::AsSelect,
            ),
            (
                json!({"session": {"configOptions": {"boolean": {}}}}),
                Switches::AsBoolean,
            ),
        ];
        for (capabilities, expected) in cases {
            let read = serde_json::from_value(capabilities.clone()).unwrap();
            assert_eq!(Switches::read(&read), expected, "{capabilities}");
        }
    }
}
