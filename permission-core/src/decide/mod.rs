//! The one machine that decides about a tool call.
//!
//! Place in the flow: the host registers a callback for every tool (failing closed) and takes a [`Guard`] per session;
//! [`Guard::examine`] answers the callback, [`Guard::refuses_to_ask`] and [`Guard::refuses`] stand before and after the
//! client's question. In `plan` it guards everybody; an operator's [`Policy`](crate::policy::Policy) adds rules, hooks and
//! limits that nobody below can widen. Must never turn a question of Claude's off, except where the policy says so, or the
//! session bypasses permissions.

mod authorizer;
mod decision;
mod denials;
pub mod hooks;
mod sentences;

pub use authorizer::{Examination, Guard, GuardCall, GuardStep};
pub use decision::{GuardAnswer, Opinion};
pub use denials::{DENIAL_THRESHOLD, DenialTracking};

#[cfg(test)]
mod tests;
