//! The guard over the real CLI: what is answered to its hook callback before every tool, and before an allow leaves.
//!
//! Place in the flow: the host registers a callback for every tool (failing closed) and takes a [`Guard`] per session;
//! [`Guard::examine`] answers the callback, [`Guard::refuses_to_ask`] and [`Guard::refuses`] stand before and after the
//! client's question. In `plan` it guards everybody; an operator's [`Policy`] adds rules, hooks and limits that nobody
//! below can widen. Reading order: `policy`, `policy_file` with `rule_text`, `names` and `examples`, `protected`, `confine`, `examine`, `answer`. Must never turn a question of Claude's off,
//! except where the policy says so, or the session bypasses permissions.

mod answer;
mod confine;
mod examine;
mod examples;
mod names;
mod policy;
mod policy_file;
mod protected;
mod rule_text;
mod words;

pub use answer::{GuardAnswer, Opinion};
pub use examine::{Examination, Guard, GuardCall, GuardStep};
pub use examples::{Becomes, Example};
pub use policy::Policy;
pub use policy_file::PolicyMistake;

#[cfg(test)]
mod tests;
