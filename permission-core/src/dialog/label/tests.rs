//! Properties of labels over generated bundles, and a snapshot of every wording.
//!
//! Place in the flow: tests only. The bundles are made of the grammar's own words, so that a text which reads like
//! a label is common. Must go through `prepare`, as a host does.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::parse::{Promise, Reader};
use crate::testing::{Scene, d, l, m, properties, r, rules};
use crate::{
    Effect, OptionKind, PermissionBehavior, PermissionDestination, PermissionMode, PermissionOption,
    PermissionUpdate,
};

const TOOLS: [&str; 13] = [
    "Bash",
    "PowerShell",
    "Read",
    "Grep",
    "Edit",
    "Write",
    "NotebookEdit",
    "WebFetch",
    "Skill",
    "SandboxNetworkAccess",
    "mcp__srv__tool",
    "mcp__computer-use__click",
    "WebSearch",
];

const FRAGMENTS: [&str; 51] = [
    "npm test",
    "git",
    "x",
    "example.com",
    ":*",
    " *",
    "*",
    "**",
    "/",
    "//",
    "~/",
    "./",
    "/**",
    "/repo/",
    "/etc/",
    "src/**",
    "..",
    ".claude/",
    " ",
    "  ",
    ",",
    ", ",
    ";",
    " and ",
    "and",
    "allow ",
    "allow",
    "reading ",
    "editing ",
    "access to ",
    "anything",
    "don't ask again for ",
    "Don’t ask again for ",
    "the command ",
    "commands matching ",
    " commands",
    "the skill ",
    " skills",
    ", with any arguments",
    "turn on ",
    "Accept edits",
    " for this session",
    "; for this session also ",
    " (Claude's own settings)",
    "\u{202e}",
    "\u{200b}",
    "\t",
    "\u{e9}",
    "[a]",
    "!",
    "#",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(select(&FRAGMENTS[..]), 1..5).prop_map(|fragments| fragments.concat()),
        1 => "[ -~]{1,12}",
    ]
}

/// What a command may hold and still be one: that is what is offered.
fn words() -> impl Strategy<Value = String> {
    const WORDS: [&str; 12] = [
        "npm",
        "git",
        "x",
        "a.b",
        "and",
        "allow",
        "the command",
        "turn on",
        "for this session",
        "commands",
        "reading",
        "/etc/x",
    ];
    let end = select(&["", "", " *", ":*"][..]);
    (prop::collection::vec(select(&WORDS[..]), 1..4), end).prop_map(|(words, end)| words.join(" ") + end)
}

/// Mostly what the tool's family takes, now and then something else.
fn rule(tool: &'static str) -> BoxedStrategy<(String, String)> {
    let named = |tools: &'static [&'static str]| select(tools).prop_map(str::to_owned);
    let path = || {
        let below = (
            select(&["", "/", "//repo/", "~/", "./", "//etc/", "/src/"][..]),
            text(),
        );
        prop_oneof![3 => below.prop_map(|(root, rest)| format!("{root}{rest}")), 1 => Just(String::new()), 1 => text()]
    };
    let own: BoxedStrategy<(String, String)> = match tool {
        "Bash" | "PowerShell" => (Just(tool.to_owned()), prop_oneof![3 => words(), 1 => text()]).boxed(),
        "Read" | "Grep" => (Just("Read".to_owned()), path()).boxed(),
        "Edit" | "Write" | "NotebookEdit" => (Just("Edit".to_owned()), path()).boxed(),
        _ => (
            Just(tool.to_owned()),
            prop_oneof![4 => Just(String::new()), 1 => text()],
        )
            .boxed(),
    };
    let other = (
        named(&["Read", "Edit", "Bash", "PowerShell", "mcp__srv", "WebFetch"]),
        path(),
    );
    prop_oneof![6 => own, 1 => other].boxed()
}

fn update(tool: &'static str) -> impl Strategy<Value = Value> {
    let files = matches!(tool, "Read" | "Grep" | "Edit" | "Write" | "NotebookEdit");
    let local = if files { 1 } else { 6 };
    let destination =
        prop_oneof![6 => Just("session"), local => Just("localSettings"), 1 => Just("userSettings")];
    let behavior = prop_oneof![9 => Just("allow"), 1 => Just("deny")];
    let rules = (destination, behavior, prop::collection::vec(rule(tool), 1..4)).prop_map(
        |(destination, behavior, listed)| {
            let listed: Vec<(&str, &str)> = listed
                .iter()
                .map(|(tool, content)| (&**tool, &**content))
                .collect();
            rules(destination, behavior, &listed)
        },
    );
    let directories = prop::collection::vec(text().prop_map(|path| format!("/{path}")), 1..3).prop_map(
        |paths| json!({ "type": "addDirectories", "directories": paths, "destination": "session" }),
    );
    let mode = prop_oneof![3 => Just("acceptEdits"), 1 => Just("auto")].prop_map(m);
    prop_oneof![8 => rules, 1 => directories, 1 => mode]
}

