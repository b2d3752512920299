//! Cases 37 to 52: the file tools.

use serde_json::{Value, json};

use super::{check, once, row};
use crate::testing::{Links, Scene, call, d, durable_label, l, m, r, rules};
use crate::{AskContext, prepare};

fn file(tool: &str, path: &str, updates: impl IntoIterator<Item = Value>) -> Scene {
    Scene::new(tool, json!({ "file_path": path })).suggesting(updates)
}

const ACCEPT_EDITS: &str = "Yes, and for this session turn on Accept edits";

#[test]
fn cases_37_to_42_reads_need_a_session_rule_that_covers_the_file() {
    check([
        row(
            "37",
            file("Read", "/etc/x/hosts", [r("Read", "//etc/x/**")]),
            "Yes, and for this session allow reading /etc/x/**",
        ),
        once("38", file("Read", "/etc/x/hosts", [r("Read", "//var/**")])),
        once(
            "38, a neighbour",
            file("Read", "/etc/xy/hosts", [r("Read", "//etc/x/**")]),
        ),
        once(
            "38, a detour",
            file("Read", "/etc/x/../shadow", [r("Read", "//etc/x/**")]),
        ),
        row(
            "39",
            file("Read", "/repo/a", [r("Read", "")]),
            "Yes, and for this session allow reading anything",
        ),
        once("40", file("Read", "/etc/x/hosts", [l("Read", "//etc/x/**")])),
        once(
            "41",
            file("Read", "/etc/x/hosts", [r("Read", "//etc/x/**"), d(&["/etc/x"])]),
        ),
        row(
            "42",
            Scene::new("Glob", json!({ "pattern": "*.rs" })).suggesting([r("Read", "//repo/**")]),
            "Yes, and for this session allow reading /repo/**",
        ),
        row(
            "42, Grep with a path",
            Scene::new("Grep", json!({ "path": "/etc/x" })).suggesting([r("Read", "//etc/x/**")]),
            "Yes, and for this session allow reading /etc/x/**",
        ),
        once(
            "42, outside",
            Scene::new("Grep", json!({ "path": "/etc" })).suggesting([r("Read", "//repo/**")]),
        ),
    ]);
}

#[test]
fn cases_43_to_47_accept_edits_covers_all_but_claudes_own_settings() {
    let claude = "/repo/.claude/settings.json";
    check([
        row("43", file("Edit", "/repo/a", [m("acceptEdits")]), ACCEPT_EDITS),
        // Observed with Claude 2.1.318: neither is enough without the other.
        once("44", file("Edit", "/other/d/a", [m("acceptEdits")])),
        row(
            "44, with the folder",
            file("Edit", "/other/d/a", [m("acceptEdits"), d(&["/other/d"])]),
            "Yes, and for this session allow access to /other/d and turn on Accept edits",
        ),
        row(
            "44, access that is there already",
            file("Edit", "/repo/a", [m("acceptEdits"), d(&["/repo"])]),
            ACCEPT_EDITS,
        ),
        once("45", file("Edit", claude, [m("acceptEdits")])),
        once(
            "45, relative",
            file("Edit", ".claude/settings.json", [m("acceptEdits")]),
        ),
        once(
            "45, in the home",
            file("Edit", "~/.claude/settings.json", [m("acceptEdits")]),
        ),
        once(
            "45, in any case",
            file("Edit", "/repo/.Claude/settings.json", [m("acceptEdits")]),
        ),
        once(
            "45, by a detour",
            file("Edit", "/repo/src/../.claude/x", [m("acceptEdits")]),
        ),
        row(
            "45, not settings",
            file("Edit", "/repo/src/.claude.rs", [m("acceptEdits")]),
            ACCEPT_EDITS,
        ),
        row(
            "46",
            file("Edit", claude, [r("Edit", ".claude/**")]),
            "Yes, and for this session allow editing .claude/** (Claude's own settings)",
        ),
        row(
            "46, from the project",
            file("Edit", claude, [r("Edit", "/.claude/**")]),
            "Yes, and for this session allow editing .claude/** (Claude's own settings)",
        ),
        once("47", file("Edit", "/repo/a", [m("bypassPermissions")])),
        once("47, auto", file("Edit", "/repo/a", [m("auto")])),
    ]);
}

