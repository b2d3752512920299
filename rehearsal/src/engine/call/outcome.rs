//! What comes out of a tool: the result block the model sees and the structured result a host shows.
//!
//! Place in the flow: `call::steps` writes these. The script's own result wins; what it leaves out is made up from
//! the input in the shape the CLI gives it for the common tools.

use claude_sdk_bridge::messages::{Content, ContentBlock, Field, FromWire, ToolResultBlock, ToolUseId};
use serde_json::{Map, Value, json};

use super::Call;
use crate::engine::core::Core;
use crate::frames::text;

/// A result in both forms.
#[derive(Debug)]
pub(crate) struct Outcome {
    content: Content,
    is_error: Field<bool>,
    pub(crate) structured: Value,
}

impl Outcome {
    /// A call that failed or was refused.
    pub(crate) fn error(text: &str) -> Self {
        Self {
            content: text.into(),
            is_error: true.into(),
            structured: format!("Error: {text}").into(),
        }
    }

    /// A call that an interrupt ended.
    pub(crate) fn rejected(text: &str) -> Self {
        Self {
            content: text.into(),
            is_error: true.into(),
            structured: text::REJECTED_SUMMARY.into(),
        }
    }

    /// Whether the tool failed.
    pub(crate) fn is_failure(&self) -> bool {
        self.is_error.is_true()
    }

    /// What the model reads.
    pub(crate) fn text(&self) -> String {
        self.content.text()
    }

    /// Adds something for the model to read.
    pub(crate) fn add(&mut self, text: &str) {
        match &mut self.content {
            Content::Blocks(blocks) => blocks.push(ContentBlock::text(text)),
            other => *other = format!("{}\n\n{text}", other.text()).as_str().into(),
        }
    }

    pub(crate) fn block(&self, id: ToolUseId) -> ToolResultBlock {
        ToolResultBlock {
            tool_use_id: id,
            content: self.content.clone().into(),
            is_error: self.is_error.clone(),
            extra: Map::new(),
        }
    }
}

/// The outcome of a call that ran.
pub(crate) fn of_call(call: &Call, input: &Map<String, Value>, core: &Core) -> Outcome {
    let (tool, result) = (call.step.name.as_str(), &call.step.result);
    let mut outcome = if result.is_error {
        Outcome::error(&result.text)
    } else {
        success(tool, &result.text, input, core)
    };
    if let Some(blocks) = &result.content {
        let blocks = blocks.iter().cloned();
        let read = blocks.map(|block| ContentBlock::from_wire(block).unwrap_or_else(ContentBlock::Unknown));
        outcome.content = Content::Blocks(read.collect());
    }
    if let Some(structured) = &result.structured {
        outcome.structured = structured.clone();
    }
    outcome
}

fn success(tool: &str, said: &str, input: &Map<String, Value>, core: &Core) -> Outcome {
    let (default_text, structured) = made_up(tool, said, input, core);
    let content = if said.is_empty() {
        default_text.as_str().into()
    } else {
        said.into()
    };
    let is_error = if tool == "Bash" {
        false.into()
    } else {
        Field::Absent
    };
    Outcome {
        content,
        is_error,
        structured,
    }
}

/// What the CLI says of itself about the common tools: to the model, where the script says nothing, and to a host.
fn made_up(tool: &str, said: &str, input: &Map<String, Value>, core: &Core) -> (String, Value) {
    let field = |key: &str| input.get(key).cloned().unwrap_or_default();
    let path = input.get("file_path").and_then(Value::as_str).unwrap_or_default();
    match tool {
        "Bash" => (
            text::NO_OUTPUT.to_owned(),
            json!({
                "stdout": said, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": said.is_empty(),
            }),
        ),
        "Edit" => (
            format!("The file {path} has been updated successfully."),
            json!({
                "filePath": path, "oldString": field("old_string"), "newString": field("new_string"),
                "originalFile": null, "structuredPatch": [], "userModified": false,
                "replaceAll": field("replace_all").as_bool().unwrap_or_default(),
            }),
        ),
        "Write" => (
            format!("File created successfully at: {path}"),
            json!({
                "type": "create", "filePath": path, "content": field("content"), "structuredPatch": [],
                "originalFile": null, "userModified": false,
            }),
        ),
        "Read" => (
            String::new(),
            json!({
                "type": "text",
                "file": { "filePath": path, "content": said, "numLines": lines(said), "startLine": 1, "totalLines": lines(said) },
            }),
        ),
        "TodoWrite" => (
            text::TODOS_WRITTEN.to_owned(),
            json!({ "oldTodos": [], "newTodos": field("todos") }),
        ),
        "EnterPlanMode" => (
            text::PLAN_ENTERED.to_owned(),
            json!({ "message": text::PLAN_ENTERED }),
        ),
        "ExitPlanMode" => (text::PLAN_APPROVED.to_owned(), plan(core)),
        "AskUserQuestion" => (
            text::questions_answered(&answers(&field("answers"))),
            json!({ "questions": field("questions"), "answers": field("answers") }),
        ),
        _ => (String::new(), Value::from(said)),
    }
}

/// What leaving plan mode tells of the plan.
fn plan(core: &Core) -> Value {
    let plan = core.plan();
    json!({
        "plan": plan.map(|plan| &plan.content), "isAgent": false, "filePath": plan.map(|plan| &plan.path),
    })
}

/// The answers of a form, as the model reads them.
fn answers(answers: &Value) -> String {
    let answers = answers.as_object().into_iter().flatten();
    let said = answers.map(|(question, answer)| match answer.as_str() {
        Some(answer) => format!("\"{question}\"=\"{answer}\""),
        None => format!("\"{question}\"={answer}"),
    });
    said.collect::<Vec<_>>().join(", ")
}

fn lines(text: &str) -> usize {
    text.lines().count()
}