fn scene() -> impl Strategy<Value = Scene> {
    select(&TOOLS[..]).prop_flat_map(|tool| {
        let updates = prop_oneof![2 => prop::collection::vec(update(tool), 1), 1 => prop::collection::vec(update(tool), 2..4)];
        let args = prop_oneof![Just(String::new()), text()];
        (updates, any::<bool>(), text(), args).prop_map(move |(mut updates, covering, text, args)| {
            match tool {
                "Read" | "Grep" if covering => updates.push(r("Read", "")),
                "Edit" | "Write" | "NotebookEdit" if covering => updates.push(m("acceptEdits")),
                "SandboxNetworkAccess" => updates = vec![l(tool, &text)],
                _ => {}
            }
            let command = contents(&updates).join(" && ");
            let input = json!({
                "command": command,
                "pattern": "*",
                "file_path": format!("/repo/{text}"),
                "path": "/repo",
                "url": format!("https://{text}/"),
                "host": text,
                "skill": text,
                "args": args,
            });
            Scene::new(tool, input).suggesting(updates)
        })
    })
}

/// Commands that the rules of a bundle are about, so that it is offered.
fn contents(updates: &[Value]) -> Vec<String> {
    let rules = updates
        .iter()
        .filter_map(|update| update["rules"].as_array())
        .flatten();
    let contents = rules.filter(|rule| matches!(rule["toolName"].as_str(), Some("Bash" | "PowerShell")));
    let stem = |content: &str| content.trim_end_matches(":*").trim_end_matches(" *").to_owned();
    contents
        .filter_map(|rule| rule["ruleContent"].as_str().map(stem))
        .collect()
}

/// What an effect really does, in the words of the reader.
fn promises(effect: &Effect) -> BTreeSet<Promise> {
    let Effect::AllowWithUpdates { updates, .. } = effect else {
        panic!("a durable option has updates: {effect:?}");
    };
    let echoed: Vec<PermissionUpdate> = updates
        .original()
        .iter()
        .map(|update| serde_json::from_value(update.clone()).unwrap())
        .collect();
    echoed.iter().flat_map(promises_of).collect()
}

fn promises_of(update: &PermissionUpdate) -> Vec<Promise> {
    match update {
        PermissionUpdate::AddRules {
            rules,
            behavior: PermissionBehavior::Allow,
            destination,
        } => {
            let local = match destination {
                PermissionDestination::LocalSettings => true,
                PermissionDestination::Session => false,
                other => panic!("a destination that no label names: {other:?}"),
            };
            let promise = |rule: &crate::PermissionRule| Promise::Rule {
                local,
                content: rule
                    .rule_content
                    .as_deref()
                    .map(|content| canonical(&rule.tool_name, content)),
                tool: rule.tool_name.clone(),
            };
            rules.iter().map(promise).collect()
        }
        PermissionUpdate::AddDirectories {
            directories,
            destination: PermissionDestination::Session,
        } => directories.iter().cloned().map(Promise::Directory).collect(),
        PermissionUpdate::SetMode {
            mode: PermissionMode::AcceptEdits,
            destination: PermissionDestination::Session,
        } => vec![Promise::AcceptEdits],
        other => panic!("an update that no label names: {other:?}"),
    }
}

/// One spelling for rules that mean the same.
fn canonical(tool: &str, content: &str) -> String {
    match tool {
        "Bash" | "PowerShell" => match content.strip_suffix(":*") {
            Some(stem) if !stem.contains('*') => format!("{stem} *"),
            _ => content.to_owned(),
        },
        "Read" | "Edit" => canonical_path(content),
        "SandboxNetworkAccess" => content.trim().to_owned(),
        _ => content.to_owned(),
    }
}

