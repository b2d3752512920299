//! What has been streamed of Claude's messages, so that the whole blocks that follow are not shown again. A block
//! is matched by API message, kind and order (whole blocks carry no index); its text is kept until another message
//! begins. Decides what is left to show; builds no updates.

use std::collections::VecDeque;

/// Messages whose blocks may still arrive whole: the current one, and some before it in case of disorder.
const KEPT_MESSAGES: usize = 4;

/// What a streamed block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Thinking,
}

/// The streamed blocks of the last messages of the main thread.
#[derive(Debug, Default)]
pub(super) struct Streams {
    messages: VecDeque<Message>,
    current: Option<String>,
    /// More may come of the last of the messages.
    is_open: bool,
}

#[derive(Debug)]
struct Message {
    /// `None` when neither the deltas nor a start of message named it.
    id: Option<String>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    index: u64,
    kind: BlockKind,
    shown: String,
    whole_arrived: bool,
}

impl Streams {
    /// A message begins.
    pub(super) fn start(&mut self, id: Option<&str>) {
        self.current = id.map(str::to_owned);
        self.end();
    }

    /// Nothing more comes of the last message.
    pub(super) fn end(&mut self) {
        self.is_open = false;
        for message in &mut self.messages {
            message.blocks.retain(|block| !block.whole_arrived);
        }
    }

    /// What has been shown of the last message, which Claude may not have written down, with its id.
    pub(super) fn open(&self) -> impl Iterator<Item = (BlockKind, &str, Option<&str>)> {
        let message = self.messages.back().filter(|_| self.is_open);
        message.into_iter().flat_map(|message| {
            let blocks = message.blocks.iter();
            blocks.map(|block| (block.kind, block.shown.as_str(), message.id.as_deref()))
        })
    }

    /// The message that is being streamed.
    pub(super) fn current(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// A piece of a block was shown.
    pub(super) fn add(&mut self, id: Option<&str>, index: u64, kind: BlockKind, text: &str) {
        let known = self
            .messages
            .back()
            .is_some_and(|message| message.is(id.or(self.current.as_deref())));
        if !known {
            self.begin(id);
        }
        self.is_open = true;
        if let Some(message) = self.messages.back_mut() {
            message.block(index, kind).shown.push_str(text);
        }
    }

    /// The part of a whole block that has not been shown. Marks the block as done.
    pub(super) fn remainder<'a>(&mut self, id: Option<&str>, kind: BlockKind, whole: &'a str) -> &'a str {
        let mut waiting = self
            .messages
            .iter_mut()
            .filter(|message| message.may_be(id))
            .flat_map(|message| message.blocks.iter_mut())
            .filter(|block| block.kind == kind && !block.whole_arrived);
        match waiting.find_map(|block| block.rest_of(whole).map(|rest| (block, rest))) {
            Some((block, rest)) => {
                block.whole_arrived = true;
                block.shown = whole.to_owned();
                rest
            }
            None => whole,
        }
    }

    fn begin(&mut self, id: Option<&str>) {
        let id = id.map(str::to_owned).or_else(|| self.current.clone());
        // An interleaved message goes on where it stopped.
        let at = self.messages.iter().position(|message| message.is(id.as_deref()));
        let message = at.and_then(|at| self.messages.remove(at)).unwrap_or(Message {
            id,
            blocks: Vec::new(),
        });
        self.messages.push_back(message);
        if self.messages.len() > KEPT_MESSAGES {
            self.messages.pop_front();
        }
    }
}

impl Message {
    fn is(&self, id: Option<&str>) -> bool {
        self.id.as_deref() == id
    }

    /// Whether a whole block of message `id` may have been streamed here.
    fn may_be(&self, id: Option<&str>) -> bool {
        self.is(id) || self.id.is_none() || id.is_none()
    }

    fn block(&mut self, index: u64, kind: BlockKind) -> &mut Block {
        let same = |block: &Block| block.index == index && block.kind == kind && !block.whole_arrived;
        let at = self.blocks.iter().rposition(same).unwrap_or_else(|| {
            self.blocks.push(Block {
                index,
                kind,
                shown: String::new(),
                whole_arrived: false,
            });
            self.blocks.len() - 1
        });
        // `at` was just found or pushed.
        #[expect(clippy::indexing_slicing, reason = "the position was just found or pushed")]
        &mut self.blocks[at]
    }
}

