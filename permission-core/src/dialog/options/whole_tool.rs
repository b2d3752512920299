//! Every other tool: a rule for the whole tool.
//!
//! Place in the flow: called by `offered` for WebSearch, Agent, Task, ReviewArtifact, Workflow, Monitor and tools we
//! do not know. Must not use Claude's suggestion, nor the tool's display name.

use super::common::{Offer, once_and};
use super::{OptionId, PermissionOption};
use crate::dialog::label::Part;
use crate::updates::PermissionRule;

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = PermissionRule::whole_tool(offer.ask.call.tool);
    once_and(offer.generated(OptionId::AllowWithUpdates, rule, &|rule| {
        Part::tool(&rule.tool_name)
    }))
}
