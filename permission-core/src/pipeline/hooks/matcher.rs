//! The `matcher` of a hook: which tools it is for.
//!
//! Place in the flow: `config` reads it, the pipeline asks it. What cannot be read matches every tool: a guard that was
//! meant to run must run.

use regex::Regex;

/// Which tools a hook is for.
#[derive(Clone, Debug)]
pub struct HookMatcher(Kind);

#[derive(Clone, Debug)]
enum Kind {
    All,
    /// Names, compared exactly.
    Names(Vec<String>),
    /// A search anywhere in the name.
    Pattern(Regex),
}

/// Names that older documents use.
const ALIASES: [(&str, &str); 8] = [
    ("FileEditTool", "Edit"),
    ("FileWriteTool", "Write"),
    ("FileReadTool", "Read"),
    ("BashTool", "Bash"),
    ("GlobTool", "Glob"),
    ("GrepTool", "Grep"),
    ("NotebookEditTool", "NotebookEdit"),
    ("WebFetchTool", "WebFetch"),
];

impl HookMatcher {
    /// Reads a matcher. The flag says whether it could be read; if not, it matches everything.
    pub fn read(text: Option<&str>) -> (Self, bool) {
        let text = text.unwrap_or_default().trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '|';
        if text.is_empty() || text == "*" {
            return (Self(Kind::All), true);
        }
        if text.chars().all(plain) {
            let names = text.split('|').map(canonical).map(str::to_owned).collect();
            return (Self(Kind::Names(names)), true);
        }
        match Regex::new(text) {
            Ok(pattern) => (Self(Kind::Pattern(pattern)), true),
            Err(_) => (Self(Kind::All), false),
        }
    }

    /// Whether hooks are for this tool. What is for Bash is for Monitor too, which runs commands as well.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        self.matches(tool) || tool == "Monitor" && self.matches("Bash")
    }

    /// Whether the hook is for the tool.
    pub fn matches(&self, tool: &str) -> bool {
        match &self.0 {
            Kind::All => true,
            Kind::Names(names) => names.iter().any(|name| name == tool),
            Kind::Pattern(pattern) => {
                let older = ALIASES.iter().filter(|(_, name)| *name == tool);
                pattern.is_match(tool) || older.into_iter().any(|(alias, _)| pattern.is_match(alias))
            }
        }
    }
}

fn canonical(name: &str) -> &str {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
