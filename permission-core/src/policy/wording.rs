//! Every sentence about a policy file that an operator reads.
//!
//! Place in the flow: `file` puts them into mistakes.

use super::PolicyMistake;
use crate::modes::PermissionMode;
use crate::safe_text::visible;

pub(super) const NOT_AN_OBJECT: &str = "must be a JSON object";
pub(super) const NOT_A_LIST: &str = "must be a list";
pub(super) const NOT_TEXT: &str = "must be a string that is not blank";
pub(super) const NOT_A_SWITCH: &str = "must be `true` or `false`";
pub(super) const NOT_DISABLE: &str = "must be the string `disable`, or be left out";
pub(super) const NOT_A_COUNT: &str = "must be a whole number; 0 means never";
pub(super) const NOT_ABSOLUTE: &str = "must begin with `/` or `~/`";
pub(super) const NOT_A_TIME: &str = "must be a number of seconds, from 0.05 to 86400";
pub(super) const NO_HOOKS: &str =
    "names no hook, so nothing would run; leave the matcher out, or give it a command";
pub(super) const NOT_A_CALL: &str =
    "must have a `command`, which is a string, or a `tool` with its `input`, which is an object";
pub(super) const NOT_AN_OUTCOME: &str = "must have `becomes`, which is `allow`, `ask` or `deny`";
pub(super) const NO_TOOL_FITS: &str = "matches the name of no tool";
pub(super) const NO_SERVER: &str =
    "names neither a server nor a tool of one; write `mcp__server` or `mcp__server__tool`";
pub(super) const SERVER_MATCHER: &str =
    "matches the name of no tool: a matcher that is a name is the whole name; write `mcp__server__.*`";
pub(super) const QUOTED: &str =
    "stands in quotes, which are compared like any other character; leave them out";
pub(super) const REGULAR_EXPRESSION: &str = "is read as a pattern in which `*` stands for any text, not as a \
                                             regular expression; write it without `^`, `$` and `.*`";
pub(super) const NO_COMMAND: &str =
    "names no command; write `Bash` for all of them, or the command before `:*`";
pub(super) const COLON_STAR: &str = "has `:*` before its end, where it is no wildcard; write ` *` instead";
pub(super) const ADDRESS: &str = "has an address where a path is needed; write `//x` for `/x`, or `~/x`";
pub(super) const VARIABLE: &str =
    "has a variable, which nobody replaces; write `~/x` for the home directory, or the path itself";
pub(super) const SEVERAL: &str = "seems to be about several things; write a rule for each";
pub(super) const LEADING_DOT: &str =
    "matches no host: none begins with a dot; write `*.example.com` for those below";
pub(super) const COMMA: &str = "names of tools are joined by `|`, without blanks";
pub(super) const REPEATED: &str = "stands here more than once";

/// A key that means nothing.
pub(super) fn unknown_key(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("is not a key of a policy; allowed here: {}", names.join(", "))
}

/// More rules than can be handed over.
pub(super) fn too_long(bytes: usize) -> String {
    format!(
        "the deny and ask rules together are longer than the {bytes} bytes that Claude's command line takes; use fewer, wider rules"
    )
}

/// A name that is nearly that of a tool.
pub(super) fn no_such_tool(name: &str, meant: &str) -> String {
    let name = visible(name);
    format!("there is no tool `{name}`; did you mean `{meant}`?")
}

/// A character that keeps a name, or a matcher, from matching.
pub(super) fn not_in_a_name(odd: char) -> String {
    format!("matches the name of no tool: none has a `{}`", odd.escape_debug())
}

/// What looks like a parameter and is none.
pub(super) fn no_parameter(name: &str) -> String {
    format!(
        "is not about the field `{name}`: commands, paths, hosts and names stand in a rule by themselves, and any other \
         field as `field:value`"
    )
}

/// A parameter in an allow rule.
pub(super) fn parameter_allows(name: &str) -> String {
    format!("allows nothing: a rule about the field `{name}` may only deny or ask")
}

/// A command whose name has a colon.
pub(super) fn colon_in_command(command: &str, parameters: &[&str]) -> String {
    let command = visible(command);
    let parameters: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "is about a command with the name `{command}`; write the command as it is typed, with `:*` only at the end, or, to \
         deny or to ask, `field:value` with one of {}",
        parameters.join(", ")
    )
}

/// More than a command and its arguments.
pub(super) fn several_commands(separator: &str) -> String {
    format!(
        "has a `{}`, and is compared with one command and its arguments at a time; write a rule for each command, and \
         `Edit(path)` for a file that is written",
        separator.trim()
    )
}

const WITHOUT_WRAPPERS: &str = "allows nothing: a rule is compared with each command by itself, without variables and \
                                `timeout`, `nice` and the like before it; write the command alone";

/// An allow rule that does not even allow what it spells out.
pub(super) fn allows_nothing(doubt: Option<&str>) -> String {
    match doubt {
        Some(doubt) => {
            format!("allows nothing, because no such command is taken apart with certainty: {doubt}")
        }
        None => WITHOUT_WRAPPERS.to_owned(),
    }
}

/// A mode that is none.
pub(super) fn bad_mode() -> String {
    let modes = PermissionMode::ALL.map(|mode| format!("`{mode}`"));
    format!("must be one of {}", modes.join(", "))
}

/// A rule that does not count as written.
pub(super) fn bad_rule(problem: &str) -> String {
    format!("{problem}; a policy's rules must count as they are written")
}

/// Text that is no JSON.
pub(super) fn bad_json(error: &serde_json::Error) -> String {
    let error = error.to_string();
    let reason = error.split(" at line ").next().unwrap_or_default();
    format!("the file is not valid JSON: {reason}")
}

/// A mistake in one line.
pub(super) fn mistake(mistake: &PolicyMistake) -> String {
    let file = visible(&mistake.file.display().to_string());
    let key = mistake.key.as_deref().map(|key| format!("`{}` ", visible(key)));
    format!(
        "`{file}`, line {}: {}{}",
        mistake.line,
        key.unwrap_or_default(),
        mistake.message
    )
}
