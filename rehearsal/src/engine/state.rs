//! What a session remembers from launch to launch, and how the next turn of the script is picked.
//!
//! Place in the flow: `backend` keeps one per session id, `cli` keeps it in a file; `engine` changes it.

use std::collections::{BTreeMap, BTreeSet};

use claude_sdk_bridge::messages::{MessageUuid, ToolUseId};
use serde::{Deserialize, Serialize};

use crate::script::{Script, TokenUsage, Turn};

/// The memory of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// How often the session has been launched.
    launches: u64,
    /// The turns that have been played, by their place in the script.
    played: BTreeSet<usize>,
    /// How many tools have been called.
    tool_calls: u64,
    /// How many messages the model has written.
    messages: u64,
    /// What each model has used.
    pub(crate) totals: BTreeMap<String, TokenUsage>,
    /// Which prompts the last turn was for.
    pub(crate) previous: Attribution,
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
    /// Takes the turn for a prompt out of the script: the first unplayed one made for such a prompt, else the first
    /// unplayed one for any prompt. A sticky turn is never used up.
    pub(crate) fn take_turn(&mut self, script: &Script, prompt: &str) -> Option<Turn> {
        let unplayed = || {
            script
                .turns()
                .enumerate()
                .filter(|(place, _)| !self.played.contains(place))
        };
        let made_for = unplayed().find(|(_, turn)| turn.prompt.as_ref().is_some_and(|it| it.matches(prompt)));
        let (place, turn) = made_for.or_else(|| unplayed().find(|(_, turn)| turn.prompt.is_none()))?;
        let turn = turn.clone();
        if !turn.sticky {
            self.played.insert(place);
        }
        Some(turn)
    }

    /// Counts a launch; gives its number.
    pub(crate) fn count_launch(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// An id for a tool call.
    pub(crate) fn next_tool_id(&mut self) -> ToolUseId {
        self.tool_calls += 1;
        ToolUseId::from(format!("toolu_{:02}", self.tool_calls))
    }

    /// A number for a message of the model.
    pub(crate) fn next_message(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(turns: &str, prompts: &[&str], expected: &[Option<usize>]) {
        let text = format!("{{\"version\": 1, \"turns\": {turns}}}");
        let script = Script::parse("test", &text).unwrap();
        let mut state = SessionState::default();
        let picked: Vec<Option<usize>> = prompts
            .iter()
            .map(|prompt| {
                let turn = state.take_turn(&script, prompt)?;
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
