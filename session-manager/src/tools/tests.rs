//! Tables: what each tool family shows of a call, and what its result adds.

use std::path::Path;

use acp_proto::schema::ToolCallUpdate;
use claude_sdk_bridge::messages::{Content, FromWire};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const CWD: &str = "/w/project";
const PLAIN: TerminalSupport = TerminalSupport::None;

fn presenting(terminal: TerminalSupport) -> Presenting<'static> {
    Presenting {
        cwd: Path::new(CWD),
        terminal,
        seen: None,
    }
}

fn call<'a>(name: &'a str, input: &'a Value) -> ToolCallRef<'a> {
    ToolCallRef {
        id: "toolu_1",
        name,
        input,
        parent: None,
    }
}

fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

fn diff(path: &str, old: Option<&str>, new: &str) -> Value {
    match old {
        Some(old) => json!({"type": "diff", "path": path, "oldText": old, "newText": new}),
        None => json!({"type": "diff", "path": path, "newText": new}),
    }
}

/// One view, as `[title, kind, content, locations]`; trailing parts that do not matter are left out.
fn check_view(name: &str, input: Value, expected: Value) {
    let view = view(&call(name, &input), &presenting(PLAIN));
    let shown = json!([view.title, view.kind, view.content, view.locations]);
    let compared = expected.as_array().unwrap().len();
    assert_eq!(
        json!(shown.as_array().unwrap()[..compared]),
        expected,
        "{name} {input}"
    );
}

struct Case {
    name: &'static str,
    input: Value,
    content: Value,
    structured: Value,
    is_error: bool,
    terminal: TerminalSupport,
}

fn ok(name: &'static str, input: Value, content: Value, structured: Value) -> Case {
    Case {
        name,
        input,
        content,
        structured,
        is_error: false,
        terminal: PLAIN,
    }
}

fn failed(name: &'static str, input: Value, content: &str) -> Case {
    Case {
        is_error: true,
        ..ok(name, input, json!(content), json!(format!("Error: {content}")))
    }
}

fn updates(case: &Case) -> Vec<ToolCallUpdate> {
    let content = Content::from_wire(case.content.clone()).unwrap_or_default();
    let structured = (!case.structured.is_null()).then_some(&case.structured);
    let result = ToolResultRef {
        content: &content,
        is_error: case.is_error,
        structured,
        non_execution: None,
    };
    outcome(&call(case.name, &case.input), &result, &presenting(case.terminal))
}

/// The content of the last update, which carries the status.
fn check_content(case: Case, expected: Value) {
    let updates = updates(&case);
    let last = serde_json::to_value(updates.last().unwrap()).unwrap();
    assert_eq!(last["status"], if case.is_error { "failed" } else { "completed" });
    assert_eq!(
        last["content"], expected,
        "{} {} -> {}",
        case.name, case.input, case.content
    );
}

