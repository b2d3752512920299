//! The `matcher` of a hook: which tools it is for.
//!
//! Place in the flow: `Hooks` reads it, the machine asks it. There are two readings. In a policy what cannot be read matches
//! every tool: a guard that was meant to run must run. In Claude's own settings it matches what Claude lets it match.

use regex::Regex;

use crate::tools::{self, BASH, MONITOR, Tool};

/// Which tools a hook is for.
#[derive(Clone, Debug)]
pub struct HookMatcher {
    kind: Kind,
    /// The names of a policy are about more than the tool of that name.
    wide: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    All,
    /// Names, compared exactly.
    Names(Vec<String>),
    /// A search anywhere in the name.
    Pattern(Regex),
}

impl HookMatcher {
    /// Reads the matcher of a policy. The flag says whether it could be read; if not, it matches everything.
    pub fn read(text: Option<&str>) -> (Self, bool) {
        let wide = |kind| Self { kind, wide: true };
        let text = text.unwrap_or_default().trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '|';
        if text.is_empty() || text == "*" {
            return (wide(Kind::All), true);
        }
        if text.chars().all(plain) {
            let names = text.split('|').map(canonical).map(str::to_owned).collect();
            return (wide(Kind::Names(names)), true);
        }
        match Regex::new(text) {
            Ok(pattern) => (wide(Kind::Pattern(pattern)), true),
            Err(_) => (wide(Kind::All), false),
        }
    }

    /// Reads the matcher of a settings file, or of a host of Claude's. The flag says whether it could be read; if not, it
    /// matches nothing.
    pub fn of_claude(text: Option<&str>) -> (Self, bool) {
        let narrow = |kind| Self { kind, wide: false };
        let text = text.unwrap_or_default();
        let listed = |c: char| c.is_ascii_alphanumeric() || "_|, ".contains(c);
        if matches!(text.trim(), "" | "*") {
            return (narrow(Kind::All), true);
        }
        if text.chars().all(listed) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return (narrow(Kind::Names(names.collect())), true);
        }
        match Regex::new(text) {
            Ok(pattern) => (narrow(Kind::Pattern(pattern)), true),
            Err(_) => (narrow(Kind::Names(Vec::new())), false),
        }
    }

    /// Whether hooks are for this tool. What a policy has for Bash is for Monitor too, which runs commands as well.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        self.matches(tool) || self.wide && tool == MONITOR && self.matches(BASH)
    }

    /// Whether the hook is for the tool.
    pub fn matches(&self, tool: &str) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::Names(names) => names.iter().any(|name| name == tool),
            Kind::Pattern(pattern) => {
                let older = Tool::of(tool).older_name().filter(|_| self.wide);
                pattern.is_match(tool) || older.is_some_and(|older| pattern.is_match(older))
            }
        }
    }
}

fn canonical(name: &str) -> &str {
    tools::by_older_name(name).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_lists_names_with_blanks_and_commas_and_knows_no_older_ones() {
        let rows = [
            (None, true),
            (Some("*"), true),
            (Some("Bash"), true),
            (Some(" Edit | Bash "), true),
            (Some("Edit, Bash"), true),
            (Some("B.s"), true),
            (Some(" B.s"), false),
            (Some("Edit Bash"), false),
            (Some("bash"), false),
            (Some("BashTool"), false),
            (Some("Bash.?ool"), false),
            (Some("Bash(echo *)"), false),
            (Some("["), false),
        ];
        for (matcher, expected) in rows {
            assert_eq!(
                HookMatcher::of_claude(matcher).0.matches("Bash"),
                expected,
                "{matcher:?}"
            );
        }
        assert!(!HookMatcher::of_claude(Some("[")).1);
        assert!(!HookMatcher::of_claude(Some("FileEdit.*")).0.matches("Edit"));
        assert!(!HookMatcher::of_claude(Some("Bash")).0.is_about("Monitor"));
        assert!(HookMatcher::read(Some("Bash")).0.is_about("Monitor"));
    }

    #[test]
    fn a_matcher_is_a_list_of_names_or_a_search() {
        let rows = [
            (None, "Bash", true),
            (Some(""), "Bash", true),
            (Some("*"), "Bash", true),
            (Some("Bash"), "Bash", true),
            (Some("Bash"), "BashOutput", false),
            (Some("bash"), "Bash", false),
            (Some("Edit|Write"), "Write", true),
            (Some("Edit|Write"), "MultiEdit", false),
            (Some("FileEditTool"), "Edit", true),
            (Some("FileEditTool"), "Write", false),
            (Some("Notebook.*"), "NotebookEdit", true),
            (Some(".*Edit"), "MultiEdit", true),
            (Some("mcp__.*__write.*"), "mcp__s__write_file", true),
            (Some("^Edit$"), "MultiEdit", false),
            (Some("File.*Tool"), "Edit", true),
            (Some("(?!Bash)x"), "Anything", true),
            (Some("["), "Anything", true),
        ];
        for (matcher, tool, expected) in rows {
            assert_eq!(
                HookMatcher::read(matcher).0.matches(tool),
                expected,
                "{matcher:?} {tool}"
            );
        }
        assert!(!HookMatcher::read(Some("[")).1);
        assert!(HookMatcher::read(Some("a.c")).1);
    }
}
