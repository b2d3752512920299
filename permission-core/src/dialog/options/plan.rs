//! EnterPlanMode and ExitPlanMode: choices of a mode, not of rules.
//!
//! Place in the flow: called by `offered`. Claude's suggestions are ignored, and a rule that made Claude ask changes
//! nothing here. Must not offer a mode that the session does not advertise.

use super::common::{Offer, allow_once, reject};
use super::{OptionId, OptionKind, PermissionOption};
use crate::dialog::effect::Effect;
use crate::dialog::present::wording;
use crate::dialog::result::DecisionClassification;
use crate::modes::PermissionMode;
use crate::safe_text;
use crate::updates::{PermissionDestination, PermissionUpdate, Snapshot};

/// The mode that is offered besides approving each edit.
#[derive(Clone, Copy)]
enum Elevated {
    Auto,
    Bypass,
    AcceptEdits,
}

/// Enter plan mode once, or go on without it.
pub(super) fn enter_options() -> Vec<PermissionOption> {
    vec![
        allow_once(wording::ENTER_PLAN_MODE),
        reject(wording::START_IMPLEMENTING),
    ]
}

/// One elevated mode with the context kept, one with a cleared context if there is a plan and the host can do that, manual
/// approval, or more planning. A fresh process may have a mode that the running one cannot have.
pub(super) fn exit_options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let facts = &offer.ask.plan;
    let plan = plan_text(offer).filter(|_| facts.clear_context);
    let fresh = Elevated::best_of(facts.fresh_modes);
    let clear = plan.map(|plan| clear_option(fresh, plan, facts.context_used_percent));
    let kept = Elevated::best_of(facts.offered_modes);
    let keep = keep_option(kept.keep_id(), kept.mode());
    let manual = keep_option(OptionId::ExitPlanDefault, PermissionMode::Default);
    let reject = PermissionOption {
        effect: Effect::KeepPlanning,
        ..reject(wording::KEEP_PLANNING)
    };
    clear
        .into_iter()
        .chain(keep)
        .chain(manual)
        .chain([reject])
        .collect()
}

impl Elevated {
    fn best_of(offered: &[PermissionMode]) -> Self {
        if offered.contains(&PermissionMode::Auto) {
            Self::Auto
        } else if offered.contains(&PermissionMode::BypassPermissions) {
            Self::Bypass
        } else {
            Self::AcceptEdits
        }
    }

    fn mode(self) -> PermissionMode {
        match self {
            Self::Auto => PermissionMode::Auto,
            Self::Bypass => PermissionMode::BypassPermissions,
            Self::AcceptEdits => PermissionMode::AcceptEdits,
        }
    }

    fn keep_id(self) -> OptionId {
        match self {
            Self::Auto => OptionId::ExitPlanAuto,
            Self::Bypass => OptionId::ExitPlanBypass,
            Self::AcceptEdits => OptionId::ExitPlanAcceptEdits,
        }
    }

    fn clear_id(self) -> OptionId {
        match self {
            Self::Auto => OptionId::ExitPlanClearAuto,
            Self::Bypass => OptionId::ExitPlanClearBypass,
            Self::AcceptEdits => OptionId::ExitPlanClearAcceptEdits,
        }
    }
}

/// The plan of the input, else the one that the host found.
fn plan_text<'a>(offer: &Offer<'a>) -> Option<&'a str> {
    [offer.ask.call.text("plan"), offer.ask.plan.text]
        .into_iter()
        .flatten()
        .map(safe_text::trim)
        .find(|plan| !plan.is_empty())
}

/// Approving each edit is no grant, so it counts as allowed for this call.
fn keep_option(id: OptionId, mode: PermissionMode) -> Option<PermissionOption> {
    let (kind, classification) = if mode == PermissionMode::Default {
        (OptionKind::AllowOnce, DecisionClassification::UserTemporary)
    } else {
        (OptionKind::AllowAlways, DecisionClassification::UserPermanent)
    };
    let updates = Snapshot::generated(PermissionUpdate::SetMode {
        mode,
        destination: PermissionDestination::Session,
    })?;
    let effect = Effect::AllowWithUpdates {
        updates,
        classification,
    };
    Some(PermissionOption {
        id,
        name: wording::exit_plan(mode),
        kind,
        effect,
    })
}

fn clear_option(elevated: Elevated, plan: &str, context_used_percent: Option<u8>) -> PermissionOption {
    PermissionOption {
        id: elevated.clear_id(),
        name: wording::clear_context(elevated.mode(), context_used_percent),
        kind: OptionKind::AllowAlways,
        effect: Effect::ClearContext {
            mode: elevated.mode(),
            plan: plan.to_owned(),
        },
    }
}
