//! The real tools as the pipeline sees them: what each refuses before anybody is asked, and again before it runs.
//!
//! Place in the flow: the engine gives one to the pipeline for each call. A refusal says what is wrong, so that the model can
//! do better. Both stages look where a path leads, because a link may have been made in between.

use std::sync::Arc;

use permission_core::pipeline::Tool;
use serde_json::{Map, Value};

use super::files::{self, edited, located};
use super::search;
use super::shell::MAX_MS;
use crate::engine::Places;

const MAX_QUESTIONS: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Bash,
    Read,
    Write,
    Edit,
    Glob,
    Grep,
    Todos,
    EnterPlan,
    ExitPlan,
    Questions,
    Agent,
}

#[derive(Debug)]
struct RealTool {
    kind: Kind,
    places: Places,
}

/// What a field of an input must be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Flag,
    /// From 1.
    Number,
    List,
}

/// Fields of an input.
type Fields = &'static [(&'static str, Shape)];

/// The real tool of this name.
pub(super) fn tool(name: &str, places: &Places) -> Option<Arc<dyn Tool>> {
    let kind = match name {
        "Bash" => Kind::Bash,
        "Read" => Kind::Read,
        "Write" => Kind::Write,
        "Edit" => Kind::Edit,
        "Glob" => Kind::Glob,
        "Grep" => Kind::Grep,
        "TodoWrite" => Kind::Todos,
        "EnterPlanMode" => Kind::EnterPlan,
        "ExitPlanMode" => Kind::ExitPlan,
        "AskUserQuestion" => Kind::Questions,
        "Agent" | "Task" => Kind::Agent,
        _ => return None,
    };
    Some(Arc::new(RealTool {
        kind,
        places: places.clone(),
    }))
}

impl Tool for RealTool {
    fn validate_input(&self, input: &Value) -> Result<(), String> {
        let Some(input) = input.as_object() else {
            return Err("The input is not an object.".to_owned());
        };
        self.shape(input)?;
        self.place(input)?;
        self.sense(input)
    }

    fn check_permissions(&self, input: &Value) -> Result<(), String> {
        input.as_object().map_or(Ok(()), |input| self.place(input))
    }
}

impl RealTool {
    fn shape(&self, input: &Map<String, Value>) -> Result<(), String> {
        use Shape::{Flag, List, Number, Text};
        let (required, optional): (Fields, Fields) = match self.kind {
            Kind::Bash => (
                &[("command", Text)],
                &[
                    ("description", Text),
                    ("timeout", Number),
                    ("run_in_background", Flag),
                ],
            ),
            Kind::Read => (&[("file_path", Text)], &[("offset", Number), ("limit", Number)]),
            Kind::Write => (&[("file_path", Text), ("content", Text)], &[]),
            Kind::Edit => (
                &[("file_path", Text), ("old_string", Text), ("new_string", Text)],
                &[("replace_all", Flag)],
            ),
            Kind::Glob => (&[("pattern", Text)], &[("path", Text)]),
            Kind::Grep => (
                &[("pattern", Text)],
                &[
                    ("path", Text),
                    ("glob", Text),
                    ("output_mode", Text),
                    ("-i", Flag),
                    ("-n", Flag),
                    ("head_limit", Number),
                ],
            ),
            Kind::Todos => (&[("todos", List)], &[]),
            Kind::EnterPlan => (&[], &[]),
            Kind::ExitPlan => (&[], &[("plan", Text), ("planFilePath", Text)]),
            Kind::Questions => (&[("questions", List)], &[]),
            Kind::Agent => (
                &[("description", Text), ("prompt", Text)],
                &[("subagent_type", Text)],
            ),
        };
        for (key, shape) in required {
            let value = input
                .get(*key)
                .ok_or_else(|| format!("The field `{key}` is missing."))?;
            fits(key, value, *shape)?;
        }
        for (key, shape) in optional {
            input.get(*key).map_or(Ok(()), |value| fits(key, value, *shape))?;
        }
        Ok(())
    }

    /// Whether the files of a call are in the sandbox.
    fn place(&self, input: &Map<String, Value>) -> Result<(), String> {
        let path = |key: &str| {
            let path = input.get(key).and_then(Value::as_str);
            path.map_or(Ok(()), |path| located(&self.places, path).map(drop))
        };
        match self.kind {
            Kind::Read | Kind::Write | Kind::Edit => path("file_path"),
            Kind::Grep => path("path"),
            Kind::Glob => search::base(&self.places, input).map(drop),
            Kind::Bash | Kind::Todos | Kind::EnterPlan | Kind::ExitPlan | Kind::Questions | Kind::Agent => {
                Ok(())
            }
        }
    }

    /// Whether a call can come to anything.
    fn sense(&self, input: &Map<String, Value>) -> Result<(), String> {
        match self.kind {
            Kind::Bash => {
                let background = input.get("run_in_background") == Some(&Value::Bool(true));
                let time = input.get("timeout").and_then(Value::as_u64);
                if background {
                    Err("Nothing runs in the background of this rehearsal.".to_owned())
                } else if files::field(input, "command").trim().is_empty() {
                    Err("The command is empty.".to_owned())
                } else if time.is_some_and(|ms| ms > MAX_MS) {
                    Err(format!("The timeout is longer than {MAX_MS} ms."))
                } else {
                    Ok(())
                }
            }
            Kind::Edit => edited(&self.places, input).map(drop),
            Kind::Grep => {
                let mode = input.get("output_mode").and_then(Value::as_str);
                let known = ["content", "count", "files_with_matches"];
                if mode.is_some_and(|mode| !known.contains(&mode)) {
                    return Err(
                        "The output_mode is none of content, count and files_with_matches.".to_owned(),
                    );
                }
                search::pattern(input).map(drop)
            }
            Kind::Questions => {
                let questions = input.get("questions").and_then(Value::as_array);
                let count = questions.map_or(0, Vec::len);
                if (1..=MAX_QUESTIONS).contains(&count) {
                    Ok(())
                } else {
                    Err(format!("There must be 1 to {MAX_QUESTIONS} questions."))
                }
            }
            Kind::Read
            | Kind::Write
            | Kind::Glob
            | Kind::Todos
            | Kind::EnterPlan
            | Kind::ExitPlan
            | Kind::Agent => Ok(()),
        }
    }
}

fn fits(key: &str, value: &Value, shape: Shape) -> Result<(), String> {
    let (fits, wanted) = match shape {
        Shape::Text => (
            value.as_str().is_some_and(|text| !text.contains('\0')),
            "a text without NUL",
        ),
        Shape::Flag => (value.is_boolean(), "true or false"),
        Shape::Number => (value.as_u64().is_some_and(|number| number > 0), "a number from 1"),
        Shape::List => (value.is_array(), "a list"),
    };
    if fits {
        Ok(())
    } else {
        Err(format!("The field `{key}` must be {wanted}."))
    }
}
