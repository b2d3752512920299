//! The agents that can lead a session.
//!
//! Place in the flow: read from the `initialize` response and from every `system/init`; shown only when there is a
//! custom one. Must not know which agent leads.

use claude_sdk_bridge::messages::control::{AgentInfo, InitializeResponse};

use super::models::DEFAULT;
use super::view::{Choice, Kind};
use super::wording;

/// Claude Code's own, of this and other releases. Nothing but the name tells them from a user's.
const BUILT_IN: [&str; 7] = [
    "claude",
    "Explore",
    "general-purpose",
    "Plan",
    "statusline-setup",
    "output-style-setup",
    "claude-code-guide",
];

/// The agents, in Claude's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agents(Vec<Agent>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Agent {
    name: String,
    description: Option<String>,
}

impl Agents {
    pub(super) fn new(info: &InitializeResponse) -> Self {
        Self::from_iter(info.agents.known().map(Agent::new))
    }

    /// Whether an agent can be started, built-in or not.
    pub(super) fn exists(&self, name: &str) -> bool {
        self.0.iter().any(|agent| agent.name == name)
    }

    /// The names of all agents.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|agent| agent.name.clone()).collect()
    }

    /// The agents of these names; what is known of them stays known.
    pub(super) fn named<'n>(&self, names: impl Iterator<Item = &'n str>) -> Self {
        Self::from_iter(names.map(|name| {
            let known = self.0.iter().find(|agent| agent.name == name);
            known.cloned().unwrap_or_else(|| Agent {
                name: name.to_owned(),
                description: None,
            })
        }))
    }

    /// The option `agent`; none when there is nothing to choose.
    pub(super) fn kind(&self, current: Option<&str>) -> Option<Kind> {
        let custom = self
            .0
            .iter()
            .filter(|agent| !BUILT_IN.contains(&agent.name.as_str()))
            .map(|agent| Choice::new(&agent.name, &agent.name, agent.description.as_deref()));
        let default = Choice::new(DEFAULT, wording::DEFAULT, Some(wording::DEFAULT_AGENT));
        let mut choices: Vec<Choice> = std::iter::once(default).chain(custom).collect();
        let current = current.unwrap_or(DEFAULT);
        if !choices.iter().any(|choice| choice.value() == current) {
            choices.push(Choice::new(current, current, None));
        }
        (choices.len() > 1).then(|| Kind::Select {
            current: current.to_owned(),
            choices,
        })
    }
}

impl FromIterator<Agent> for Agents {
    /// Each name once; one that means no agent could not be chosen.
    fn from_iter<I: IntoIterator<Item = Agent>>(agents: I) -> Self {
        let mut all = Self::default();
        for agent in agents {
            if agent.name != DEFAULT && !all.exists(&agent.name) {
                all.0.push(agent);
            }
        }
        all
    }
}

impl Agent {
    fn new(info: &AgentInfo) -> Self {
        Self {
            name: info.name.clone(),
            description: info.description.as_str().map(str::to_owned),
        }
    }
}
