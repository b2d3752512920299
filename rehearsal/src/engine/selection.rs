//! Which scene is played: the loaded script from its start, or what `/rehearse NAME` has picked since.
//!
//! Place in the flow: `Engine` asks here for the turn that answers a prompt; `SessionState` remembers the choice by name
//! and which turns are used up. What is said about scenes stands in `frames::text`.

use std::sync::Arc;

use permission_core::decide::Authorizer;

use super::core::Core;
use super::state::SessionState;
use crate::frames::{SCENE_COMMAND, text};
use crate::script::{self, OnInterrupt, Script, Step, Stream, TokenUsage, Turn};

/// A script, or one scene of it.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) script: Arc<Script>,
    /// The only scene to be played, by its place.
    scene: Option<usize>,
}

/// What a prompt asks for that is a command of ours.
#[derive(Debug, PartialEq, Eq)]
enum Command<'a> {
    List,
    Play(&'a str),
}

impl Selection {
    /// What a session plays: its choice, else the loaded script.
    pub(crate) fn of(loaded: &Arc<Script>, state: &SessionState) -> Self {
        let chosen = state.scene.as_deref().and_then(|name| Self::find(loaded, name));
        chosen.unwrap_or_else(|| Self::whole(Arc::clone(loaded)))
    }

    fn whole(script: Arc<Script>) -> Self {
        Self { script, scene: None }
    }

    /// A scene of the loaded script, else a built-in script, else a scene of one (`SCRIPT/SCENE`).
    fn find(loaded: &Arc<Script>, name: &str) -> Option<Self> {
        let scene_of = |script: Arc<Script>, name: &str| {
            let scene = script.scenes.iter().position(|scene| scene.name == name)?;
            Some(Self {
                script,
                scene: Some(scene),
            })
        };
        let builtin = |name: &str| Script::builtin(name).ok().map(Arc::new);
        scene_of(Arc::clone(loaded), name)
            .or_else(|| builtin(name).map(Self::whole))
            .or_else(|| {
                let (script, scene) = name.split_once('/')?;
                scene_of(builtin(script)?, scene)
            })
    }

    pub(crate) fn turns(&self) -> impl Iterator<Item = &Turn> {
        let scenes = self.script.scenes.iter().enumerate();
        scenes
            .filter(|(place, _)| self.scene.is_none_or(|only| only == *place))
            .flat_map(|(_, scene)| &scene.turns)
    }

    fn is_made_for(&self, prompt: &str) -> bool {
        let mut patterns = self.turns().filter_map(|turn| turn.prompt.as_ref());
        patterns.any(|pattern| pattern.matches(prompt))
    }
}

impl<'a> Command<'a> {
    /// The command is the first line; editors may put the files they have open below it.
    fn of(prompt: &'a str) -> Option<Self> {
        let line = prompt.trim_start().lines().next()?;
        let rest = line.strip_prefix('/')?.strip_prefix(SCENE_COMMAND)?;
        match rest.trim() {
            "" => Some(Self::List),
            name if rest.starts_with(char::is_whitespace) => Some(Self::Play(name)),
            _ => None,
        }
    }
}

impl Core {
    /// Takes the turn that answers a prompt.
    pub(crate) fn turn_for(&mut self, prompt: &str) -> Turn {
        let turn = match Command::of(prompt) {
            Some(Command::List) => return says(text::scenes(&self.script)),
            Some(Command::Play(name)) => {
                let Some(selection) = Selection::find(&self.script, name) else {
                    return says(text::unknown_scene(name, &self.script));
                };
                self.pick(name, selection);
                self.state.take_first(self.selected.turns())
            }
            None => {
                self.follow_plan(prompt);
                self.state.take_turn(self.selected.turns(), prompt)
            }
        };
        turn.unwrap_or_else(|| says(text::SCRIPT_OVER.to_owned()))
    }

    fn pick(&mut self, name: &str, selection: Selection) {
        self.state.pick(name);
        self.authorizer = Authorizer::default();
        self.selected = selection;
    }

    /// The plan of a built-in script may have been approved with the context cleared; then this is the fresh session
    /// that is to carry it out, and the loaded script may be another one.
    fn follow_plan(&mut self, prompt: &str) {
        if !self.state.is_fresh() || self.selected.is_made_for(prompt) {
            return;
        }
        let made_for_it = script::names().into_iter().find_map(|name| {
            let selection = Selection::find(&self.script, name)?;
            selection.is_made_for(prompt).then_some((name, selection))
        });
        if let Some((name, selection)) = made_for_it {
            self.pick(name, selection);
        }
    }
}

/// A turn in which the rehearsal itself says something.
fn says(text: String) -> Turn {
    Turn {
        prompt: None,
        sticky: false,
        on_interrupt: OnInterrupt::Abort,
        usage: TokenUsage::default(),
        steps: Arc::from([Step::Text(Stream::from(text))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: Option<Command<'_>>) {
        assert_eq!(Command::of(prompt), expected, "{prompt:?}");
    }

    #[test]
    fn the_command_is_the_first_line_of_a_prompt() {
        check("/rehearse", Some(Command::List));
        check(" /rehearse \nsome file", Some(Command::List));
        check("/rehearse tour", Some(Command::Play("tour")));
        check(
            "/rehearse\ttour/error \r\nmore",
            Some(Command::Play("tour/error")),
        );
        check("/rehearsed", None);
        check("/rehearse-all", None);
        check("please /rehearse tour", None);
        check("rehearse tour", None);
        check("", None);
    }

    #[test]
    fn a_scene_of_the_script_hides_a_built_in_script_of_its_name() {
        let script = r#"{"version": 1, "scenes": [
            {"name": "a/b", "turns": []}, {"name": "stress", "turns": [{"steps": ["hang"]}, {"steps": ["stall"]}]}]}"#;
        let script = Arc::new(Script::parse("test", script).unwrap());
        let turns = |name: &str| Selection::find(&script, name).map(|selection| selection.turns().count());
        assert_eq!(turns("stress"), Some(2));
        assert_eq!(turns("a/b"), Some(0));
        assert_eq!(turns("default"), Some(1));
        assert_eq!(turns("stress/main"), Some(1));
        assert_eq!(turns("main"), None);
        assert_eq!(turns("stress/nothing"), None);
        assert_eq!(turns("nothing/main"), None);
    }
}
