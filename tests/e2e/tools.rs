//! Tool calls that the real CLI runs, and how they look to a client.

use std::time::Duration;

use e2e_tests::harness::{World, allow_once, no_questions};
use e2e_tests::model::{reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        bash_and_write_run_after_approval,
        a_failing_command_is_shown_as_failed,
        read_shows_the_file_and_its_place,
        edit_shows_the_change,
        an_unknown_tool_fails_and_the_turn_goes_on,
        two_calls_in_one_message_are_both_shown,
        a_file_is_shown_while_the_model_writes_it,
    ]
}

fn bash_and_write_run_after_approval(world: &mut World) {
    let (by_bash, by_write) = (
        world.project().join("bash.txt"),
        world.project().join("write.txt"),
    );
    let command = format!("echo out && touch {}", by_bash.display());
    world.model().script([
        reply().text("First. ").tool(
            "toolu_1",
            "Bash",
            json!({"command": command, "description": "Touch"}),
        ),
        tool(
            "toolu_2",
            "Write",
            json!({"file_path": by_write, "content": "written\n"}),
        ),
        text("All done."),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "make two files", allow_once);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.text(), "First. All done.");
    let asked: Vec<_> = turn
        .questions()
        .iter()
        .map(|q| q["toolCall"]["toolCallId"].clone())
        .collect();
    assert_eq!(asked, ["toolu_1", "toolu_2"]);

    let bash = turn.tool("toolu_1");
    assert_eq!(
        (bash.str("kind"), bash.str("title")),
        ("execute", command.as_str())
    );
    assert_eq!(bash.statuses.first().map(String::as_str), Some("pending"));
    assert_eq!(bash.status(), "completed");
    assert_eq!(bash.get("rawInput")["command"], command.as_str());
    assert!(bash.content_text().contains("out"), "{bash:?}");
    assert!(by_bash.exists());

    let write = turn.tool("toolu_2");
    assert_eq!(
        (write.str("kind"), write.str("title")),
        ("edit", "Write write.txt")
    );
    assert_eq!(write.status(), "completed");
    let diff = &write.get("content")[0];
    assert_eq!(
        (&diff["type"], &diff["newText"]),
        (&json!("diff"), &json!("written\n"))
    );
    assert_eq!(diff["oldText"], json!(null));
    assert_eq!(std::fs::read_to_string(by_write).unwrap(), "written\n");
}

fn a_failing_command_is_shown_as_failed(world: &mut World) {
    let command = json!({"command": "echo trouble >&2; exit 3"});
    world
        .model()
        .script([tool("toolu_1", "Bash", command), text("it failed")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "fail", allow_once);
    let bash = turn.tool("toolu_1");
    assert_eq!(bash.status(), "failed");
    assert!(bash.content_text().contains("trouble"), "{bash:?}");
    assert_eq!(turn.text(), "it failed");
    assert!(
        world
            .model()
            .wait_request(1)
            .tool_result("toolu_1")
            .unwrap()
            .contains("trouble")
    );
}

fn read_shows_the_file_and_its_place(world: &mut World) {
    let file = world.project().join("a.txt");
    std::fs::write(&file, "one\ntwo\n```\nthree\n").unwrap();
    world
        .model()
        .script([tool("toolu_1", "Read", json!({"file_path": file})), text("read")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "read", no_questions);
    let read = turn.tool("toolu_1");
    assert_eq!(
        (read.status(), read.str("kind"), read.str("title")),
        ("completed", "read", "Read a.txt")
    );
    assert_eq!(read.get("locations")[0]["path"], file.to_str().unwrap());
    let content = read.content_text();
    assert!(
        content.starts_with("````"),
        "a fence longer than the one inside: {content}"
    );
    assert!(content.contains("two"), "{content}");
    assert_eq!(turn.text(), "read");
}

fn edit_shows_the_change(world: &mut World) {
    let file = world.project().join("a.txt");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    world.model().script([
        tool("toolu_1", "Read", json!({"file_path": file})),
        tool(
            "toolu_2",
            "Edit",
            json!({"file_path": file, "old_string": "two", "new_string": "2"}),
        ),
        text("edited"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "edit", allow_once);
    turn.tool("toolu_1");
    let edit = turn.tool("toolu_2");
    assert_eq!(
        (edit.status(), edit.str("kind"), edit.str("title")),
        ("completed", "edit", "Edit a.txt")
    );
    let diff = &edit.get("content")[0];
    assert_eq!(diff["type"], "diff");
    assert!(diff["oldText"].as_str().unwrap().contains("two"), "{diff}");
    assert!(diff["newText"].as_str().unwrap().contains('2'), "{diff}");
    assert_eq!(turn.text(), "edited");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "one\n2\nthree\n");
}

fn an_unknown_tool_fails_and_the_turn_goes_on(world: &mut World) {
    world
        .model()
        .script([tool("toolu_1", "NoSuchTool", json!({"a": 1})), text("never mind")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "try", no_questions);
    let call = turn.tool("toolu_1");
    assert_eq!(
        (call.status(), call.str("kind"), call.str("title")),
        ("failed", "other", "NoSuchTool")
    );
    assert_eq!(turn.text(), "never mind");
}

fn two_calls_in_one_message_are_both_shown(world: &mut World) {
    let bash = |n: u32| json!({"command": format!("echo number-{n} > n{n}.txt; echo number-{n}")});
    world.model().script([
        reply()
            .tool("toolu_1", "Bash", bash(1))
            .tool("toolu_2", "Bash", bash(2)),
        text("both"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "two", allow_once);
    for n in 1..=2 {
        let call = turn.tool(&format!("toolu_{n}"));
        assert_eq!(call.status(), "completed");
        assert!(call.content_text().contains(&format!("number-{n}")), "{call:?}");
        assert!(world.project().join(format!("n{n}.txt")).exists());
    }
    assert_eq!(turn.text(), "both");
}

fn a_file_is_shown_while_the_model_writes_it(world: &mut World) {
    let file = world.project().join("long.txt");
    let content = "another line of text\n".repeat(40);
    let input = json!({"file_path": file, "content": content});
    let pace = Duration::from_millis(150);
    world.model().script([
        reply().slow_tool("toolu_1", "Write", input, pace),
        text("Written."),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "write it", allow_once);
    let mut shown: Vec<&str> = Vec::new();
    for update in turn.updates() {
        if update["toolCallId"] == "toolu_1" && update["rawInput"].is_null() {
            shown.extend(update["content"][0]["newText"].as_str());
        }
    }
    assert!(shown.len() >= 3, "{shown:?}");
    assert!(shown.iter().all(|text| content.starts_with(text)), "{shown:?}");
    let call = turn.tool("toolu_1");
    assert_eq!(
        (call.str("title"), call.status()),
        ("Write long.txt", "completed")
    );
    assert_eq!(call.get("rawInput")["content"], content.as_str());
    assert_eq!(std::fs::read_to_string(file).unwrap(), content);
    turn.ignore_rest();
}
