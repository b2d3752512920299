//! Effects: what selecting an option does, fixed when the option is built.
//!
//! Place in the flow: every option holds one; `settle` turns the selected one into a [`Settlement`]. Must not read
//! anything from the client but the feedback to a refusal.

use serde_json::Value;

use crate::dialog::present::wording;
use crate::dialog::result::{DecisionClassification, PermissionResult};
use crate::modes::PermissionMode;
use crate::safe_text;
use crate::updates::{PermissionDestination, PermissionUpdate, Snapshot};

const MAX_FEEDBACK: usize = 4_000;

/// What an option does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Runs this call and changes nothing.
    AllowOnce,
    /// Runs this call and applies the updates that the label names.
    AllowWithUpdates {
        /// What changes.
        updates: Snapshot,
        /// Whether the user decided for good.
        classification: DecisionClassification,
    },
    /// Refuses this call.
    Reject,
    /// Refuses to leave plan mode.
    KeepPlanning,
    /// Refuses inside Claude, so that the plan can go on with an empty context.
    ClearContext {
        /// The mode of the new context.
        mode: PermissionMode,
        /// The complete plan, trimmed.
        plan: String,
    },
}

/// The result for Claude and what the host does next.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// Goes to Claude.
    pub result: PermissionResult,
    /// Concerns the session.
    pub follow_up: FollowUp,
}

/// What an answer means for the session, besides the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// Nothing.
    None,
    /// The session's mode changes: the client is to be told before the result leaves.
    ModeChanges(PermissionMode),
    /// The plan was rejected without a word: Claude's turn is interrupted and ends as `end_turn`.
    EndTurn,
    /// The plan goes on in a new query.
    ClearContext {
        /// The mode of the new query.
        mode: PermissionMode,
        /// The complete plan, trimmed.
        plan: String,
    },
}

impl Settlement {
    /// Whether the user agreed: the tool runs, or its plan goes on elsewhere.
    pub fn approves(&self) -> bool {
        self.result.is_allow() || matches!(self.follow_up, FollowUp::ClearContext { .. })
    }

    /// Replaces `auto` by `acceptEdits`, for a model that turned out not to have it. Tells whether there was
    /// anything to replace.
    pub fn degrade_auto(&mut self) -> bool {
        let degraded_updates = match &mut self.result {
            PermissionResult::Allow {
                updated_permissions: Some(updates),
                ..
            } => updates.iter_mut().filter_map(auto_mode).fold(false, |_, mode| {
                *mode = Value::from(PermissionMode::AcceptEdits.wire_id());
                true
            }),
            PermissionResult::Allow { .. } | PermissionResult::Deny { .. } => false,
        };
        let degraded_follow_up = match &mut self.follow_up {
            FollowUp::ModeChanges(mode) | FollowUp::ClearContext { mode, .. }
                if *mode == PermissionMode::Auto =>
            {
                *mode = PermissionMode::AcceptEdits;
                true
            }
            FollowUp::ModeChanges(_) | FollowUp::ClearContext { .. } | FollowUp::EndTurn | FollowUp::None => {
                false
            }
        };
        degraded_updates || degraded_follow_up
    }
}

/// The call that an effect is applied to.
pub(crate) struct Call<'a> {
    pub(crate) tool_use_id: &'a str,
    pub(crate) input: &'a Value,
}

impl Effect {
    /// Applies the effect to the call that was asked about.
    pub(crate) fn settle(&self, call: &Call<'_>, feedback: Option<&str>) -> Settlement {
        let feedback = feedback.and_then(|text| safe_text::multi_line(text, MAX_FEEDBACK));
        match self {
            Self::AllowOnce => Settlement {
                result: call.allow(None, DecisionClassification::UserTemporary),
                follow_up: FollowUp::None,
            },
            Self::AllowWithUpdates {
                updates,
                classification,
            } => Settlement {
                result: call.allow(Some(updates.original().to_vec()), *classification),
                follow_up: session_mode(updates).map_or(FollowUp::None, FollowUp::ModeChanges),
            },
            Self::Reject => Settlement {
                result: call.deny(wording::REFUSED, feedback.as_deref(), false),
                follow_up: FollowUp::None,
            },
            Self::KeepPlanning => Settlement {
                result: call.deny(wording::KEPT_PLANNING, feedback.as_deref(), feedback.is_none()),
                follow_up: if feedback.is_none() {
                    FollowUp::EndTurn
                } else {
                    FollowUp::None
                },
            },
            Self::ClearContext { mode, plan } => Settlement {
                result: call.deny(wording::CLEARS_CONTEXT, None, true),
                follow_up: FollowUp::ClearContext {
                    mode: *mode,
                    plan: plan.clone(),
                },
            },
        }
    }
}

impl Call<'_> {
    fn allow(&self, updates: Option<Vec<Value>>, classification: DecisionClassification) -> PermissionResult {
        PermissionResult::Allow {
            updated_input: Some(self.input.clone()),
            updated_permissions: updates,
            tool_use_id: Some(self.tool_use_id.to_owned()),
            decision_classification: Some(classification),
        }
    }

    fn deny(&self, message: &str, feedback: Option<&str>, interrupt: bool) -> PermissionResult {
        PermissionResult::Deny {
            message: feedback.map_or_else(
                || message.to_owned(),
                |said| wording::with_feedback(message, said),
            ),
            interrupt,
            tool_use_id: Some(self.tool_use_id.to_owned()),
            decision_classification: Some(DecisionClassification::UserReject),
        }
    }
}

/// The mode that the session has after the updates, if they set one.
fn session_mode(updates: &Snapshot) -> Option<PermissionMode> {
    updates.updates().iter().rev().find_map(|update| {
        if let PermissionUpdate::SetMode {
            mode,
            destination: PermissionDestination::Session,
        } = update
        {
            Some(*mode)
        } else {
            None
        }
    })
}

/// The mode of a `setMode` update, where it is `auto`.
fn auto_mode(update: &mut Value) -> Option<&mut Value> {
    let sets_mode = update.get("type").and_then(Value::as_str) == Some("setMode");
    let mode = update.get_mut("mode").filter(|_| sets_mode)?;
    (mode.as_str() == Some(PermissionMode::Auto.wire_id())).then_some(mode)
}
