//! Rules about hosts, skills, agents and parameters.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn a_host_is_compared_as_a_browser_reads_it() {
    let fetch = |rule: &str, url: &str| say(rule, "WebFetch", &json!({ "url": url }));
    let rows = [
        (
            "allow WebFetch(domain:example.com)",
            "https://example.com/x",
            Allow,
        ),
        ("allow WebFetch(domain:Example.com)", "https://EXAMPLE.com", Allow),
        (
            "allow WebFetch(domain:example.com)",
            "https://example.com.",
            Allow,
        ),
        (
            "allow WebFetch(domain:example.com)",
            "https://example.com@evil.com/",
            Nothing,
        ),
        (
            "allow WebFetch(domain:example.com)",
            "https://sub.example.com/",
            Nothing,
        ),
        (
            "allow WebFetch(domain:*.example.com)",
            "https://sub.example.com/",
            Allow,
        ),
        (
            "allow WebFetch(domain:*.example.com)",
            "https://example.com/",
            Nothing,
        ),
        (
            "allow WebFetch(domain:example.com)",
            "https://evil.com/example.com",
            Nothing,
        ),
        ("allow WebFetch(domain:example.com)", "not a url", Nothing),
        ("allow WebFetch(domain:[::1])", "http://[::1]:9/x", Allow),
        ("allow WebFetch(domain:[::1])", "http://[::2]/", Nothing),
        ("allow WebFetch(domain:[x])", "http://x/", Nothing),
        ("deny WebFetch(domain:evil.com)", "https://evil.com:8443/", Deny),
        ("deny WebFetch(domain:evil.com)", "not a url", Deny),
        ("allow WebFetch(x)", "https://example.com", Nothing),
        ("deny WebFetch(x)", "https://example.com", Deny),
        (
            "deny WebFetch(domain:münchen.de)",
            "https://xn--mnchen-3ya.de/",
            Deny,
        ),
    ];
    for (rule, url, expected) in rows {
        assert_eq!(fetch(rule, url), expected, "{rule} {url}");
    }
}

#[test]
fn a_skill_is_named_with_or_without_arguments() {
    let skill =
        |rule: &str, name: &str, args: &str| say(rule, "Skill", &json!({ "skill": name, "args": args }));
    let rows = [
        ("allow Skill(review)", "review", "", Allow),
        ("allow Skill(review)", "/review", "", Allow),
        ("allow Skill(review)", "review", "x", Nothing),
        ("allow Skill(review x)", "review x", "", Allow),
        ("allow Skill(review x)", "review", "x", Nothing),
        ("allow Skill(review:*)", "review", "x", Allow),
        ("allow Skill(review *)", "review", "", Allow),
        ("allow Skill(review:*)", "review2", "", Nothing),
        ("deny Skill(review)", "review", "x", Deny),
        ("deny Skill(review)", "review x", "", Deny),
        ("allow Skill", "anything", "x", Allow),
    ];
    for (rule, name, args, expected) in rows {
        assert_eq!(skill(rule, name, args), expected, "{rule} {name} {args}");
    }
    assert_eq!(say("deny Skill(review)", "Skill", &json!({})), Deny);
}

#[test]
fn an_agent_has_two_tool_names() {
    for tool in ["Agent", "Task"] {
        let input = json!({ "subagent_type": "Explore" });
        assert_eq!(say("allow Agent(Explore)", tool, &input), Allow);
        assert_eq!(say("deny Task(Explore)", tool, &input), Deny);
        assert_eq!(say("deny Agent", tool, &input), Deny);
        assert_eq!(say("deny Agent(Plan)", tool, &input), Nothing);
    }
}

#[test]
fn a_parameter_limits_and_never_allows() {
    let input = json!({ "model": "opus", "n": 5, "deep": true, "list": ["x"], "url": "u", "subagent_type": "Explore" });
    let rows = [
        ("deny Agent(model:opus)", Deny),
        ("deny Agent(model:o*)", Deny),
        ("deny Agent(model:sonnet)", Nothing),
        ("deny Agent(n:5)", Deny),
        ("deny Agent(deep:true)", Deny),
        ("deny Agent(list:x)", Nothing),
        ("deny Agent(missing:*)", Nothing),
        ("allow Agent(model:opus)", Nothing),
        ("ask Agent(model:opus)", Ask),
    ];
    for (rule, expected) in rows {
        assert_eq!(say(rule, "Agent", &input), expected, "{rule}");
    }
    let background = json!({ "command": "ls", "run_in_background": true });
    assert_eq!(
        say("deny Bash(run_in_background:true)", "Bash", &background),
        Deny
    );
}
