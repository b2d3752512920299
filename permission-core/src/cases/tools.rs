//! Cases 25 to 36, 53, 54 and 82: tools with a host, a skill, a name.

use serde_json::{Value, json};

use super::{check, once, result_of, row};
use crate::testing::{Scene, durable_label, l, listing, m, r, rule_set, rules};

fn fetch(url: Value) -> Scene {
    Scene::new("WebFetch", json!({ "url": url, "prompt": "p" }))
}

fn local_rule(tool: &str, content: &str) -> Value {
    json!([l(tool, content)])
}

#[test]
fn cases_25_to_27_web_fetch_offers_the_host_of_its_url() {
    check([
        row(
            "25",
            fetch(json!("https://u:p@Example.COM:8443/a")),
            "Yes, and don't ask again for example.com",
        ),
        once("26, no URL", fetch(json!("not a url"))),
        once("26, no host", fetch(json!("file:///x"))),
        once("26, mail", fetch(json!("mailto:a@b.c"))),
        once("26, no text", fetch(json!(5))),
        once("26, a wildcard", fetch(json!("https://*.example.com/"))),
        row(
            "27, international",
            fetch(json!(" https://münchen.de/ ")),
            "Yes, and don't ask again for xn--mnchen-3ya.de",
        ),
        row(
            "27, IPv6",
            fetch(json!("http://[::1]:80/")),
            "Yes, and don't ask again for [::1]",
        ),
    ]);
    let result = result_of(
        &fetch(json!("https://u:p@Example.COM:8443/a")),
        "allow-with-updates",
    );
    assert_eq!(
        result["updatedPermissions"],
        local_rule("WebFetch", "domain:example.com"),
        "case 25"
    );
    let other = fetch(json!("https://a.b/")).suggesting([l("WebFetch", "domain:evil.example")]);
    assert_eq!(
        other.label().as_deref(),
        Some("Yes, and don't ask again for a.b"),
        "suggestions are ignored"
    );
}

#[test]
fn a_skill_under_an_ask_rule_of_the_settings_is_allowed_only_once() {
    let offers = |skill: Value, rules: &[&str]| {
        let asks: Vec<String> = rules.iter().map(|rule| format!("ask {rule}")).collect();
        let rules = rule_set(&asks.join(" + "));
        Scene::new("Skill", skill).under(&rules).options().len() > 2
    };
    for rule in [
        "Skill(review)",
        "Skill(review:*)",
        "Skill(review *)",
        " Skill(review) ",
    ] {
        let rules = &[rule];
        assert!(!offers(json!({ "skill": "review" }), rules), "{rule}");
        assert!(
            !offers(json!({ "skill": "review", "args": "12" }), rules),
            "{rule}"
        );
        assert!(!offers(json!({ "skill": " review 12" }), rules), "{rule}");
        assert!(offers(json!({ "skill": "greet" }), rules), "{rule}");
        assert!(offers(json!({ "skill": "reviewer" }), rules), "{rule}");
    }
    assert!(offers(
        json!({ "skill": "review" }),
        &["Bash(review)", "Skillful(review)"]
    ));
}

