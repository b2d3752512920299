//! What comes out of a tool: the result block the model sees and the structured result a host shows.
//!
//! Place in the flow: `engine::tool` writes these. The script's own result wins; what it leaves out is made up from
//! the input in the shape the CLI gives it for the common tools. What came out of a real tool stands as it is.

use claude_sdk_bridge::messages::{Content, ContentBlock, Field, FromWire, ToolResultBlock, ToolUseId};
use serde_json::{Map, Value, json};

use super::call::Call;
use super::core::Core;
use super::ground::ToolOutput;
use super::toolbox;
use crate::frames::text;
use crate::script::ToolResult;

/// A result in both forms.
#[derive(Debug)]
pub(crate) struct Outcome {
    content: Content,
    is_error: Field<bool>,
    pub(super) structured: Value,
}

impl Outcome {
    /// A call that failed or was refused.
    pub(super) fn error(text: &str) -> Self {
        Self {
            content: text.into(),
            is_error: true.into(),
            structured: format!("Error: {text}").into(),
        }
    }

    /// A call that an interrupt ended.
    pub(super) fn rejected(text: &str) -> Self {
        Self {
            content: text.into(),
            is_error: true.into(),
            structured: text::REJECTED_SUMMARY.into(),
        }
    }

    /// What came out of a real tool.
    pub(super) fn ran(tool: &str, output: &ToolOutput) -> Self {
        let is_error = match (tool, output.is_error) {
            (_, true) => true.into(),
            ("Bash", false) => false.into(),
            (_, false) => Field::Absent,
        };
        Self {
            content: output.text.as_str().into(),
            is_error,
            structured: output.structured.clone(),
        }
    }

    /// Whether the tool failed.
    pub(super) fn is_failure(&self) -> bool {
        self.is_error.is_true()
    }

    /// What the model reads.
    pub(super) fn text(&self) -> String {
        self.content.text()
    }

    /// Adds something for the model to read.
    pub(super) fn add(&mut self, text: &str) {
        match &mut self.content {
            Content::Blocks(blocks) => blocks.push(ContentBlock::text(text)),
            other => *other = format!("{}\n\n{text}", other.text()).as_str().into(),
        }
    }

    pub(super) fn block(&self, id: ToolUseId) -> ToolResultBlock {
        ToolResultBlock {
            tool_use_id: id,
            content: self.content.clone().into(),
            is_error: self.is_error.clone(),
            extra: Map::new(),
        }
    }
}

/// The outcome of a call that ran, and whose tool has said nothing itself.
pub(super) fn of_call(call: &Call, input: &Map<String, Value>, core: &Core) -> Outcome {
    if call.step.real {
        return Outcome::ran(&call.step.name, &toolbox::own_output(call, input, core));
    }
    of(&call.step.name, &call.step.result, input, core)
}

fn of(tool: &str, result: &ToolResult, input: &Map<String, Value>, core: &Core) -> Outcome {
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
    let field = |key: &str| input.get(key).cloned().unwrap_or_default();
    let path = input.get("file_path").and_then(Value::as_str).unwrap_or_default();
    let (default_text, structured) = match tool {
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
        "EnterPlanMode" => (
            text::PLAN_ENTERED.to_owned(),
            json!({ "message": text::PLAN_ENTERED }),
        ),
        "ExitPlanMode" => (text::PLAN_APPROVED.to_owned(), toolbox::plan(core)),
        "AskUserQuestion" => (
            String::new(),
            json!({ "questions": field("questions"), "answers": field("answers") }),
        ),
        _ => (String::new(), Value::from(said)),
    };
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

fn lines(text: &str) -> usize {
    text.lines().count()
}
