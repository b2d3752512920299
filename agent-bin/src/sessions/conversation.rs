//! A stored conversation as a reader wants it: what was said and done, each piece once, in order and with its time.
//!
//! Place in the flow: the updates of a replay come in, as an editor would get them; `markdown` and `html` read what was
//! put together. Must not know Claude's transcripts.

use std::collections::HashMap;

use acp_proto::schema::{
    CompactionStatus, CompactionUpdate, ContentBlock, ContentChunk, MessageId, Plan, SessionUpdate, ToolCall,
    ToolCallId, ToolCallUpdate,
};
use jiff::Timestamp;
use session_manager::history::Told;

use super::wording;

/// What was said and done.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) items: Vec<Item>,
    calls: HashMap<ToolCallId, usize>,
    /// The message that the last item belongs to.
    message: Option<MessageId>,
    /// What a reader can look back on: each moment at which something ended.
    pub(crate) moments: Vec<Moment>,
}

/// A piece of a conversation.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) part: Part,
    /// A subagent's.
    pub(crate) nested: bool,
}

#[derive(Debug)]
pub(crate) enum Part {
    Prompt(String),
    Answer(String),
    Thought(String),
    Call(Box<ToolCall>),
    /// The steps, each with its mark.
    Plan(Vec<String>),
    /// What became of the conversation itself.
    Note(String),
}

/// The end of a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) ended: Span,
    /// The item that it is about.
    pub(crate) item: usize,
}

/// What time went by with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Span {
    /// Nobody did anything: the user's next prompt ends it.
    Idle,
    /// The model wrote.
    Model,
    /// A tool ran.
    Tool,
    /// A question waited for its answer, and then the tool ran.
    Asked,
}

impl Conversation {
    /// Puts a conversation together.
    pub(crate) fn of(told: impl IntoIterator<Item = Told>) -> Self {
        let mut conversation = Self::default();
        for told in told {
            conversation.add(told);
        }
        conversation
    }

    fn add(&mut self, told: Told) {
        let Told { at, asked, update } = told;
        let main_thread = match &update {
            SessionUpdate::UserMessageChunk(chunk)
            | SessionUpdate::AgentMessageChunk(chunk)
            | SessionUpdate::AgentThoughtChunk(chunk) => !chat::is_nested(chunk.meta.as_ref()),
            SessionUpdate::ToolCall(call) => !chat::is_nested(call.meta.as_ref()),
            SessionUpdate::ToolCallUpdate(update) => !chat::is_nested(update.meta.as_ref()),
            _ => false,
        };
        let Some((item, span)) = self.place(update, asked) else {
            return;
        };
        // A subagent works while its call runs, whose time this is.
        if let (Some(at), true) = (at, main_thread) {
            self.moments.push(Moment {
                at,
                ended: span,
                item,
            });
        }
    }

    /// The item that the update belongs to, and what was going on until then.
    fn place(&mut self, update: SessionUpdate, asked: bool) -> Option<(usize, Span)> {
        let ran = if asked { Span::Asked } else { Span::Tool };
        match update {
            SessionUpdate::UserMessageChunk(chunk) => Some((self.chunk(&chunk, Part::Prompt), Span::Idle)),
            SessionUpdate::AgentMessageChunk(chunk) => Some((self.chunk(&chunk, Part::Answer), Span::Model)),
            SessionUpdate::AgentThoughtChunk(chunk) => Some((self.chunk(&chunk, Part::Thought), Span::Model)),
            SessionUpdate::ToolCall(call) => Some(self.call(call, ran)),
            SessionUpdate::ToolCallUpdate(update) => self.call_update(update).map(|item| (item, ran)),
            SessionUpdate::Plan(plan) => {
                self.plan(&plan);
                None
            }
            SessionUpdate::CompactionUpdate(update) => {
                self.compaction(&update);
                None
            }
            // Modes, options, commands and usage are a session's, not a conversation's.
            _ => None,
        }
    }

    fn chunk(&mut self, chunk: &ContentChunk, part: fn(String) -> Part) -> usize {
        let text = block_text(&chunk.content);
        let goes_on = chunk.message_id.is_some() && self.message == chunk.message_id;
        self.message = chunk.message_id.clone();
        let last = self.items.len().saturating_sub(1);
        if let Some(item) = self.items.last_mut().filter(|_| goes_on) {
            let wanted = std::mem::discriminant(&part(String::new()));
            if let Part::Prompt(said) | Part::Answer(said) | Part::Thought(said) = &mut item.part {
                let mut whole = std::mem::take(said);
                let same = std::mem::discriminant(&item.part) == wanted;
                if same {
                    whole.push_str(&text);
                }
                if let Part::Prompt(said) | Part::Answer(said) | Part::Thought(said) = &mut item.part {
                    *said = whole;
                }
                if same {
                    return last;
                }
            }
        }
        self.push(part(text), chat::is_nested(chunk.meta.as_ref()))
    }

    /// An announced call ends what the model wrote; one that comes with its result ends what it did.
    fn call(&mut self, call: ToolCall, ran: Span) -> (usize, Span) {
        if let Some(index) = self.calls.get(&call.tool_call_id) {
            let index = *index;
            let update = ToolCallUpdate::from(call);
            self.apply(index, update);
            return (index, ran);
        }
        let (id, nested) = (call.tool_call_id.clone(), chat::is_nested(call.meta.as_ref()));
        let index = self.push(Part::Call(Box::new(call)), nested);
        self.calls.insert(id, index);
        (index, Span::Model)
    }

    fn call_update(&mut self, update: ToolCallUpdate) -> Option<usize> {
        let index = *self.calls.get(&update.tool_call_id)?;
        self.apply(index, update);
        Some(index)
    }

    fn apply(&mut self, index: usize, update: ToolCallUpdate) {
        if let Some(Item {
            part: Part::Call(call),
            ..
        }) = self.items.get_mut(index)
        {
            call.update(update.fields);
        }
    }

    /// Plans are repeated with each step; the last state stands where the plan began.
    fn plan(&mut self, plan: &Plan) {
        let steps: Vec<String> = plan
            .entries
            .iter()
            .map(|entry| chat::plan_entry(&entry.status, &entry.content))
            .collect();
        let since_prompt = self.items.iter_mut().rev();
        let mut since_prompt = since_prompt.take_while(|item| !matches!(item.part, Part::Prompt(_)));
        match since_prompt.find(|item| matches!(item.part, Part::Plan(_))) {
            Some(item) => item.part = Part::Plan(steps),
            None if steps.is_empty() => {}
            None => {
                self.push(Part::Plan(steps), false);
            }
        }
    }

    fn compaction(&mut self, update: &CompactionUpdate) {
        let note = match update.status {
            CompactionStatus::Completed => wording::COMPACTED,
            CompactionStatus::Failed => wording::COMPACTION_FAILED,
            _ => return,
        };
        self.push(Part::Note(note.to_owned()), false);
    }

    fn push(&mut self, part: Part, nested: bool) -> usize {
        self.items.push(Item { part, nested });
        self.items.len() - 1
    }
}

/// What can be read of a content block; the rest is named.
pub(crate) fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Image(image) => format!("[image: {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio: {}]", audio.mime_type),
        ContentBlock::Resource(_) => "[embedded resource]".to_owned(),
        _ => "[content]".to_owned(),
    }
}
