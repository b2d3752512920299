//! Text from outside, made safe to show: nothing in it can hide, or turn the line around.
//!
//! Place in the flow: whoever quotes a file, a rule or a command in a sentence of ours.

/// The text with everything escaped that would not show.
pub(crate) fn visible(text: &str) -> String {
    text.escape_debug().collect()
}
