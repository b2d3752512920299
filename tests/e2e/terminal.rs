//! Stored conversations on the terminal: listed, shown, exported and gone on with.

use e2e_tests::harness::{World, allow_once, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_conversation_is_told_on_the_terminal,
        a_chat_goes_on_with_the_newest_conversation,
    ]
}

/// Runs the program in the session's folder; its output.
fn told(world: &World, arguments: &[&str]) -> String {
    let output = world
        .command(arguments)
        .current_dir(world.cwd())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn a_conversation_is_told_on_the_terminal(world: &mut World) {
    let write = json!({"file_path": format!("{}/new.txt", world.cwd()), "content": "one\n<two>\n"});
    world.model().script([
        tool("t1", "Write", write),
        text("It is **there**."),
        text("again"),
    ]);
    let (mut agent, mut client, session) = open(world);
    client.prompt(&session, "write it", allow_once).ignore_rest();
    client.prompt(&session, "and?", no_questions).text();
    drop(client);
    agent.wait_end();

    let listed = told(world, &["sessions", "list"]);
    assert!(
        listed.starts_with(&session) && listed.contains("  write it\n"),
        "{listed}"
    );
    let row: Value = serde_json::from_str(&told(world, &["sessions", "list", "--json"])).unwrap();
    assert_eq!(
        (&row["sessionId"], &row["cwd"], &row["title"]),
        (&json!(session), &json!(world.cwd()), &json!("write it"))
    );
    let shown = told(world, &["sessions", "show", &session]);
    let said = [
        "## You\n\nwrite it\n\n## Claude\n",
        "+<two>\n",
        "It is **there**.\n\n## You\n\nand?\n",
    ];
    for piece in said {
        assert!(shown.contains(piece), "{piece:?} in {shown}");
    }
    let page = told(world, &["sessions", "export", &session]);
    for piece in [
        "<span class=\"added\">+&lt;two&gt;</span>",
        "<strong>there</strong>",
        "class=\"asked\"",
    ] {
        assert!(page.contains(piece), "{piece:?} in {page}");
    }
}

fn a_chat_goes_on_with_the_newest_conversation(world: &mut World) {
    world
        .model()
        .script([text("first answer"), text("second answer")]);
    let (mut agent, mut client, session) = open(world);
    client.prompt(&session, "remember me", no_questions).text();
    drop(client);
    agent.wait_end();

    let answer = told(world, &["chat", "--continue", "and now?"]);
    assert_eq!(answer, "second answer\n");
    let request = world.model().requests().pop().unwrap();
    assert!(request.mentions("remember me") && request.mentions("first answer"));
}
