//! What Claude asks, with the facts about the session that the answer depends on.
//!
//! Place in the flow: the host fills it from a `can_use_tool` request; everything below `prepare` reads it. Must
//! not own or fetch anything: it borrows for the length of one call.

use serde_json::Value;

use crate::call::ToolCall;
use crate::modes::PermissionMode;
use crate::rules::{RuleKind, RuleSet};
use crate::tools::{BASH, MONITOR};

/// One permission question. Start from [`AskContext::new`] and set what the request carries.
#[derive(Clone, Copy)]
pub struct AskContext<'a> {
    /// The call, with where and in which mode it comes.
    pub call: &'a ToolCall<'a>,
    /// The tool's name for people; an MCP server chooses it, so it never stands in a label.
    pub display_name: Option<&'a str>,
    /// The id of the tool use, echoed in the result.
    pub tool_use_id: &'a str,
    /// `permission_suggestions` as it came.
    pub suggestions: Option<&'a Value>,
    /// The path that made Claude ask.
    pub blocked_path: Option<&'a str>,
    /// Why Claude asks, in words.
    pub decision_reason: Option<&'a str>,
    /// Why Claude asks, as a kind.
    pub decision_reason_type: Option<&'a str>,
    /// Where the rule that made Claude ask stands.
    pub decision_reason_rule_source: Option<&'a str>,
    /// Whether `matched_ask_rule` is present.
    pub matched_ask_rule: bool,
    /// The rules of the settings and of the session. Observed with Claude 2.1.318: of an ask rule about one skill, or about
    /// one of several commands, the question says nothing.
    pub rules: &'a RuleSet,
    /// Claude says that no allow rule may be offered.
    pub suppress_always_allow_rule: bool,
    /// The refusal is to be preselected.
    pub default_to_no: bool,
    /// The tool call's title as the renderer made it.
    pub tool_title: &'a str,
    /// What only ExitPlanMode needs.
    pub plan: PlanFacts<'a>,
}

/// The facts behind the options of ExitPlanMode.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanFacts<'a> {
    /// The modes that the running process can be switched to.
    pub offered_modes: &'a [PermissionMode],
    /// The modes that a fresh process can be started in.
    pub fresh_modes: &'a [PermissionMode],
    /// The plan's text where `input.plan` has none.
    pub text: Option<&'a str>,
    /// Whether the host can go on with the plan in a cleared context.
    pub clear_context: bool,
    /// How full the context is, in percent, if known.
    pub context_used_percent: Option<u8>,
}

impl<'a> AskContext<'a> {
    /// A question with nothing but its tool call.
    pub fn new(call: &'a ToolCall<'a>, tool_use_id: &'a str) -> Self {
        Self {
            call,
            display_name: None,
            tool_use_id,
            suggestions: None,
            blocked_path: None,
            decision_reason: None,
            decision_reason_type: None,
            decision_reason_rule_source: None,
            matched_ask_rule: false,
            rules: &NO_RULES,
            suppress_always_allow_rule: false,
            default_to_no: false,
            tool_title: call.tool,
            plan: PlanFacts::default(),
        }
    }

    /// Whether a rule or a hook made Claude ask. Then it will ask again whatever rule is added, so no durable
    /// option is offered.
    pub fn asked_by_rule(&self) -> bool {
        self.matched_ask_rule
            || self.suppress_always_allow_rule
            || self.decision_reason_rule_source.is_some()
            || matches!(self.decision_reason_type, Some("rule" | "hook"))
            || self.meets_ask_rule()
    }

    /// Whether an ask rule may be about the call, or about a part of it.
    fn meets_ask_rule(&self) -> bool {
        let hit = self.rules.asks(self.call);
        hit.is_some_and(|hit| hit.rule.kind() == RuleKind::Ask)
    }

    /// Whether Claude asks because the call is dangerous whatever else is allowed.
    pub(crate) fn is_safety_check(&self) -> bool {
        self.decision_reason_type == Some("safetyCheck")
    }

    /// The tool whose rules are about the commands of this one.
    pub(crate) fn shell(&self) -> &'a str {
        if self.call.tool == MONITOR {
            BASH
        } else {
            self.call.tool
        }
    }
}

static NO_RULES: RuleSet = RuleSet::new();
