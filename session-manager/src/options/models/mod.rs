//! The models that a session offers, and which of them a name means.
//!
//! Place in the flow: made from the `initialize` response and the settings; `Options` asks it for rows. Must not know
//! which model is in use.

use claude_sdk_bridge::messages::control::{InitializeResponse, ModelInfo};

use super::facts::SettingsFacts;
use super::name::{ModelName, with_version};
use super::wording;

/// The value that leaves the choice to Claude.
pub(super) const DEFAULT: &str = "default";

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Model {
    /// What `set_model` takes.
    pub(super) value: String,
    /// The full name behind an alias.
    pub(super) resolved: Option<String>,
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// What can be set on it; `None` when Claude does not list it.
    pub(super) abilities: Option<Abilities>,
}

/// What can be set on a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    /// The effort levels to choose from.
    pub(super) efforts: Vec<String>,
    pub(super) fast: bool,
    pub(super) auto: bool,
}

/// The models, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Models {
    rows: Vec<Model>,
    restricted: bool,
}

impl Models {
    /// The models that Claude lists and the settings allow, and those that only the settings name.
    pub(super) fn new(info: &InitializeResponse, facts: &SettingsFacts) -> Self {
        let mut models = Self {
            rows: Vec::new(),
            restricted: facts.available_models.is_some() || !facts.denied_models.is_empty(),
        };
        for model in info.models.known().map(Model::new) {
            let allowed = model.value == DEFAULT || facts.allow(&model);
            if allowed && models.get(&model.value).is_none() {
                models.rows.push(model);
            }
        }
        let listed = models.clone();
        for entry in facts.available_models.iter().flatten() {
            let known = listed.rows.iter().any(|model| is_allowed_by(model, entry));
            let named = Model::named(entry, &listed);
            if !known && models.get(entry).is_none() && !facts.deny(&named) {
                models.rows.push(named);
            }
        }
        models
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Model> {
        self.rows.iter()
    }

    /// The model with exactly this value.
    pub(super) fn get(&self, value: &str) -> Option<&Model> {
        self.iter().find(|model| model.value == value)
    }

    /// The model that a user or a client means: by its value, by any of its names, or by family, version and window. Who
    /// names a model does not mean the default, whatever that comes to today.
    pub(super) fn resolve(&self, text: &str) -> Option<&Model> {
        let text = text.trim();
        let said = ModelName::parse(text);
        self.get(text)
            .or_else(|| self.best(text, |model| model.is_called(text)))
            .or_else(|| {
                let said = said?;
                self.best(text, |model| {
                    model.value != DEFAULT && model.can_be_meant_by(&said)
                })
            })
    }

    /// Whether the settings say which models there are.
    pub(super) fn restricted(&self) -> bool {
        self.restricted
    }

    /// The values of all models.
    pub(super) fn values(&self) -> Vec<String> {
        self.iter().map(|model| model.value.clone()).collect()
    }

    /// All effort levels that there are on any model.
    pub(super) fn efforts(&self) -> Vec<String> {
        let mut levels: Vec<String> = Vec::new();
        for level in self
            .iter()
            .filter_map(|model| model.abilities.as_ref())
            .flat_map(|able| &able.efforts)
        {
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        levels
    }

    /// Takes note of what a model comes to that was only known by name; says whether it was.
    pub(super) fn learn(&mut self, value: &str, running: &str) -> bool {
        let like = self.running(running).cloned();
        let Some(model) = self.rows.iter_mut().find(|model| model.value == value) else {
            return false;
        };
        if model.resolved.is_some() || value == DEFAULT || running.is_empty() {
            return false;
        }
        if !runs_as(value, running) {
            model.description = Some(wording::runs_as(running));
        }
        model.resolved = Some(running.to_owned());
        if model.abilities.is_none() {
            model.abilities = like.and_then(|like| like.abilities);
        }
        true
    }

    /// The model that Claude reports as `running`.
    pub(super) fn running(&self, running: &str) -> Option<&Model> {
        self.get(running)
            .or_else(|| self.best(running, |model| model.runs_as(running)))
    }

    /// Whether Claude can report the model `value` as `running`. Of a default that Claude does not explain, nobody knows.
    pub(super) fn run(&self, value: &str, running: &str) -> bool {
        match self.get(value) {
            Some(model) if model.resolved.is_some() => model.runs_as(running),
            Some(_) | None => value == DEFAULT || runs_as(value, running),
        }
    }

    /// What can be set on the model `value`; `None` when nobody knows.
    pub(super) fn abilities(&self, value: &str) -> Option<&Abilities> {
        let meant = || {
            let said = ModelName::parse(value)?;
            self.best(value, |model| model.can_be_meant_by(&said))
        };
        self.resolve(value).or_else(meant)?.abilities.as_ref()
    }

    /// Of several, the one with the window that `text` asks for, an alias before the default, the first before others.
    fn best(&self, text: &str, fits: impl Fn(&Model) -> bool) -> Option<&Model> {
        let long = ModelName::parse(text).is_some_and(|name| name.long_context());
        self.iter()
            .filter(|model| fits(model))
            .min_by_key(|model| (model.long_context() != long, model.value == DEFAULT))
    }
}

impl Model {
    fn new(info: &ModelInfo) -> Self {
        Self {
            value: info.value.clone(),
            resolved: info.resolved_model.as_str().map(str::to_owned),
            name: with_version(
                info.display_name.as_str().unwrap_or(&info.value),
                info.resolved_model.as_str(),
            ),
            description: info.description.as_str().map(str::to_owned),
            abilities: Some(Abilities {
                efforts: info.supported_effort_levels.known().cloned().collect(),
                fast: info.supports_fast_mode.is_true(),
                auto: info.supports_auto_mode.is_true(),
            }),
        }
    }

    /// A model that only the settings name. It can do what the same model in another spelling can do.
    fn named(value: &str, listed: &Models) -> Self {
        Self {
            value: value.to_owned(),
            resolved: None,
            name: value.to_owned(),
            description: Some(wording::MODEL_OF_SETTINGS.to_owned()),
            abilities: listed.abilities(value).cloned(),
        }
    }

    /// Whether Claude would report this model as `running`.
    fn runs_as(&self, running: &str) -> bool {
        let parsed = ModelName::parse(running);
        match &self.resolved {
            Some(resolved) => {
                resolved == running || (parsed.is_some() && ModelName::parse(resolved) == parsed)
            }
            None => runs_as(&self.value, running),
        }
    }

    /// Whether the model's name asks for the long context window.
    pub(super) fn long_context(&self) -> bool {
        self.parsed().any(|name| name.long_context())
    }

    fn is_called(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        let resolved = self.resolved.as_ref().filter(|_| self.value != DEFAULT);
        let mut names = [&self.value, &self.name].into_iter().chain(resolved);
        names.any(|name| name.to_lowercase() == lower)
    }

    fn can_be_meant_by(&self, said: &ModelName) -> bool {
        self.parsed().any(|name| said.can_mean(&name))
    }

    fn parsed(&self) -> impl Iterator<Item = ModelName> {
        self.names().filter_map(ModelName::parse)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [Some(&self.value), self.resolved.as_ref(), Some(&self.name)]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}

impl SettingsFacts {
    fn allow(&self, model: &Model) -> bool {
        let listed = self
            .available_models
            .as_ref()
            .is_none_or(|entries| entries.iter().any(|entry| is_allowed_by(model, entry)));
        listed && !self.deny(model)
    }

    fn deny(&self, model: &Model) -> bool {
        self.denied_models.iter().any(|entry| is_allowed_by(model, entry))
    }
}

/// Whether a model that is known by the name `value` alone could be reported as `running`.
fn runs_as(value: &str, running: &str) -> bool {
    let meant = || {
        let (said, is) = (ModelName::parse(value)?, ModelName::parse(running)?);
        Some(said.can_mean(&is))
    };
    value == running || meant().unwrap_or_default()
}

/// Whether `entry` of a list of models covers `model`.
fn is_allowed_by(model: &Model, entry: &str) -> bool {
    let covered = || {
        let entry = ModelName::parse(entry)?;
        Some(model.parsed().any(|name| entry.allows(&name)))
    };
    model.value == entry || covered().unwrap_or_default()
}

#[cfg(test)]
mod tests;