/// As an absolute pattern, or one from the home; `/repo` is project root and working directory.
fn canonical_path(content: &str) -> String {
    if let Some(absolute) = content.strip_prefix("//") {
        return format!("/{absolute}");
    }
    if content.starts_with("~/") {
        return content.to_owned();
    }
    if let Some(anchored) = content.strip_prefix('/') {
        return format!("/repo/{anchored}");
    }
    // `./` says nothing.
    let content = content.strip_prefix("./").unwrap_or(content);
    let at_any_depth = content != "**" && !content.trim_end_matches('/').contains('/');
    format!("/repo/{}{content}", if at_any_depth { "**/" } else { "" })
}

fn durable(scene: &Scene) -> Vec<PermissionOption> {
    let request = scene.prepare();
    request
        .options()
        .iter()
        .filter(|option| option.kind == OptionKind::AllowAlways)
        .cloned()
        .collect()
}

/// The label and the effect of every durable option say the same, and the label can be shown.
fn check(scene: &Scene) -> usize {
    let durable = durable(scene);
    for option in &durable {
        let label = &option.name;
        let read = Reader {
            tool: &scene.tool,
            cwd: "/repo",
        }
        .read(label);
        assert_eq!(read, promises(&option.effect), "label: {label}");
        assert!(label.encode_utf16().count() <= 200, "too long: {label}");
        assert!(
            !label.contains(|c: char| c.is_control() || "\u{202e}\u{200b}".contains(c)),
            "{label:?}"
        );
    }
    durable.len()
}

proptest! {
    #![proptest_config(properties(2_000))]

    #[test]
    fn from_the_label_alone_the_whole_effect_is_read_back(scene in scene()) {
        check(&scene);
    }
}

/// Without this, a generator whose bundles are never offered would pass.
#[test]
fn the_generated_bundles_are_offered_often_enough() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut offered = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..2_000 {
        let scene = proptest::strategy::ValueTree::current(&scene().new_tree(&mut runner).unwrap());
        *offered.entry(scene.tool.clone()).or_default() += check(&scene);
    }
    for tool in TOOLS {
        assert!(
            offered.get(tool).is_some_and(|&count| count >= 10),
            "{tool}: {offered:?}"
        );
    }
}

#[test]
fn every_wording_of_a_label() {
    let edit =
        |update: Value| Scene::new("Edit", json!({ "file_path": "/repo/.claude/a" })).suggesting([update]);
    let read = |update: Value| Scene::new("Read", json!({ "file_path": "/repo/src/a" })).suggesting([update]);
    let scenes = [
        Scene::running("npm test", [l("Bash", "npm test:*")]),
        Scene::running("npm test", [r("Bash", "npm test *")]),
        Scene::running("curl http://x", [l("Bash", "curl http://x")]),
        Scene::running("git push main", [l("Bash", "git * main")]),
        Scene::running("cat /etc/x/y", [l("Read", "//etc/x/**")]),
        Scene::running("ls /w/codex-acp/src", [d(&["/w/codex-acp/src"])]),
        Scene::running("touch x", [m("acceptEdits")]),
        Scene::running(
            "a && b && cat c/d",
            [l("Bash", "a:*"), l("Bash", "b"), l("Read", "c/d")],
        ),
        Scene::running(
            "touch x",
            [m("acceptEdits"), d(&["/repo"]), l("Bash", "touch x *")],
        ),
        Scene::running(
            "a && cat ~/b",
            [r("Bash", "a:*"), l("Bash", "a:*"), r("Read", "~/b")],
        ),
        read(r("Read", "src/**")),
        read(r("Read", "")),
        edit(r("Edit", "//repo/**")),
        edit(r("Edit", "")),
        edit(r("Edit", ".claude/**")),
        Scene::new("WebFetch", json!({ "url": "https://example.com/a" })),
        Scene::new("Skill", json!({ "skill": "greet" })),
        Scene::new("Skill", json!({ "skill": "greet bob" })),
        Scene::new("SandboxNetworkAccess", json!({ "host": "a.b" }))
            .suggesting([l("SandboxNetworkAccess", "a.b")]),
        Scene::new("mcp__tiny__echo", json!({})).suggesting([l("mcp__tiny__echo", "")]),
        Scene::new("WebSearch", json!({})),
    ];
    let labels: Vec<String> = scenes
        .iter()
        .flat_map(|scene| {
            check(scene);
            let labels: Vec<String> = durable(scene).into_iter().map(|option| option.name).collect();
            assert!(!labels.is_empty(), "no label: {}", scene.tool);
            labels
        })
        .collect();
    insta::assert_snapshot!(labels.join("\n"));
}