#[test]
fn cases_48_to_52_write_rules_are_edit_rules() {
    check([
        once("48", file("Write", "/repo/a", [r("Write", "/repo/**")])),
        once(
            "48, NotebookEdit rule",
            file("Write", "/repo/a", [r("NotebookEdit", "//repo/**")]),
        ),
        row(
            "48, Edit rule",
            file("Write", "/repo/a", [r("Edit", "//repo/**")]),
            "Yes, and for this session allow editing /repo/**",
        ),
        row(
            "49",
            Scene::new("NotebookEdit", json!({ "notebook_path": "/repo/a.ipynb" }))
                .suggesting([m("acceptEdits")]),
            ACCEPT_EDITS,
        ),
        once("50", Scene::new("Edit", json!({})).suggesting([m("acceptEdits")])),
        once(
            "50, only a directory",
            Scene::new("Edit", json!({})).suggesting([d(&["/repo"])]),
        ),
        once(
            "50, a directory that covers",
            file("Write", "/w/log/out.txt", [d(&["/w/log"])]),
        ),
        row(
            "51",
            file("Read", "/home/u/x/f", [r("Read", "~/x/**")]),
            "Yes, and for this session allow reading ~/x/**",
        ),
        once("51, elsewhere", file("Read", "/repo/f", [r("Read", "~/x/**")])),
        row(
            "52",
            file(
                "Read",
                "/repo/src/f",
                [rules(
                    "session",
                    "allow",
                    &[("Read", "src/**"), ("Read", "//var/**")],
                )],
            ),
            "Yes, and for this session allow reading src/** and allow reading /var/**",
        ),
    ]);
}

#[test]
fn patterns_whose_root_is_not_plain_are_printed_absolute() {
    check([
        row(
            "anchored by a slash",
            file("Read", "/repo/notes", [r("Read", "/notes")]),
            "Yes, and for this session allow reading /repo/notes",
        ),
        row(
            "at any depth",
            file("Read", "/repo/a/b/notes.md", [r("Read", "*.md")]),
            "Yes, and for this session allow reading *.md",
        ),
        row(
            "everything in the project",
            file("Read", "/repo/a", [r("Read", "/**")]),
            "Yes, and for this session allow reading /repo/**",
        ),
        once(
            "the whole tool in disguise",
            file("Read", "/repo/a", [r("Read", "*")]),
        ),
        once(
            "a negation",
            file("Read", "/repo/a", [r("Read", "!b"), r("Read", "")]),
        ),
        once(
            "an unclosed bracket",
            file("Read", "/repo/[a", [r("Read", "//repo/[a")]),
        ),
        once("a step out", file("Read", "/repo/a", [r("Read", "//repo/../**")])),
        once(
            "the word for everything",
            file("Read", "/repo/anything", [r("Read", "anything")]),
        ),
    ]);
}

#[test]
fn symbolic_links_must_be_covered_at_both_ends() {
    let links = Links::new(&[
        ("/repo/notes", Some("/etc")),
        ("/repo/broken", None),
        ("/tmp", Some("/private/tmp")),
        ("/repo/config", Some("/repo/.claude")),
    ]);
    let label = |tool: &str, path: &str, updates: &[Value]| {
        let input = json!({ "file_path": path });
        let suggestions = json!(updates);
        let call = call(tool, &input, &links);
        let mut ask = AskContext::new(&call, "toolu_1");
        ask.suggestions = Some(&suggestions);
        durable_label(&prepare(&ask).unwrap())
    };
    assert_eq!(
        label("Read", "/repo/notes/shadow", &[r("Read", "//repo/**")]),
        None,
        "leads out"
    );
    assert_eq!(
        label("Read", "/repo/broken", &[r("Read", "//repo/**")]),
        None,
        "leads nowhere"
    );
    assert!(
        label("Read", "/tmp/a/b", &[r("Read", "//tmp/a/**")]).is_some(),
        "the rule's root is a link itself"
    );
    assert!(
        label("Write", "/tmp/a/b", &[m("acceptEdits"), d(&["/tmp/a"])]).is_some(),
        "the directory is below a link"
    );
    assert_eq!(
        label("Edit", "/repo/config/settings.json", &[m("acceptEdits")]),
        None,
        "leads to the settings"
    );
    assert_eq!(
        label("Edit", "/repo/broken", &[m("acceptEdits")]),
        None,
        "may lead to the settings"
    );
}