#[test]
fn cases_28_to_31_skill_offers_its_invocation_and_its_name() {
    let offers = |input: Value| Scene::new("Skill", input).offers();
    let nothing = ["allow-once", "reject"];
    let by_name = "allow-skill-exact: Yes, and don't ask again for the skill review, with any arguments";
    let exact = "allow-skill-exact: Yes, and don't ask again for the skill review 12";
    let prefix = "allow-skill-prefix: Yes, and don't ask again for review:* skills";
    assert_eq!(
        offers(json!({ "skill": "review" })),
        ["allow-once", by_name, "reject"],
        "case 28"
    );
    let older = json!({ "skill": " review 12 " });
    assert_eq!(
        offers(older.clone()),
        ["allow-once", exact, prefix, "reject"],
        "case 29"
    );
    let result = result_of(&Scene::new("Skill", older.clone()), "allow-skill-exact");
    assert_eq!(
        result["updatedPermissions"],
        local_rule("Skill", "review 12"),
        "case 29"
    );
    assert_eq!(result["updatedInput"], older, "case 29");
    let apart = json!({ "skill": "review", "args": "12" });
    let no_exact = "case 29: Claude does not honour a rule that names arguments of their own field";
    assert_eq!(
        offers(apart.clone()),
        ["allow-once", prefix, "reject"],
        "{no_exact}"
    );
    for input in [older, apart] {
        let result = result_of(&Scene::new("Skill", input), "allow-skill-prefix");
        assert_eq!(
            result["updatedPermissions"],
            local_rule("Skill", "review:*"),
            "case 29"
        );
        assert_eq!(result["decisionClassification"], "user_permanent", "case 29");
    }
    assert_eq!(offers(json!({ "skill": "  " })), nothing, "case 30, blank");
    assert_eq!(offers(json!({})), nothing, "case 30, missing");
    assert_eq!(offers(json!({ "skill": "review\t1" })), nothing, "case 30, TAB");
    assert_eq!(offers(json!({ "skill": "x".repeat(1001) })), nothing, "case 31");
    assert_eq!(
        offers(json!({ "skill": "review", "args": 12 })),
        nothing,
        "arguments that are no text"
    );
    let widening = offers(json!({ "skill": "review a *" }));
    assert_eq!(
        widening,
        ["allow-once", prefix, "reject"],
        "a wildcard would widen the exact rule"
    );
    let long = json!({ "skill": "review", "args": "x".repeat(994) });
    assert_eq!(offers(long), nothing, "case 31, with arguments");
}

#[test]
fn cases_32_and_33_other_tools_offer_the_whole_tool_by_its_id() {
    let search = Scene::new("WebSearch", json!({ "query": "q" }));
    let request = search.prepare_with(|ask| ask.display_name = Some("Search the web"));
    assert_eq!(
        durable_label(&request).as_deref(),
        Some("Yes, and don't ask again for WebSearch"),
        "case 32"
    );
    assert_eq!(
        result_of(&search, "allow-with-updates")["updatedPermissions"],
        json!([{
            "type": "addRules",
            "rules": [{ "toolName": "WebSearch" }],
            "behavior": "allow",
            "destination": "localSettings",
        }]),
        "case 32"
    );
    for tool in [
        "Agent",
        "Task",
        "ReviewArtifact",
        "Workflow",
        "Monitor",
        "LS",
        "SomethingNew",
    ] {
        let label = Scene::new(tool, json!({})).suggesting([m("acceptEdits")]).label();
        assert_eq!(
            label,
            Some(format!("Yes, and don't ask again for {tool}")),
            "case 33"
        );
    }
    for tool in ["", "*", "mcp_*", "A(b)", "Two words", "Agent\u{200b}"] {
        check([once("33, a name that is no id", Scene::new(tool, json!({})))]);
    }
}

#[test]
fn cases_34_and_35_mcp_tools_offer_rules_for_that_very_tool() {
    let tool = "mcp__srv__tool";
    let mcp = |updates: Vec<Value>| Scene::new(tool, json!({})).suggesting(updates);
    let label = "Yes, and don't ask again for mcp__srv__tool";
    check([
        row("34", mcp(vec![l(tool, "")]), label),
        once("34, wildcard", mcp(vec![l("mcp__srv__*", "")])),
        once("34, server", mcp(vec![l("mcp__srv", "")])),
        once("34, with content", mcp(vec![l(tool, "x")])),
        once(
            "34, plus another tool",
            mcp(vec![l(tool, ""), l("mcp__srv__other", "")]),
        ),
        once("34, plus a mode", mcp(vec![l(tool, ""), m("acceptEdits")])),
        once("34, no suggestion", Scene::new(tool, json!({}))),
        once(
            "34, userSettings",
            mcp(vec![rules("userSettings", "allow", &[(tool, "")])]),
        ),
        row(
            "34, session",
            mcp(vec![r(tool, "")]),
            "Yes, and for this session don't ask again for mcp__srv__tool",
        ),
        row("35", mcp(vec![l(tool, ""), l(tool, "")]), label),
    ]);
    assert_eq!(
        mcp(vec![l(tool, ""), r(tool, "")]).label().as_deref(),
        Some(
            "Yes, and don't ask again for mcp__srv__tool; for this session also don't ask again for mcp__srv__tool"
        ),
        "case 35, both scopes"
    );
    let both = result_of(&mcp(vec![l(tool, ""), l(tool, "")]), "allow-with-updates");
    assert_eq!(
        both["updatedPermissions"],
        json!([l(tool, ""), l(tool, "")]),
        "case 35"
    );
}

