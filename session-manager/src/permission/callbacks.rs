//! The callbacks that a session's guard has Claude make.
//!
//! Place in the flow: registered with every process that is started; what is called back goes to `guard`.

use claude_sdk_bridge::messages::control::HookMatcher;
use claude_sdk_bridge::messages::{Lenient, List, Table};

/// The event of the callback before a tool.
pub(super) const BEFORE_TOOL: &str = "PreToolUse";
/// The callback before a tool, or before a shell line of a command or a skill.
pub(super) const BEFORE: &str = "before_tool";
/// The callback after a tool that succeeded.
pub(super) const AFTER: &str = "after_tool";
/// The callback after a tool that failed.
pub(super) const AFTER_FAILURE: &str = "after_failed_tool";

/// How long Claude waits for a reply. A client that reads slowly holds Claude up, and must not make its tools fail.
const CALLBACK_TIMEOUT_SECONDS: u32 = 24 * 60 * 60;

/// The callbacks that Claude is to make.
pub(crate) fn callbacks() -> Table<List<HookMatcher>> {
    let before = HookMatcher {
        on_failure: "block".to_owned().into(),
        ..matcher(BEFORE)
    };
    let all = [
        (BEFORE_TOOL, before.clone()),
        // The shell lines of commands and skills: decided like calls of the shell's tool.
        ("PreSkillShellCommand", before),
        ("PostToolUse", matcher(AFTER)),
        ("PostToolUseFailure", matcher(AFTER_FAILURE)),
    ];
    all.into_iter()
        .map(|(event, matcher)| (event.to_owned(), Lenient::Known(List::from_iter([matcher]))))
        .collect()
}

fn matcher(callback: &str) -> HookMatcher {
    HookMatcher {
        hook_callback_ids: List::from_iter([callback.to_owned()]).into(),
        timeout: serde_json::Number::from(CALLBACK_TIMEOUT_SECONDS).into(),
        ..HookMatcher::default()
    }
}
