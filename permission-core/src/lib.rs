//! Everything that decides about permissions, as plain functions over plain data.
//!
//! Place in the flow: `can_use_tool` arrives, the host fills an [`AskContext`], [`prepare`] yields a
//! [`PreparedRequest`] (what to show and which options to offer), the client answers, and
//! [`PreparedRequest::settle`] looks the answer up among the options of that very request. [`settings`] reads what the
//! user's files say about modes and rules.
//! Must not touch processes, clocks, files, sockets or the ACP transport; what it needs from outside
//! comes as arguments or through [`PathResolver`].

mod ask;
mod family;
mod request;
mod tools;

mod answer;
mod effect;
mod label;
mod options;
mod present;
mod result;

mod modes;
mod paths;
mod question;
mod updates;

pub mod decide;
pub mod explain;
pub mod policy;
pub mod rules;
pub mod settings;

mod safe_text;
mod shell;
mod wildcard;

pub use policy as guard;

pub use answer::{Answer, SettleError};
pub use ask::{AskContext, PlanFacts};
pub use effect::{Effect, FollowUp, Settlement};
pub use modes::{ModeSetting, PermissionMode, UnknownMode};
pub use options::{OptionId, OptionKind, PermissionOption};
pub use paths::{LexicalPaths, PathResolver, normalized};
pub use present::Presentation;
pub use question::{FormReply, QuestionError, QuestionForm};
pub use request::{PrepareError, PreparedRequest, prepare};
pub use result::{DecisionClassification, PermissionResult};
pub use tools::{ASK_USER_QUESTION, edits_files, is_for_a_person, main_parameter, misspelled};
pub use updates::{
    Grants, InvalidUpdate, PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate,
    Snapshot,
};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
