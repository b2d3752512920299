//! Presentation: everything a user of the chat gets to read, as pure functions from what the agent sent to text.
//! `wording` holds every sentence of our own, `transcript` renders a turn's updates, `question` a permission request,
//! `diff` a file change; `sanitize` and `style` are what they print through. Must not write, wait or decide.

pub(crate) mod changes;
pub(crate) mod diff;
pub(crate) mod question;
pub(crate) mod sanitize;
pub(crate) mod style;
pub(crate) mod tools;
pub(crate) mod transcript;
pub(crate) mod wording;