/// Tool, input, title, kind.
const TITLES: &[[&str; 4]] = &[
    ["Bash", "{}", "Terminal", "execute"],
    ["Bash", r#"{"command": "a  &&\n\tb"}"#, "a  &&\n\tb", "execute"],
    ["Monitor", r#"{"command": "a  &&\n\tb"}"#, "a  &&\n\tb", "execute"],
    ["Monitor", "{}", "Monitor", "other"],
    [
        "PowerShell",
        r#"{"command": "Get-Item ."}"#,
        "Get-Item .",
        "execute",
    ],
    ["Read", "{}", "Read File", "read"],
    ["Read", r#"{"file_path": "/w/project/a"}"#, "Read a", "read"],
    [
        "Read",
        r#"{"file_path": "/w/project/a", "offset": 2, "limit": 2}"#,
        "Read a (2 - 3)",
        "read",
    ],
    [
        "Read",
        r#"{"file_path": "/w/project/a", "limit": 10}"#,
        "Read a (1 - 10)",
        "read",
    ],
    [
        "Read",
        r#"{"file_path": "/etc/hosts", "offset": 3}"#,
        "Read /etc/hosts (from line 3)",
        "read",
    ],
    ["Write", "{}", "Preparing file…", "edit"],
    [
        "Write",
        r#"{"file_path": "/w/project/new.txt"}"#,
        "Write new.txt",
        "edit",
    ],
    ["Edit", "{}", "Edit", "edit"],
    ["Edit", r#"{"file_path": "/w/project/a"}"#, "Edit a", "edit"],
    ["NotebookEdit", "{}", "NotebookEdit", "edit"],
    [
        "NotebookEdit",
        r#"{"notebook_path": "n.ipynb", "cell_id": "c1"}"#,
        "Edit n.ipynb (cell c1)",
        "edit",
    ],
    [
        "NotebookEdit",
        r#"{"notebook_path": "n.ipynb", "edit_mode": "delete"}"#,
        "Delete cell in n.ipynb",
        "edit",
    ],
    ["Glob", "{}", "Find", "search"],
    [
        "Glob",
        r#"{"pattern": "**/*.rs", "path": "/w/project/src"}"#,
        "Find `/w/project/src` `**/*.rs`",
        "search",
    ],
    ["Grep", "{}", "grep", "search"],
    [
        "Grep",
        r#"{"pattern": "p", "-n": true, "-i": true, "output_mode": "content", "-A": 1, "glob": "*.py", "head_limit": 5}"#,
        r#"grep -i -n -A 1 | head -5 --include="*.py" "p""#,
        "search",
    ],
    [
        "Grep",
        r#"{"pattern": "main", "output_mode": "count", "path": "/w/src", "type": "py", "multiline": true}"#,
        r#"grep -c --type=py -P "main" /w/src"#,
        "search",
    ],
    ["LS", r#"{"path": "/w/project/src"}"#, "List src", "search"],
    ["WebFetch", "{}", "Fetch", "fetch"],
    [
        "WebFetch",
        r#"{"url": "https://x.example/p", "prompt": "Sum up"}"#,
        "Fetch https://x.example/p",
        "fetch",
    ],
    ["WebSearch", "{}", "Web search", "fetch"],
    ["WebSearch", r#"{"query": "acp"}"#, "Search \"acp\"", "fetch"],
    ["Agent", "{}", "Task", "think"],
    [
        "Task",
        r#"{"description": "Look around", "effort": "high"}"#,
        "Look around (high effort)",
        "think",
    ],
    ["Skill", "{}", "Load skill", "other"],
    ["Skill", r#"{"skill": "greet"}"#, "Load skill: greet", "other"],
    [
        "TodoWrite",
        r#"{"todos": [{"content": "a"}, {"content": "b"}]}"#,
        "Update TODOs: a, b",
        "think",
    ],
    ["TaskCreate", r#"{"subject": "s"}"#, "Create task: s", "think"],
    ["TaskUpdate", r#"{"taskId": "3"}"#, "Update task: #3", "think"],
    ["TaskList", "{}", "List tasks", "think"],
    ["TaskGet", "{}", "Get task", "think"],
    ["EnterPlanMode", "{}", "EnterPlanMode", "switch_mode"],
    [
        "ExitPlanMode",
        r##"{"plan": "# P"}"##,
        "Approve Plan",
        "switch_mode",
    ],
    ["AskUserQuestion", "{}", "Asking for your input", "other"],
    [
        "AskUserQuestion",
        r#"{"questions": [{"question": "A?"}]}"#,
        "A?",
        "other",
    ],
    [
        "AskUserQuestion",
        r#"{"questions": [{"question": "A?"}, {"question": "B?"}]}"#,
        "Asking for your input",
        "other",
    ],
    ["ReportFindings", "{}", "Report findings: none found", "think"],
    ["mcp__tiny__echo", r#"{"text": "x"}"#, "mcp__tiny__echo", "other"],
    ["ToolSearch", "{}", "ToolSearch", "other"],
    ["", "{}", "Unknown Tool", "other"],
];

#[test]
fn titles_and_kinds_name_what_is_done() {
    for [name, input, title, kind] in TITLES {
        check_view(name, serde_json::from_str(input).unwrap(), json!([title, kind]));
    }
}

#[test]
fn calls_show_what_they_are_about_to_do() {
    let ls = json!({"command": "ls", "description": "List"});
    check_view("Bash", ls, json!(["ls", "execute", [text("List")], null]));
    check_view(
        "Bash",
        json!({"command": "ls"}),
        json!(["ls", "execute", [], null]),
    );
    check_view(
        "Agent",
        json!({"prompt": "Do it"}),
        json!(["Task", "think", [text("Do it")], null]),
    );
    let plan = |content: Value| json!(["Approve Plan", "switch_mode", content, null]);
    check_view("ExitPlanMode", json!({"plan": "# P"}), plan(json!([text("# P")])));
    check_view("ExitPlanMode", json!({"plan": " \n"}), plan(json!([])));
    let findings = json!([{"file": "a.rs", "line": 3, "summary": "off by one"}, {"summary": "more"}, {}]);
    let shown = json!([text("**a.rs:3** — off by one"), text("more")]);
    check_view(
        "ReportFindings",
        json!({"findings": findings}),
        json!(["Report 3 findings", "think", shown, null]),
    );
}

#[test]
fn calls_on_files_show_their_change_and_their_place() {
    let place = |line: Option<u32>| match line {
        Some(line) => json!([{"path": "/w/project/n", "line": line}]),
        None => json!([{"path": "/w/project/n"}]),
    };
    let check = |name: &str, input: Value, title: &str, content: Value| {
        check_view(name, input, json!([title, "edit", content, place(None)]));
    };
    let created = diff("/w/project/n", None, "x\n");
    check(
        "Write",
        json!({"path": "n", "file_text": "x\n"}),
        "Write n",
        json!([created]),
    );
    let edit =
        |old: &str, new: &str| json!({"file_path": "/w/project/n", "old_string": old, "new_string": new});
    check("Edit", edit("", "x\n"), "Edit n", json!([created]));
    check(
        "Edit",
        edit("gone", ""),
        "Edit n",
        json!([diff("/w/project/n", Some("gone"), "")]),
    );
    let several = json!({"file_path": "n", "edits": [edit("a", "b"), edit("c", "d")]});
    let both = [
        diff("/w/project/n", Some("a"), "b"),
        diff("/w/project/n", Some("c"), "d"),
    ];
    check("MultiEdit", several, "Edit n", json!(both));
    let cell = json!({"notebook_path": "n", "new_source": "print(2)"});
    check(
        "NotebookEdit",
        cell,
        "Edit n",
        json!([text("```\nprint(2)\n```")]),
    );

    check_view(
        "Write",
        json!({"content": "x"}),
        json!(["Preparing file…", "edit", [text("x")], []]),
    );
    let read = json!({"file_path": "n", "offset": 7});
    check_view(
        "Read",
        read,
        json!(["Read n (from line 7)", "read", [], place(Some(7))]),
    );
    check_view("Read", json!({}), json!(["Read File", "read", [], []]));
}

#[test]
fn a_write_over_a_file_that_was_read_shows_what_it_replaces() {
    let mut seen = SeenFiles::default();
    let read = json!({"type": "text", "file": {"filePath": "/w/project/a", "content": "old\n", "startLine": 1, "numLines": 2, "totalLines": 2}});
    let nothing = json!({});
    seen.learn(&call("Read", &nothing), &read);
    let ctx = Presenting {
        seen: Some(&seen),
        ..presenting(PLAIN)
    };
    let input = json!({"file_path": "/w/project/a", "content": "new\n"});
    let write = call("Write", &input);
    let shown = |content: Vec<ToolCallContent>| serde_json::to_value(content).unwrap();
    assert_eq!(
        shown(view(&write, &ctx).content),
        json!([diff("/w/project/a", Some("old\n"), "new\n")])
    );
    // Claude says that the file was new after all.
    let content = Content::from("File created");
    let created =
        json!({"type": "create", "filePath": "/w/project/a", "content": "new\n", "structuredPatch": []});
    let result = ToolResultRef {
        content: &content,
        is_error: false,
        structured: Some(&created),
        non_execution: None,
    };
    let updates = outcome(&write, &result, &ctx);
    assert_eq!(
        shown(updates[0].fields.content.clone().unwrap()),
        json!([diff("/w/project/a", None, "new\n")])
    );
}

#[test]
fn shell_output_is_a_console_block_that_content_cannot_break() {
    let command = || json!({"command": "x", "description": "d"});
    let output = |stdout: &str, stderr: &str| json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false});
    check_content(
        ok("Bash", command(), json!("hello\nerr"), output("hello\n", "err\n")),
        json!([text("```console\nhello\nerr\n```")]),
    );
    check_content(
        ok("Bash", command(), json!("x"), output("a```b\n```\ncode\n```", "")),
        json!([text("````console\na```b\n```\ncode\n```\n````")]),
    );
    check_content(
        ok(
            "Bash",
            command(),
            json!("(Bash completed with no output)"),
            output("", ""),
        ),
        json!(null),
    );
    check_content(
        ok(
            "Bash",
            command(),
            json!("(Bash completed with no output)"),
            json!(null),
        ),
        json!(null),
    );
    check_content(
        ok("Bash", command(), json!("plain\n"), json!(null)),
        json!([text("```console\nplain\n```")]),
    );
    check_content(
        failed("Bash", command(), "Exit code 3"),
        json!([text("```\nExit code 3\n```")]),
    );
    let cut = json!({"stdout": "head", "interrupted": true, "persistedOutputPath": "/t/o", "persistedOutputSize": 9});
    check_content(
        ok("Bash", command(), json!("x"), cut),
        json!([text(
            "```console\nhead\n[Output truncated (9 bytes total): full output saved to /t/o]\n[Command was aborted before completion]\n```"
        )]),
    );
    let image = json!({"stdout": "data:image/png;base64,AAAA", "isImage": true});
    check_content(
        ok("Bash", command(), json!("x"), image),
        json!([{"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}]),
    );
}

#[test]
fn background_launches_are_shown_without_what_is_meant_for_the_model() {
    let launch = "Command running in background with ID: b9. Output is being written to: /t/b9.output. You will be notified when it completes. To check interim output, use Read on that file path.";
    let shown = json!([text(
        "```console\nRunning in the background as task b9. Output goes to /t/b9.output\n```"
    )]);
    let structured = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b9"});
    for structured in [structured, json!(null)] {
        let case = ok("Bash", json!({"command": "x"}), json!(launch), structured);
        check_content(case, shown.clone());
    }
    let agent = "Async agent launched successfully. (This tool result is internal metadata — never quote)\nagentId: a1";
    for structured in [
        json!({"isAsync": true, "status": "async_launched", "agentId": "a1"}),
        json!(null),
    ] {
        let case = ok(
            "Agent",
            json!({}),
            json!([{"type": "text", "text": agent}]),
            structured,
        );
        check_content(case, json!([text("The agent is working in the background.")]));
    }
}

#[test]
fn display_terminals_get_the_output_once_and_their_exit_with_the_status() {
    let bash = |content: &str, structured: Value, is_error: bool, terminal: TerminalSupport| {
        let case = Case {
            is_error,
            terminal,
            ..ok("Bash", json!({"command": "x"}), json!(content), structured)
        };
        serde_json::to_value(updates(&case)).unwrap()
    };
    let exit = |code: Value| json!({"terminal_id": "toolu_1", "exit_code": code, "signal": null});
    let name = json!({"toolName": "Bash"});
    assert_eq!(
        bash("out", json!({"stdout": "out"}), false, TerminalSupport::Output),
        json!([
            {"toolCallId": "toolu_1", "_meta": {"terminal_output": {"terminal_id": "toolu_1", "data": "out"}}},
            {"toolCallId": "toolu_1", "status": "completed", "_meta": {"claudeCode": name, "terminal_exit": exit(json!(0))}},
        ]),
    );
    assert_eq!(
        bash(
            "Exit code 3\nboom",
            json!("Error: x"),
            true,
            TerminalSupport::Delta
        ),
        json!([
            {"toolCallId": "toolu_1", "_meta": {"terminal_output_delta": {"terminal_id": "toolu_1", "data": "Exit code 3\nboom"}}},
            {"toolCallId": "toolu_1", "status": "failed", "_meta": {"claudeCode": name, "terminal_exit": exit(json!(3))}},
        ]),
    );
    let silent = bash(
        "(Bash completed with no output)",
        json!({"stdout": ""}),
        false,
        TerminalSupport::Output,
    );
    assert_eq!(silent.as_array().unwrap().len(), 1);
    let background = bash(
        "x",
        json!({"stdout": "", "backgroundTaskId": "b9"}),
        false,
        TerminalSupport::Output,
    );
    assert_eq!(
        background[1]["_meta"],
        json!({"claudeCode": name}),
        "the exit comes when the task ends"
    );
}

#[test]
fn files_are_shown_numbered_and_whole_or_with_a_note() {
    let read = || json!({"file_path": "/w/project/a"});
    let file = |text: &str, start: u64, lines: u64, total: u64| json!({"type": "text", "file": {"content": text, "startLine": start, "numLines": lines, "totalLines": total}});
    check_content(
        ok("Read", read(), json!("1\tone"), file("one\ntwo\n", 1, 3, 3)),
        json!([text("```\n1\tone\n2\ttwo\n```")]),
    );
    let part = json!({"file_path": "/w/project/a", "offset": 2, "limit": 1});
    check_content(
        ok("Read", part, json!("2\ttwo"), file("two", 2, 1, 3)),
        json!([text("```\n2\ttwo\n```")]),
    );
    check_content(
        ok("Read", read(), json!("1\tone"), file("one", 1, 1, 90)),
        json!([
            text("```\n1\tone\n```"),
            text("[File truncated: showing 1 of 90 lines]")
        ]),
    );
    let reminder = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>";
    check_content(
        ok("Read", read(), json!(reminder), file("", 1, 1, 1)),
        json!([text("The file is empty.")]),
    );
    check_content(
        ok(
            "Read",
            read(),
            json!("1\tone\n\n<system-reminder>\nCareful.\n</system-reminder>\n"),
            json!(null),
        ),
        json!([text("```\n1\tone\n```")]),
    );
    check_content(
        ok(
            "Read",
            read(),
            json!("x"),
            json!({"type": "image", "file": {"base64": "AAAA", "type": "image/png"}}),
        ),
        json!([{"type": "content", "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}}]),
    );
    check_content(
        failed(
            "Read",
            read(),
            "<tool_use_error>File is in a denied directory.</tool_use_error>",
        ),
        json!([text("```\nFile is in a denied directory.\n```")]),
    );
}

#[test]
fn changed_files_are_shown_as_one_diff_a_hunk_with_its_line() {
    let patch = json!([
        {"oldStart": 1, "newStart": 1, "lines": [" one", "-two", "+2", " three", "\\ No newline at end of file"]},
        {"oldStart": 40, "newStart": 41, "lines": ["+added"]}, {"lines": []}, 3,
    ]);
    let structured = json!({"filePath": "/w/project/a", "structuredPatch": patch, "originalFile": "…"});
    let case = ok(
        "Edit",
        json!({"file_path": "/w/project/a", "old_string": "two", "new_string": "2"}),
        json!("updated"),
        structured,
    );
    let update = serde_json::to_value(&updates(&case)[0]).unwrap();
    assert_eq!(
        update["locations"],
        json!([{"path": "/w/project/a", "line": 1}, {"path": "/w/project/a", "line": 41}])
    );
    check_content(
        case,
        json!([
            diff("/w/project/a", Some("one\ntwo\nthree"), "one\n2\nthree"),
            diff("/w/project/a", None, "added")
        ]),
    );

    let write = || json!({"file_path": "/w/project/a", "content": "new"});
    let update = |rest: Value| {
        let mut structured = json!({"type": "update", "filePath": "/w/project/a", "structuredPatch": []});
        structured
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        ok("Write", write(), json!("updated"), structured)
    };
    check_content(
        update(json!({"originalFile": "old", "content": "new"})),
        json!([diff("/w/project/a", Some("old"), "new")]),
    );
    check_content(
        update(json!({"originalFile": null, "content": "new"})),
        json!([text("Updated `a` (previous content too large to diff)")]),
    );
    check_content(
        ok(
            "Write",
            write(),
            json!("created"),
            json!({"type": "create", "filePath": "/w/project/a"}),
        ),
        json!(null),
    );
}

#[test]
fn a_failed_change_keeps_what_was_proposed() {
    let edit = || json!({"file_path": "/w/project/a", "old_string": "zzz", "new_string": "y"});
    let proposed = diff("/w/project/a", Some("zzz"), "y");
    check_content(
        failed(
            "Edit",
            edit(),
            "<tool_use_error>String to replace not found in file.</tool_use_error>",
        ),
        json!([proposed, text("```\nString to replace not found in file.\n```")]),
    );
    check_content(
        failed("Edit", edit(), "User refused"),
        json!([proposed, text("```\nUser refused\n```")]),
    );
    check_content(
        failed("ExitPlanMode", json!({"plan": "# P"}), "Please add tests"),
        json!([text("# P"), text("```\nPlease add tests\n```")]),
    );
}

#[test]
fn refusals_are_phrased_for_people() {
    let rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";
    let stopped = format!(
        "{rejected} Correction to the text above: this call was stopped while running, not refused before it ran."
    );
    let reasoned = format!("{rejected} To tell you how to proceed, the user said:\nuse cargo");
    let denied = "Permission to use Bash has been denied because of the mode. IMPORTANT: You *may* attempt to accomplish this action using other tools";
    for (raw, shown) in [
        (rejected, "The call did not run: it was rejected or cancelled."),
        (
            &stopped,
            "Stopped while running. It may have run in part, and its changes may have been written.",
        ),
        (
            &reasoned,
            "The call did not run: it was rejected. The user said: use cargo",
        ),
        (
            denied,
            "```\nPermission to use Bash has been denied because of the mode.\n```",
        ),
    ] {
        check_content(failed("Bash", json!({"command": "x"}), raw), json!([text(shown)]));
    }
}

#[test]
fn results_are_shown_as_they_come() {
    check_content(
        ok("Glob", json!({}), json!("a.txt"), json!(null)),
        json!([text("a.txt")]),
    );
    check_content(
        ok(
            "WebFetch",
            json!({}),
            json!("# Page"),
            json!({"result": "# Page"}),
        ),
        json!([text("# Page")]),
    );
    let hi = || json!([{"type": "text", "text": "hi"}]);
    check_content(ok("mcp__t__echo", json!({}), hi(), hi()), json!([text("hi")]));
    check_content(
        failed("mcp__t__fail", json!({}), "it broke"),
        json!([text("```\nit broke\n```")]),
    );
    let unknown = "<tool_use_error>Error: No such tool available: Nope</tool_use_error>";
    let shown = text("```\nError: No such tool available: Nope\n```");
    check_content(failed("Nope", json!({}), unknown), json!([shown]));
}

#[test]
fn what_a_result_says_to_the_model_only_is_left_out() {
    let hits = json!({"results": ["Found.", {"content": [{"title": "T", "url": "https://x"}, {"url": "https://y"}]}]});
    let search = ok("WebSearch", json!({}), json!("REMINDER: You MUST"), hits);
    check_content(search, json!([text("Found.\nT (https://x)\nhttps://y")]));
    check_content(
        ok("Skill", json!({}), json!("Launching skill: x"), json!(null)),
        json!(null),
    );
    let entered = ok(
        "EnterPlanMode",
        json!({}),
        json!("Entered plan mode. You should now"),
        json!(null),
    );
    check_content(entered, json!([text("Entered plan mode.")]));
}

#[test]
fn a_subagents_report_is_shown_without_its_frame() {
    let tools = "<tools-used-before-summary>Bash</tools-used-before-summary>\n";
    let report = json!([{"type": "text", "text": tools}, {"type": "text", "text": "Done."}]);
    let completed = json!({"status": "completed", "content": report});
    check_content(
        ok("Agent", json!({}), json!("x"), completed),
        json!([text("Done.")]),
    );
    let framed = "[Subagent hand-back] The text below is the report. The report follows:\n  Line one.\n    indented\n\
        agentId: a1 (use SendMessage)\n<usage>subagent_tokens: 1</usage>";
    let raw = ok(
        "Task",
        json!({}),
        json!([{"type": "text", "text": framed}]),
        json!(null),
    );
    check_content(raw, json!([text("Line one.\n  indented")]));
}

#[test]
fn answers_are_shown_beside_their_questions() {
    let answers =
        json!({"answers": {"Which?": "Red", "Sizes?": "S, M"}, "annotations": {"Which?": {"notes": "dark"}}});
    let answered = ok("AskUserQuestion", json!({}), json!("x"), answers);
    check_content(
        answered,
        json!([text("**Which?** Red (dark)"), text("**Sizes?** S, M")]),
    );
    let none = ok("AskUserQuestion", json!({}), json!("x"), json!({"answers": {}}));
    check_content(none, json!([text("No answer was given.")]));
    check_content(
        ok("AskUserQuestion", json!({}), json!("as text"), json!(null)),
        json!([text("as text")]),
    );
}

#[test]
fn an_approved_plan_gets_its_title_and_an_edited_one_its_text() {
    let exit = |structured: Value| {
        let case = ok(
            "ExitPlanMode",
            json!({"plan": "# P"}),
            json!("User has approved"),
            structured,
        );
        serde_json::to_value(&updates(&case)[0]).unwrap()
    };
    let approved = exit(json!({"plan": "# P"}));
    assert_eq!(
        (&approved["title"], &approved["content"]),
        (&json!("Exited Plan Mode"), &json!(null))
    );
    assert_eq!(
        exit(json!({"plan": "# Q", "planWasEdited": true}))["content"],
        json!([text("# Q")])
    );
}

#[test]
fn a_permission_request_shows_the_call_as_it_was_announced() {
    let input = json!({"command": "rm -rf build", "description": "List files"});
    let child = ToolCallRef {
        parent: Some("toolu_0"),
        ..call("Bash", &input)
    };
    for bash in [call("Bash", &input), child] {
        let ctx = presenting(PLAIN);
        let announced = serde_json::to_value(tool_call(&bash, &ctx)).unwrap();
        let asked = serde_json::to_value(for_permission(&bash, &ctx)).unwrap();
        for key in ["toolCallId", "title", "name", "kind", "content", "rawInput"] {
            assert_eq!(asked[key], announced[key], "{key}");
        }
        assert_eq!(
            (&asked["status"], asked.get("locations")),
            (&json!("pending"), None)
        );
        assert_eq!(asked.get("_meta").is_some(), bash.parent.is_some());
    }
}

/// Keys that the families look for, and words that mean something to them.
const KEYS: &str = "command description file_path path offset limit content old_string new_string edits pattern -A \
    output_mode url prompt query todos questions question plan findings type text source data media_type file startLine \
    numLines totalLines filePath structuredPatch lines newStart originalFile stdout stderr isImage backgroundTaskId \
    status answers annotations results title base64 oldString newString taskId";
const WORDS: &[&str] = &[
    "text",
    "update",
    "image",
    "completed",
    "Exit code 99999999999",
    "data:;base64,",
    "../../..",
];

/// Any JSON.
fn odd_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "[a-z`\\n /.<>]{0,12}".prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
    ];
    let key = prop::sample::select(KEYS.split_whitespace().collect::<Vec<_>>());
    leaf.prop_recursive(4, 48, 6, move |inner| {
        let entry = (key.clone(), inner.clone()).prop_map(|(key, value)| (key.to_owned(), value));
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            prop::collection::vec(entry, 0..6).prop_map(|entries| entries.into_iter().collect::<Value>()),
        ]
    })
}

const NAMES: &[&str] = &[
    "Bash",
    "PowerShell",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "LS",
    "WebFetch",
    "WebSearch",
    "Agent",
    "Task",
    "Skill",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "EnterPlanMode",
    "ExitPlanMode",
    "AskUserQuestion",
    "ReportFindings",
    "mcp__a__b",
    "",
    "Whatever",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_input_or_result_breaks_a_family(
        name in prop::sample::select(NAMES),
        input in odd_json(),
        content in odd_json(),
        structured in prop::option::of(odd_json()),
        is_error in any::<bool>(),
        terminal in prop::sample::select(vec![TerminalSupport::None, TerminalSupport::Output, TerminalSupport::Delta]),
    ) {
        let content = Content::from_wire(content).unwrap_or_default();
        let result = ToolResultRef { content: &content, is_error, structured: structured.as_ref(), non_execution: Some("x") };
        let mut seen = SeenFiles::default();
        let call = call(name, &input);
        if let Some(structured) = &structured {
            seen.learn(&call, structured);
        }
        let ctx = Presenting { seen: Some(&seen), ..presenting(terminal) };
        prop_assert!(!tool_call(&call, &ctx).title.is_empty());
        let mut all = outcome(&call, &result, &ctx);
        prop_assert!(all.last().unwrap().fields.status.is_some());
        all.push(for_permission(&call, &ctx));
        all.push(unfinished(&call, "over", None, &ctx));
        all.push(refinement(&call, view(&call, &ctx), &ctx));
        for update in all {
            let wire = serde_json::to_value(&update).unwrap();
            prop_assert_eq!(serde_json::from_value::<ToolCallUpdate>(wire).unwrap(), update);
        }
    }
}
