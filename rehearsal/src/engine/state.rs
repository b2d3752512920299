//! What a session remembers from launch to launch, and how the next turn of the script is picked.
//!
//! Place in the flow: `backend` keeps one per session id, `argv` keeps it in a file; `engine` changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use claude_sdk_bridge::messages::{ClaudeSessionId, MessageUuid, ToolUseId};
use permission_core::Grants;
use serde::{Deserialize, Serialize};

use crate::script::{TokenUsage, Turn};

/// The memory of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// Stands in every id, because ids of two sessions must differ: a host may show both as one.
    mark: String,
    /// How often the session has been launched.
    launches: u64,
    /// The scene that was picked, by its name.
    pub(crate) scene: Option<String>,
    /// The turns that have been played, by their place in what is played.
    played: BTreeSet<usize>,
    /// How many tools have been called.
    tool_calls: u64,
    /// How many messages the model has written.
    messages: u64,
    /// What each model has used.
    pub(crate) totals: BTreeMap<String, TokenUsage>,
    /// Which prompts the last turn was for.
    pub(crate) previous: Attribution,
    /// What answers have changed for longer than their call.
    pub(crate) granted: Grants,
}

/// Which prompts a turn is for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Attribution {
    /// The one that counts, if it has an id.
    pub(crate) main: Option<MessageUuid>,
    /// All of them that have one.
    pub(crate) all: Vec<MessageUuid>,
}

impl SessionState {
    /// The memory of a session that begins.
    pub(crate) fn of(session: &ClaudeSessionId) -> Self {
        let mut hasher = DefaultHasher::new();
        session.as_str().hash(&mut hasher);
        Self {
            mark: format!("{:016x}_", hasher.finish()),
            ..Self::default()
        }
    }

    /// Takes the turn for a prompt out of those there are: the first unplayed one made for such a prompt, else the
    /// first unplayed one for any prompt. A sticky turn is never used up.
    pub(crate) fn take_turn<'a>(
        &mut self,
        turns: impl Iterator<Item = &'a Turn>,
        prompt: &str,
    ) -> Option<Turn> {
        let unplayed: Vec<_> = turns
            .enumerate()
            .filter(|(place, _)| !self.played.contains(place))
            .collect();
        let made_for = |turn: &Turn| turn.prompt.as_ref().is_some_and(|it| it.matches(prompt));
        let fitting = unplayed.iter().find(|(_, turn)| made_for(turn));
        let (place, turn) = fitting.or_else(|| unplayed.iter().find(|(_, turn)| turn.prompt.is_none()))?;
        Some(self.take(*place, turn))
    }

    /// Takes the first turn, whatever prompts it is for.
    pub(crate) fn take_first<'a>(&mut self, mut turns: impl Iterator<Item = &'a Turn>) -> Option<Turn> {
        turns.next().map(|turn| self.take(0, turn))
    }

    /// Goes over to another scene, or to the start of the same.
    pub(crate) fn pick(&mut self, scene: &str) {
        self.scene = Some(scene.to_owned());
        self.played.clear();
    }

    /// What answers have changed for longer than their call.
    pub(crate) fn granted(&self) -> &Grants {
        &self.granted
    }

    /// Whether nothing has been said in the session.
    pub(crate) fn is_fresh(&self) -> bool {
        self.messages == 0
    }

    /// Counts a launch; gives its number.
    pub(crate) fn count_launch(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// An id for a tool call.
    pub(crate) fn next_tool_id(&mut self) -> ToolUseId {
        self.tool_calls += 1;
        ToolUseId::from(format!("toolu_{}{:02}", self.mark, self.tool_calls))
    }

    /// What the ids of a message of the model, and of its request, are made of.
    pub(crate) fn next_message(&mut self) -> String {
        self.messages += 1;
        format!("rehearsal_{}{:04}", self.mark, self.messages)
    }

    fn take(&mut self, place: usize, turn: &Turn) -> Turn {
        if !turn.sticky {
            self.played.insert(place);
        }
        turn.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[track_caller]
    fn check(turns: &str, prompts: &[&str], expected: &[Option<usize>]) {
        let text = format!("{{\"version\": 1, \"turns\": {turns}}}");
        let script = Script::parse("test", &text).unwrap();
        let mut state = SessionState::default();
        let picked: Vec<Option<usize>> = prompts
            .iter()
            .map(|prompt| {
                let turn = state.take_turn(script.turns(), prompt)?;
                script.turns().position(|candidate| candidate.steps == turn.steps)
            })
            .collect();
        assert_eq!(picked, expected, "{turns}");
    }

    #[test]
    fn turns_are_taken_in_order_and_made_for_prompts_first() {
        check(
            r#"[{"steps":["hang"]},{"steps":["stall"]}]"#,
            &["a", "b", "c"],
            &[Some(0), Some(1), None],
        );
        check(
            r#"[{"steps":["hang"]},{"prompt":"fix","steps":["stall"]}]"#,
            &["please fix it", "fix again"],
            &[Some(1), Some(0)],
        );
        check(
            r#"[{"prompt":{"exact":"x"},"steps":["hang"]}]"#,
            &["xx", "x", "x"],
            &[None, Some(0), None],
        );
        check(
            r#"[{"prompt":{"prefix":"/r"},"steps":["hang"]}]"#,
            &["a /r", "/r a"],
            &[None, Some(0)],
        );
        check(
            r#"[{"sticky":true,"steps":["hang"]}]"#,
            &["a", "b"],
            &[Some(0), Some(0)],
        );
    }
}
