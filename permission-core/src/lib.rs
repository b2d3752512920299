//! Everything that decides about permissions, as plain functions over plain data.
//!
//! Place in the flow: `can_use_tool` arrives, the host fills an [`AskContext`], [`prepare()`] yields a
//! [`PreparedRequest`] (what to show and which options to offer), the client answers, and
//! [`PreparedRequest::settle`] looks the answer up among the options of that very request. [`settings`] reads what the
//! user's files say about modes and rules.
//! Must not touch processes, clocks, files, sockets or the ACP transport; what it needs from outside
//! comes as arguments or through [`PathResolver`].

mod dialog;

pub mod decide;
pub mod explain;
pub mod policy;
pub mod rules;
pub mod settings;

mod call;
mod modes;
mod paths;
mod safe_text;
mod shell;
mod tools;
mod updates;
mod wildcard;

pub use call::{ToolCall, Workspace};
pub use dialog::{
    Answer, AskContext, DecisionClassification, Effect, FollowUp, FormReply, OptionId, OptionKind,
    PermissionOption, PermissionResult, PlanFacts, PrepareError, PreparedRequest, Presentation,
    QuestionError, QuestionForm, SettleError, Settlement, prepare,
};
pub use modes::{ModeSetting, PermissionMode, UnknownMode};
pub use paths::{LexicalPaths, PathResolver, normalized};
pub use tools::{ASK_USER_QUESTION, edits_files, is_for_a_person, main_parameter, misspelled};
pub use updates::{
    Grants, InvalidUpdate, PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate,
    Snapshot,
};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
