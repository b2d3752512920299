//! What a rule's text means, and what is said about texts that mean nothing.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn a_malformed_allow_rule_allows_nothing_and_a_malformed_limit_limits_all() {
    for text in [
        "Bash(ls",
        "Bash)",
        "(ls)",
        "",
        "Bash(ls\\)",
        "Bash (ls)",
        "Bash(ls) x",
    ] {
        let (rule, problem) = Rule::read(RuleKind::Allow, text, RuleOrigin::Session);
        assert_eq!(rule, None, "{text}");
        assert!(problem.is_some(), "{text}");
        assert_eq!(bash(&format!("deny {text}"), "anything"), Deny, "{text}");
        assert_eq!(bash(&format!("ask {text}"), "anything"), Ask, "{text}");
    }
    assert_eq!(file("deny Bash(ls", "Read", "a"), Nothing);
}

#[test]
fn an_empty_content_is_the_whole_tool() {
    for text in ["Bash", "Bash()", "Bash(*)", "Bash( )", " Bash "] {
        assert_eq!(bash(&format!("allow {text}"), "anything at all"), Allow, "{text}");
    }
}

#[test]
fn parentheses_and_backslashes_can_be_escaped() {
    let rows = [
        ("allow Bash(foo a\\(b\\))", "foo 'a(b)'", Nothing),
        ("allow Bash(foo 'a\\(b\\)')", "foo 'a(b)'", Allow),
        ("allow Bash(foo 'a(b)')", "foo 'a(b)'", Allow),
        ("allow Bash(foo a\\\\ b)", "foo a\\ b", Allow),
    ];
    for (rule, command, expected) in rows {
        assert_eq!(bash(rule, command), expected, "{rule}");
    }
}

#[test]
fn tools_are_named_exactly_by_server_or_by_glob() {
    let mcp = |rule: &str, tool: &str| say(rule, tool, &json!({}));
    let rows = [
        ("allow mcp__s", "mcp__s__t", Allow),
        ("allow mcp__s__*", "mcp__s__t", Allow),
        ("allow mcp__s__t", "mcp__s__t", Allow),
        ("allow mcp__s__t", "mcp__s__tt", Nothing),
        ("allow mcp__s", "mcp__ss__t", Nothing),
        ("allow mcp__github__get_*", "mcp__github__get_issue", Allow),
        ("allow mcp__github__get_*", "mcp__github__set_issue", Nothing),
        ("allow mcp__*", "mcp__s__t", Nothing),
        ("allow *", "mcp__s__t", Nothing),
        ("allow B*", "Bash", Nothing),
        ("deny mcp__*", "mcp__s__t", Deny),
        ("deny *", "Anything", Deny),
        ("ask W*", "WebSearch", Ask),
        ("allow WebSearch", "WebSearch", Allow),
        ("allow WebSearch", "websearch", Nothing),
        ("allow WebSearch(x)", "WebSearch", Nothing),
        ("deny WebSearch(x)", "WebSearch", Deny),
        ("deny mcp__s__t(a:b)", "mcp__s__t", Nothing),
    ];
    for (rule, tool, expected) in rows {
        assert_eq!(mcp(rule, tool), expected, "{rule} {tool}");
    }
}

#[test]
fn a_rule_remembers_where_it_stands() {
    use std::path::Path;

    use crate::settings::{SettingsFile, SettingsSource};
    let text = "{\n \"permissions\": {\n  \"deny\": [\"Bash(rm *)\",\n   \"Bash(oops\"],\n  \"allow\": [\"Write(x)\"]\n }\n}";
    let file = SettingsFile::parse(
        SettingsSource::Project,
        Path::new("/repo/.claude/settings.json"),
        text,
    );
    let (set, problems) = RuleSet::read(&file.values.rules);
    let hit = set
        .denies(&ToolCall::new(
            "Bash",
            &json!({ "command": "rm a" }),
            workspace(&LexicalPaths),
        ))
        .unwrap();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(format!("{}\n{}", hit.rule, shown.join("\n")), @r"
    `Bash(rm *)` (deny, /repo/.claude/settings.json, line 3)
    /repo/.claude/settings.json, line 4: the deny rule `Bash(oops` is not a rule, so it counts for every use of the tool; write it as `Tool` or `Tool(content)`
    /repo/.claude/settings.json, line 5: the allow rule `Write(x)` allows nothing: rules about paths are written as `Read(path)` or `Edit(path)`, for all tools that read or edit
    ");
}

#[test]
fn every_problem_says_what_is_done_instead() {
    let texts = [
        (RuleKind::Allow, "Bash("),
        (RuleKind::Ask, "Bash("),
        (RuleKind::Allow, "B*"),
        (RuleKind::Allow, "Glob(x)"),
        (RuleKind::Deny, "Glob(x)"),
        (RuleKind::Allow, "Read(../x)"),
        (RuleKind::Deny, "Read(../x)"),
        (RuleKind::Allow, "WebSearch(x)"),
        (RuleKind::Deny, "WebSearch(x)\u{202e}("),
        (RuleKind::Deny, "WebSearch(x)"),
        (RuleKind::Allow, "WebFetch(x)"),
        (RuleKind::Deny, "WebFetch(domain:)"),
    ];
    let origins = [RuleOrigin::Session, RuleOrigin::Arguments];
    let shown: Vec<String> = texts
        .iter()
        .zip(origins.iter().cycle())
        .map(|(&(kind, text), origin)| Rule::read(kind, text, origin.clone()).1.unwrap().to_string())
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
