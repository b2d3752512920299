//! The options of a request: one builder a tool family, one order for all.
//!
//! Place in the flow: `prepare` calls [`offered`]; the family's builder returns options that already hold their
//! effects. Must not offer a durable option whose label does not name its whole effect, nor one after which the call would
//! be asked about again.

mod bundle;
mod common;
mod files;
mod mcp;
mod plan;
mod sandbox;
mod shell;
mod skill;
mod web_fetch;
mod whole_tool;

use serde::Serialize;

use self::common::Offer;
use crate::dialog::ask::AskContext;
use crate::dialog::effect::Effect;
use crate::dialog::family::ToolFamily;
use crate::dialog::prepare::PrepareError;

/// The id of an option; the same for every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionId {
    /// Allow this call without changing permission state.
    AllowOnce,
    /// Allow and apply the displayed durable effect.
    AllowWithUpdates,
    /// Allow and apply the displayed part of it that is enough for this call.
    AllowWithFewerUpdates,
    /// Allow the exact Skill invocation in local settings.
    AllowSkillExact,
    /// Allow the parameterized Skill prefix in local settings.
    AllowSkillPrefix,
    /// Exit plan mode and set the session's mode to `auto`.
    ExitPlanAuto,
    /// Exit plan mode and set the session's mode to `bypassPermissions`.
    ExitPlanBypass,
    /// Exit plan mode and set the session's mode to `acceptEdits`.
    ExitPlanAcceptEdits,
    /// Exit plan mode and set the session's mode to `default`.
    ExitPlanDefault,
    /// Clear the context, continue the plan, and use `auto`.
    ExitPlanClearAuto,
    /// Clear the context, continue the plan, and bypass permissions.
    ExitPlanClearBypass,
    /// Clear the context, continue the plan, and accept edits.
    ExitPlanClearAcceptEdits,
    /// Deny the call, optionally returning feedback to Claude.
    Reject,
}

/// The standard kind of an option. A hint for icons; it says nothing about the effect. The order is that of the
/// groups in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// Allows this call.
    AllowOnce,
    /// Allows this and later calls.
    AllowAlways,
    /// Refuses this call.
    RejectOnce,
}

/// An option together with its effect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PermissionOption {
    /// The id to send and to look up.
    pub id: OptionId,
    /// What the user reads.
    pub name: String,
    /// The standard kind.
    pub kind: OptionKind,
    /// What selecting it does.
    pub effect: Effect,
}

impl OptionId {
    /// The id on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowWithUpdates => "allow-with-updates",
            Self::AllowWithFewerUpdates => "allow-with-fewer-updates",
            Self::AllowSkillExact => "allow-skill-exact",
            Self::AllowSkillPrefix => "allow-skill-prefix",
            Self::ExitPlanAuto => "exit-plan-auto",
            Self::ExitPlanBypass => "exit-plan-bypass",
            Self::ExitPlanAcceptEdits => "exit-plan-accept-edits",
            Self::ExitPlanDefault => "exit-plan-default",
            Self::ExitPlanClearAuto => "exit-plan-clear-auto",
            Self::ExitPlanClearBypass => "exit-plan-clear-bypass",
            Self::ExitPlanClearAcceptEdits => "exit-plan-clear-accept-edits",
            Self::Reject => "reject",
        }
    }
}

/// The options of a request, grouped by kind; inside a group the builder's order stays.
pub(crate) fn offered(
    ask: &AskContext<'_>,
    family: ToolFamily,
) -> Result<Vec<PermissionOption>, PrepareError> {
    let offer = Offer::of(ask);
    let mut options = match family {
        ToolFamily::Shell => shell::options(&offer),
        ToolFamily::ReadFiles => files::read_options(&offer),
        ToolFamily::EditFiles => files::edit_options(&offer),
        ToolFamily::WebFetch => web_fetch::options(&offer),
        ToolFamily::Skill => skill::options(&offer),
        ToolFamily::EnterPlanMode => plan::enter_options(),
        ToolFamily::ExitPlanMode => plan::exit_options(&offer),
        ToolFamily::SandboxNetwork => sandbox::options(&offer),
        ToolFamily::ComputerUse | ToolFamily::Mcp => mcp::options(&offer),
        ToolFamily::Question => return Err(PrepareError::MustBeElicited),
        ToolFamily::WholeTool => whole_tool::options(&offer),
    };
    options.sort_by_key(|option| {
        (
            ask.default_to_no && option.kind != OptionKind::RejectOnce,
            option.kind,
        )
    });
    Ok(options)
}
