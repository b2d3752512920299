//! What Claude asks, with the facts about the session that the answer depends on.
//!
//! Place in the flow: the host fills it from a `can_use_tool` request; everything below `prepare` reads it. Must
//! not own or fetch anything: it borrows for the length of one call.

use serde_json::Value;

use crate::{family::SKILL, modes::PermissionMode, paths::PathResolver, present::clean};

/// One permission question. Start from [`AskContext::new`] and set what the request carries.
#[derive(Clone, Copy)]
pub struct AskContext<'a> {
    /// The tool's id.
    pub tool_name: &'a str,
    /// The tool's name for people; an MCP server chooses it, so it never stands in a label.
    pub display_name: Option<&'a str>,
    /// The tool's input, an object.
    pub input: &'a Value,
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
    /// The ask rules of the settings, as written. Observed with Claude 2.1.318: of a rule about one skill, like
    /// `Skill(greet)`, the question says nothing.
    pub ask_rules: &'a [&'a str],
    /// Claude says that no allow rule may be offered.
    pub suppress_always_allow_rule: bool,
    /// The refusal is to be preselected.
    pub default_to_no: bool,
    /// The session's working directory, absolute.
    pub cwd: &'a str,
    /// The user's home directory, absolute.
    pub home: Option<&'a str>,
    /// The project's root, absolute; rules like `/src/**` start here.
    pub project_root: &'a str,
    /// The tool call's title as the renderer made it.
    pub tool_title: &'a str,
    /// What only ExitPlanMode needs.
    pub plan: PlanFacts<'a>,
    /// Resolves symbolic links.
    pub paths: &'a dyn PathResolver,
}

/// The facts behind the options of ExitPlanMode.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanFacts<'a> {
    /// The modes that the session advertises.
    pub offered_modes: &'a [PermissionMode],
    /// The plan's text where `input.plan` has none.
    pub text: Option<&'a str>,
    /// Whether the host can go on with the plan in a cleared context.
    pub clear_context: bool,
    /// How full the context is, in percent, if known.
    pub context_used_percent: Option<u8>,
}

impl<'a> AskContext<'a> {
    /// A question with nothing but its tool call; the project's root is `cwd`.
    pub fn new(
        tool_name: &'a str,
        input: &'a Value,
        tool_use_id: &'a str,
        cwd: &'a str,
        paths: &'a dyn PathResolver,
    ) -> Self {
        Self {
            tool_name,
            display_name: None,
            input,
            tool_use_id,
            suggestions: None,
            blocked_path: None,
            decision_reason: None,
            decision_reason_type: None,
            decision_reason_rule_source: None,
            matched_ask_rule: false,
            ask_rules: &[],
            suppress_always_allow_rule: false,
            default_to_no: false,
            cwd,
            home: None,
            project_root: cwd,
            tool_title: tool_name,
            plan: PlanFacts::default(),
            paths,
        }
    }

    /// Whether a rule or a hook made Claude ask. Then it will ask again whatever rule is added, so no durable
    /// option is offered.
    pub fn asked_by_rule(&self) -> bool {
        self.matched_ask_rule
            || self.suppress_always_allow_rule
            || self.decision_reason_rule_source.is_some()
            || matches!(self.decision_reason_type, Some("rule" | "hook"))
            || self.is_about_skill_of_rule()
    }

    /// Whether an ask rule names the skill at hand, with whatever arguments.
    fn is_about_skill_of_rule(&self) -> bool {
        let skill = |text: &'a str| clean::trim(text).split(' ').next();
        self.tool_name == SKILL
            && self.text_input("skill").and_then(skill).is_some_and(|asked| {
                let mut named = self.ask_rules.iter().filter_map(|rule| skill_in(rule));
                named.any(|content| skill(content.trim_end_matches(":*")) == Some(asked))
            })
    }

    /// A text of the input.
    pub(crate) fn text_input(&self, name: &str) -> Option<&'a str> {
        self.input.get(name).and_then(Value::as_str)
    }
}

/// The content of a rule about one skill.
fn skill_in(rule: &str) -> Option<&str> {
    let content = clean::trim(rule).strip_prefix(SKILL)?;
    content.strip_prefix('(')?.strip_suffix(')')
}