#[test]
fn case_36_computer_use_is_titled_by_its_display_name_and_shows_its_input() {
    let tool = "mcp__computer-use__click";
    let scene = Scene::new(tool, json!({ "x": 1, "y": [2] })).suggesting([l(tool, "")]);
    let request = scene.prepare_with(|ask| ask.display_name = Some("Click  here"));
    assert_eq!(
        durable_label(&request).as_deref(),
        Some("Yes, and don't ask again for mcp__computer-use__click")
    );
    assert_eq!(request.tool_title_override(), Some("Click here"));
    assert_eq!(request.presentation().title, "Click here");
    assert_eq!(
        request.synthesized_json_content(),
        Some("```json\n{\n  \"x\": 1,\n  \"y\": [\n    2\n  ]\n}\n```")
    );
    let bare =
        Scene::new("mcp__computer-use", json!({})).prepare_with(|ask| ask.display_name = Some("Click"));
    assert_eq!(
        (bare.tool_title_override(), bare.synthesized_json_content()),
        (None, None),
        "an ordinary MCP tool"
    );
}

#[test]
fn case_53_the_sandbox_offers_a_local_rule_for_the_very_host() {
    let sandbox = |updates: Vec<Value>| {
        Scene::new("SandboxNetworkAccess", json!({ "host": " example.com " })).suggesting(updates)
    };
    let rule = |content: &str| l("SandboxNetworkAccess", content);
    check([
        row(
            "53",
            sandbox(vec![rule("example.com")]),
            "Yes, and don't ask again for example.com",
        ),
        once(
            "53, session",
            sandbox(vec![r("SandboxNetworkAccess", "example.com")]),
        ),
        once("53, another host", sandbox(vec![rule("example.org")])),
        once("53, domain", sandbox(vec![rule("domain:example.com")])),
        once("53, WebFetch rule", sandbox(vec![l("WebFetch", "example.com")])),
        once(
            "53, two updates",
            sandbox(vec![rule("example.com"), rule("example.com")]),
        ),
        once(
            "53, no host",
            Scene::new("SandboxNetworkAccess", json!({})).suggesting([rule("example.com")]),
        ),
        once(
            "53, a wildcard",
            Scene::new("SandboxNetworkAccess", json!({ "host": "*" })).suggesting([rule("*")]),
        ),
    ]);
    let request = sandbox(vec![]).prepare();
    assert_eq!(request.tool_title_override(), Some("example.com"), "case 53");
    let content = "```json\n{\n  \"host\": \" example.com \"\n}\n```";
    assert_eq!(request.synthesized_json_content(), Some(content), "case 53");
    let nameless = Scene::new("SandboxNetworkAccess", json!({ "host": "x".repeat(161) })).prepare();
    assert_eq!(
        (
            nameless.tool_title_override(),
            nameless.synthesized_json_content()
        ),
        (None, None),
        "too long"
    );
}

#[test]
fn case_54_enter_plan_mode_has_two_options_and_a_plain_refusal() {
    let scene = Scene::new("EnterPlanMode", json!({})).suggesting([m("plan")]);
    assert_eq!(
        scene.offers(),
        [
            "allow-once: Yes, enter plan mode",
            "reject: No, start implementing now"
        ],
        "case 54"
    );
    let refusal = result_of(&scene, "reject");
    assert_eq!(refusal.get("interrupt"), None, "case 54");
    assert_eq!(
        refusal["message"], "User refused permission to run tool",
        "case 54"
    );
    let allowed = result_of(&scene, "allow-once");
    assert_eq!(
        allowed.get("updatedPermissions"),
        None,
        "case 54: the tool itself switches the mode"
    );
}

#[test]
fn case_82_labels_print_the_id_and_never_the_display_name() {
    let scene = Scene::new("mcp__srv__tool", json!({})).suggesting([l("mcp__srv__tool", "")]);
    let request = scene.prepare_with(|ask| ask.display_name = Some("Bash"));
    let durable = "allow-with-updates: Yes, and don't ask again for mcp__srv__tool";
    assert_eq!(listing(&request), ["allow-once", durable, "reject"], "case 82");
}
