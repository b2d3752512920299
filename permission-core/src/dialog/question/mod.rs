//! AskUserQuestion: Claude's questions as a form, and the filled form as Claude's answers.
//!
//! Place in the flow: instead of `prepare`; the host sends [`QuestionForm::schema`] by ACP elicitation and settles
//! what comes back. Must not deny or allow anything by itself: it only carries what the user wrote.

use serde_json::{Map, Value, json};

use crate::dialog::answer::SettleError;
use crate::dialog::present::wording;
use crate::dialog::result::PermissionResult;
use crate::safe_text;

/// The form for one AskUserQuestion call.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionForm {
    input: Map<String, Value>,
    questions: Vec<Question>,
}

/// What the client did with the form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormReply {
    /// The content, whatever its shape.
    Accepted(Value),
    /// The user does not want to answer.
    Declined,
    /// The user or the client gave up.
    Cancelled,
    /// An action that we do not know.
    Unknown,
}

/// Why there is no form. The text is for Claude, in a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// No question with a text and options.
    #[error("AskUserQuestion called with no valid questions.")]
    NoValidQuestions,
}

#[derive(Clone, Debug, PartialEq)]
struct Question {
    text: String,
    header: String,
    choices: Vec<Value>,
    several: bool,
}

/// What the user put into the fields of one question.
struct Filled {
    chosen: Vec<String>,
    custom: Option<String>,
}

impl QuestionForm {
    /// Reads the input of the call; unusable questions are left out.
    pub fn build(input: &Value) -> Result<Self, QuestionError> {
        let listed = input
            .get("questions")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let questions: Vec<Question> = listed.iter().filter_map(Question::read).collect();
        match input.as_object() {
            Some(input) if !questions.is_empty() => Ok(Self {
                input: input.clone(),
                questions,
            }),
            Some(_) | None => Err(QuestionError::NoValidQuestions),
        }
    }

    /// What stands above the form.
    pub fn message(&self) -> &str {
        match self.questions.as_slice() {
            [only] => &only.text,
            _ => wording::SEVERAL_QUESTIONS,
        }
    }

    /// The form as a JSON schema: for each question its choices and a free text, none of them required.
    pub fn schema(&self) -> Value {
        let several_questions = self.questions.len() > 1;
        let mut properties = Map::new();
        for (index, question) in self.questions.iter().enumerate() {
            properties.insert(field(index), question.choice_field(several_questions));
            properties.insert(custom_field(index), question.free_text_field(index));
        }
        json!({ "type": "object", "properties": properties })
    }

    /// The result for Claude.
    pub fn settle(&self, reply: &FormReply) -> Result<PermissionResult, SettleError> {
        match reply {
            FormReply::Accepted(content) => Ok(self.answered(content)),
            FormReply::Declined => Ok(self.answered(&Value::Null)),
            FormReply::Cancelled | FormReply::Unknown => Err(SettleError::Aborted),
        }
    }

    /// The result where the client could not show the form.
    pub fn not_presented() -> PermissionResult {
        PermissionResult::deny(wording::QUESTION_NOT_PRESENTED)
    }

    /// Claude's input with the answers; a free text beside a single choice becomes that answer's note, which Claude
    /// shows to the model.
    fn answered(&self, content: &Value) -> PermissionResult {
        let mut answers = Map::new();
        let mut annotations = Map::new();
        for (index, question) in self.questions.iter().enumerate() {
            let Filled { mut chosen, custom } = question.filled(index, content);
            match custom {
                Some(note) if !question.several && !chosen.is_empty() => {
                    annotations.insert(question.text.clone(), json!({ "notes": note }));
                }
                custom => chosen.extend(custom),
            }
            if !chosen.is_empty() {
                answers.insert(question.text.clone(), Value::from(chosen.join(", ")));
            }
        }
        let mut input = self.input.clone();
        input.insert("answers".to_owned(), Value::Object(answers));
        if !annotations.is_empty() {
            input.insert("annotations".to_owned(), Value::Object(annotations));
        }
        PermissionResult::Allow {
            updated_input: Some(Value::Object(input)),
            updated_permissions: None,
            tool_use_id: None,
            decision_classification: None,
        }
    }
}

impl FormReply {
    /// Reads the result of `elicitation/create`. Never fails: what is no known action is [`FormReply::Unknown`].
    pub fn from_response(response: &Value) -> Self {
        match response.get("action").and_then(Value::as_str) {
            Some("accept") => Self::Accepted(response.get("content").cloned().unwrap_or_default()),
            Some("decline") => Self::Declined,
            Some("cancel") => Self::Cancelled,
            Some(_) | None => Self::Unknown,
        }
    }
}

impl Question {
    fn read(value: &Value) -> Option<Self> {
        let text = value.get("question")?.as_str()?;
        let mut choices: Vec<Value> = Vec::new();
        for choice in value.get("options")?.as_array()?.iter().filter_map(choice) {
            if !choices
                .iter()
                .any(|known| known.get("const") == choice.get("const"))
            {
                choices.push(choice);
            }
        }
        (!choices.is_empty()).then(|| Self {
            text: text.to_owned(),
            header: value
                .get("header")
                .and_then(Value::as_str)
                .unwrap_or(text)
                .to_owned(),
            choices,
            several: value.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn choice_field(&self, with_description: bool) -> Value {
        let mut field = Map::new();
        field.insert(
            "type".to_owned(),
            Value::from(if self.several { "array" } else { "string" }),
        );
        field.insert("title".to_owned(), Value::from(&*self.header));
        if with_description {
            field.insert("description".to_owned(), Value::from(&*self.text));
        }
        if self.several {
            field.insert("items".to_owned(), json!({ "anyOf": self.choices }));
        } else {
            field.insert("oneOf".to_owned(), json!(self.choices));
        }
        Value::Object(field)
    }

    fn free_text_field(&self, index: usize) -> Value {
        json!({
            "type": "string",
            "title": wording::FREE_TEXT,
            "description": if self.several { wording::FREE_TEXT_ADDS } else { wording::FREE_TEXT_NOTES },
            "_meta": { "_askUserQuestionCustomAnswer": { "questionId": field(index), "isCustomAnswer": true } },
        })
    }

    fn filled(&self, index: usize, content: &Value) -> Filled {
        let chosen = match content.get(field(index)) {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => several
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Some(_) | None => Vec::new(),
        };
        let custom = content
            .get(custom_field(index))
            .and_then(Value::as_str)
            .map(safe_text::trim);
        Filled {
            chosen: chosen.into_iter().filter(|choice| !choice.is_empty()).collect(),
            custom: custom.filter(|text| !text.is_empty()).map(str::to_owned),
        }
    }
}

fn choice(option: &Value) -> Option<Value> {
    let label = option.get("label")?.as_str().filter(|label| !label.is_empty())?;
    let mut choice = Map::new();
    choice.insert("const".to_owned(), Value::from(label));
    choice.insert("title".to_owned(), Value::from(label));
    if let Some(description) = option.get("description").and_then(Value::as_str) {
        choice.insert("description".to_owned(), Value::from(description));
    }
    if let Some(preview) = option.get("preview").and_then(Value::as_str) {
        choice.insert(
            "_meta".to_owned(),
            json!({ "_claude/askUserQuestionOption": { "preview": preview } }),
        );
    }
    Some(Value::Object(choice))
}

fn field(index: usize) -> String {
    format!("question_{index}")
}

fn custom_field(index: usize) -> String {
    format!("question_{index}_custom")
}

#[cfg(test)]
mod tests;
