//! Which options a session has right now, with which values.
//!
//! Place in the flow: the views that `Options::list` shows and `Options::change` checks against. Must not change anything.

use super::models::{Abilities, DEFAULT};
use super::view::{Choice, Kind, OptionId, View};
use super::{Effort, Modes, OFF, ON, Options, Switches, wording};

impl Options {
    /// All options that the session has.
    pub(super) fn views(&self, modes: Modes<'_>) -> impl Iterator<Item = View> {
        OptionId::ALL.into_iter().filter_map(move |id| {
            Some(View {
                id,
                kind: self.kind(id, modes)?,
            })
        })
    }

    fn kind(&self, id: OptionId, modes: Modes<'_>) -> Option<Kind> {
        match id {
            OptionId::Mode => Some(Kind::Select {
                current: modes.current.wire_id().to_owned(),
                choices: modes.offered.iter().copied().map(Choice::mode).collect(),
            }),
            OptionId::Model => Some(self.model_kind()),
            OptionId::Effort => self.effort_kind(),
            OptionId::Fast => self.abilities()?.fast.then(|| self.fast_kind()),
            OptionId::Agent => self.agents.kind(self.agent.value().as_deref()),
        }
    }

    fn model_kind(&self) -> Kind {
        let current = self.model.value().as_str();
        let listed = self
            .models
            .iter()
            .map(|model| Choice::new(&model.value, &model.name, model.description.as_deref()));
        let extra = self.models.get(current).is_none().then(|| match current {
            DEFAULT => Choice::new(DEFAULT, wording::DEFAULT, None),
            other => Choice::new(other, other, Some(wording::MODEL_IN_USE)),
        });
        Kind::Select {
            current: current.to_owned(),
            choices: listed.chain(extra).collect(),
        }
    }

    fn effort_kind(&self) -> Option<Kind> {
        let levels = &self.abilities()?.efforts;
        if levels.is_empty() {
            return None;
        }
        let default = Choice::new(DEFAULT, wording::DEFAULT, Some(wording::DEFAULT_EFFORT));
        let others = levels
            .iter()
            .filter(|level| *level != DEFAULT)
            .map(|level| Choice::new(level, &wording::effort(level), None));
        let chosen = match &self.effort {
            Effort::Settings => self.configured_effort(),
            Effort::Default => None,
            Effort::Level(level) => Some(level),
        };
        let current = chosen.filter(|level| levels.contains(level));
        Some(Kind::Select {
            current: current.map_or(DEFAULT, String::as_str).to_owned(),
            choices: std::iter::once(default).chain(others).collect(),
        })
    }

    fn fast_kind(&self) -> Kind {
        let on = *self.fast.value();
        match self.switches {
            Switches::AsBoolean => Kind::Boolean(on),
            Switches::AsSelect => Kind::Select {
                current: if on { ON } else { OFF }.to_owned(),
                choices: vec![
                    Choice::new(ON, wording::ON, None),
                    Choice::new(OFF, wording::OFF, None),
                ],
            },
        }
    }

    /// What can be set on the model in use; `None` when nobody knows.
    pub(super) fn abilities(&self) -> Option<&Abilities> {
        self.models.abilities(self.model.value())
    }

    /// The effort that the settings ask for on this model.
    fn configured_effort(&self) -> Option<&String> {
        let mut efforts = self.configured_efforts.iter();
        let (_, level) = efforts.find(|(model, _)| self.models.run(self.model.value(), model))?;
        Some(level)
    }
}
