//! The one machine that decides about a tool call.
//!
//! Place in the flow: a host takes an [`Authorizer`] per session and begins with every call. The guard over the real CLI
//! answers the callback before every tool by it, `policy explain` tells what it finds, and the rehearsal takes it for its
//! sole [`Authority`]. [`Authorizer::refuses_to_ask`] and [`Authorizer::answered`] stand before and after the
//! client's question. Reading order: `authority`, `authorizer` (the stages), `hooks`, `decision`, `denials`; `wording` holds the words. Over
//! Claude it must never turn a question of Claude's off, except where the policy says so.

mod authority;
mod authorizer;
mod decision;
mod denials;
pub mod hooks;
mod wording;

pub use authority::{Authority, Sole};
pub use authorizer::{Authorizer, Evaluation, Step};
pub use decision::{DecidedBy, Decision, Outcome, Reason, Stage};
pub use denials::{DENIAL_THRESHOLD, DenialTracking};

#[cfg(test)]
mod tests;
