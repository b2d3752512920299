//! Who decides: a machine of its own, or one over Claude.
//!
//! Place in the flow: whoever makes an `Authorizer` says so; the stages ask it what it goes by.

use std::sync::Arc;

use super::DENIAL_THRESHOLD;
use super::decision::DecidedBy;
use crate::modes::PermissionMode;
use crate::policy::Policy;
use crate::rules::RuleSet;

/// Who decides.
#[derive(Clone, Debug)]
pub enum Authority {
    /// It answers alone, as Claude does.
    Sole(Sole),
    /// It adds denials and questions to Claude's: in plan mode, and what an operator's policy says.
    OverClaude(Option<Arc<Policy>>),
}

/// What a sole authority goes by.
#[derive(Clone, Debug)]
pub struct Sole {
    /// The rules of all sources.
    pub rules: RuleSet,
    /// Nobody is there to answer: what would be asked is denied.
    pub headless: bool,
    /// So many denials in a row make the next call a question; 0 for never.
    pub denial_threshold: u32,
}

impl Default for Authority {
    fn default() -> Self {
        Self::OverClaude(None)
    }
}

impl Authority {
    pub(super) fn policy(&self) -> Option<&Arc<Policy>> {
        match self {
            Self::Sole(_) => None,
            Self::OverClaude(policy) => policy.as_ref(),
        }
    }

    pub(super) fn rules(&self) -> &RuleSet {
        static NONE: RuleSet = RuleSet::new();
        match self {
            Self::Sole(sole) => &sole.rules,
            Self::OverClaude(policy) => policy.as_ref().map_or(&NONE, |policy| &policy.rules),
        }
    }

    pub(super) fn denial_threshold(&self) -> u32 {
        match self {
            Self::Sole(sole) => sole.denial_threshold,
            Self::OverClaude(Some(policy)) => policy.denial_threshold,
            Self::OverClaude(None) => DENIAL_THRESHOLD,
        }
    }

    /// Whether what is asked is denied.
    pub(super) fn asks_nobody(&self, mode: PermissionMode) -> bool {
        match self {
            Self::Sole(sole) => sole.headless || mode == PermissionMode::DontAsk,
            Self::OverClaude(policy) => policy.as_ref().is_some_and(|policy| policy.headless),
        }
    }

    pub(super) fn name(&self) -> DecidedBy {
        match self {
            Self::Sole(_) => DecidedBy::Claude,
            Self::OverClaude(Some(_)) => DecidedBy::Policy,
            Self::OverClaude(None) => DecidedBy::Guard,
        }
    }
}
