//! What is asked about a tool call, and what an answer does.
//!
//! Place in the flow: a host fills an [`AskContext`], [`prepare()`] yields what to show and which options to offer, and
//! [`PreparedRequest::settle`] looks the answer up among them. Reading order: `ask`, `family`, `prepare`, `present` (what is
//! shown), `options` with `label` (what is offered, and how it reads), `answer`, `effect` and `result` (what an answer does);
//! `question` is the tool whose call is a question itself.

pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod effect;
pub(crate) mod family;
pub(crate) mod label;
pub(crate) mod options;
pub(crate) mod prepare;
pub(crate) mod present;
pub(crate) mod question;
pub(crate) mod result;

pub use answer::{Answer, SettleError};
pub use ask::{AskContext, PlanFacts};
pub use effect::{Effect, FollowUp, Settlement};
pub use options::{OptionId, OptionKind, PermissionOption};
pub use prepare::{PrepareError, PreparedRequest, prepare};
pub use present::Presentation;
pub use question::{FormReply, QuestionError, QuestionForm};
pub use result::{DecisionClassification, PermissionResult};
