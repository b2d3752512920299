//! AskUserQuestion: the questions at the call, the answers at the end.

use acp_proto::schema::ToolKind;
use serde_json::Value;

use super::blocks::text_content;
use super::{Rendered, ToolCallRef, ToolResultRef, ToolView, generic, input, wording};

pub(super) fn view(call: &ToolCallRef<'_>) -> ToolView {
    let questions: Vec<_> = input::items(call.input, "questions")
        .iter()
        .filter_map(|entry| input::text(entry, "question"))
        .collect();
    let title = match questions.as_slice() {
        [only] => only,
        _ => wording::ASKING,
    };
    ToolView::new(title, ToolKind::Other)
        .content(questions.iter().map(|question| text_content(*question)).collect())
}

pub(super) fn success(result: &ToolResultRef<'_>) -> Rendered {
    let Some(answers) = result
        .structured
        .and_then(|structured| structured.get("answers")?.as_object())
    else {
        return generic::success(result);
    };
    let notes = result
        .structured
        .and_then(|structured| structured.get("annotations"));
    let content = answers.iter().map(|(question, answer)| {
        let note = notes.and_then(|notes| input::text(notes.get(question)?, "notes"));
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        text_content(format!("**{question}** {}{note}", answer_text(answer)))
    });
    let mut content: Vec<_> = content.collect();
    if content.is_empty() {
        content.push(text_content(wording::NO_ANSWER));
    }
    Rendered {
        content: Some(content),
        ..Rendered::default()
    }
}

fn answer_text(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(answer_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