impl Block {
    /// What follows the streamed part, when `whole` is this block. A text shorter than what was streamed is what an
    /// interrupt left of it, or differs in white space at the end: everything of it has been shown.
    fn rest_of<'a>(&self, whole: &'a str) -> Option<&'a str> {
        if whole.len() < self.shown.len() {
            return Some("");
        }
        whole.strip_prefix(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::BlockKind::{Text, Thinking};
    use super::*;

    #[test]
    fn a_streamed_block_leaves_only_what_was_not_streamed() {
        let mut streams = Streams::default();
        streams.add(Some("m"), 0, Text, "Let me ");
        streams.add(Some("m"), 0, Text, "rün ");
        assert_eq!(streams.remainder(Some("m"), Text, "Let me rün it."), "it.");
        assert_eq!(
            streams.remainder(Some("m"), Text, "Let me rün it."),
            "Let me rün it.",
            "a genuine repeat"
        );
    }

    #[test]
    fn blocks_are_told_apart_by_kind_order_and_message() {
        let mut streams = Streams::default();
        streams.add(Some("m"), 0, Thinking, "same");
        streams.add(Some("m"), 1, Text, "same");
        streams.add(Some("m"), 2, Text, "same");
        streams.add(Some("n"), 0, Text, "other");
        assert_eq!(streams.remainder(Some("m"), Text, "same"), "");
        assert_eq!(streams.remainder(Some("m"), Thinking, "same"), "");
        assert_eq!(streams.remainder(Some("n"), Text, "other!"), "!");
        assert_eq!(streams.remainder(Some("m"), Text, "same"), "");
        assert_eq!(streams.remainder(Some("x"), Text, "same"), "same");
    }

    #[test]
    fn a_block_that_was_never_streamed_is_left_whole() {
        let mut streams = Streams::default();
        streams.add(Some("m"), 1, Text, "second");
        assert_eq!(
            streams.remainder(Some("m"), Text, "a longer first"),
            "a longer first"
        );
        assert_eq!(streams.remainder(Some("m"), Text, "second"), "");
    }

    #[test]
    fn deltas_without_a_message_id_belong_to_the_started_message_or_to_any() {
        let mut streams = Streams::default();
        streams.start(Some("m"));
        streams.add(None, 0, Text, "one");
        assert_eq!(streams.remainder(Some("other"), Text, "one"), "one");
        assert_eq!(streams.remainder(Some("m"), Text, "one"), "");
        streams.start(None);
        streams.add(None, 0, Text, "two");
        assert_eq!(streams.remainder(Some("any"), Text, "two"), "");
    }

    #[test]
    fn what_an_interrupt_left_of_a_block_is_not_shown_again() {
        let mut streams = Streams::default();
        streams.add(Some("m"), 0, Text, "word0 word1 ");
        assert_eq!(streams.remainder(Some("m"), Text, "word0 word1"), "");
    }

    #[test]
    fn what_is_open_is_what_has_been_shown_of_the_last_message() {
        let mut streams = Streams::default();
        streams.start(Some("m"));
        streams.add(Some("m"), 0, Thinking, "h");
        streams.remainder(Some("m"), Thinking, "hm");
        streams.add(Some("m"), 1, Text, "Let ");
        streams.add(Some("m"), 1, Text, "me");
        let open: Vec<_> = streams.open().collect();
        assert_eq!(open, [(Thinking, "hm", Some("m")), (Text, "Let me", Some("m"))]);
        streams.start(Some("n"));
        assert_eq!(streams.open().count(), 0, "of another message");
        streams.add(Some("n"), 0, Text, "or");
        streams.end();
        assert_eq!(streams.open().count(), 0, "of a message that ended");
        assert_eq!(streams.remainder(Some("n"), Text, "or not"), " not");
    }

    #[test]
    fn long_streams_and_many_messages_cost_no_memory() {
        let mut streams = Streams::default();
        for message in 0..1000 {
            for _ in 0..100 {
                streams.add(Some(&format!("m{message}")), 0, Text, "word ");
            }
        }
        assert_eq!(streams.messages.len(), KEPT_MESSAGES);
        assert!(streams.messages.iter().all(|message| message.blocks.len() == 1));
    }
}
