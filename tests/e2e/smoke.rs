//! The same small conversation on every backend and transport: text, thoughts, a tool call after approval, a
//! rejection and a cancelled turn.

use e2e_tests::harness::{Backend, World, allow_once, reject_once};
use e2e_tests::model::{reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Tcp: a_whole_conversation];
    all.extend(cases![Claude, Unix: a_whole_conversation]);
    all.extend(cases![Rehearsal, Stdio: a_whole_conversation]);
    all.extend(cases![Rehearsal, Tcp: a_whole_conversation]);
    all.extend(cases![Rehearsal, Unix: a_whole_conversation]);
    all
}

fn a_whole_conversation(world: &mut World) {
    prepare(world);
    let (_agent, mut client, session) = open(world);

    let mut turn = client.prompt(&session, "write", allow_once);
    assert_eq!(turn.thoughts(), "let me think");
    let call = turn.tool("toolu_1");
    assert_eq!(
        (call.status(), call.str("kind"), call.str("title")),
        ("completed", "edit", "Write made.txt")
    );
    assert_eq!(turn.text(), "Writing. Written.");
    assert_eq!((turn.questions().len(), turn.stop_reason()), (1, "end_turn"));

    let mut turn = client.prompt(&session, "write more", reject_once);
    let call = turn.tool("toolu_2");
    assert_eq!((call.status(), call.str("kind")), ("failed", "execute"));
    assert_eq!(turn.text(), "Then not.");
    assert_eq!((turn.questions().len(), turn.stop_reason()), (1, "end_turn"));

    let prompt = client.start_prompt(&session, "think for ever");
    assert_eq!(
        client.update(&session, "agent_message_chunk")["content"]["text"],
        "Hm"
    );
    client.cancel(&session);
    assert_eq!(
        client.finish_prompt(&prompt, allow_once).stop_reason(),
        "cancelled"
    );

    if world.backend() == Backend::Claude {
        assert_eq!(
            std::fs::read_to_string(world.project().join("made.txt")).unwrap(),
            "made\n"
        );
        assert!(!world.project().join("more.txt").exists());
    }
}

/// Scripts the model or the rehearsal to say the same.
fn prepare(world: &mut World) {
    let write = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    let touch = json!({"command": "touch more.txt", "description": "Touch"});
    match world.backend() {
        Backend::Claude => world.model().script([
            reply().thinking("let me think").text("Writing. ").tool("toolu_1", "Write", write),
            text("Written."),
            tool("toolu_2", "Bash", touch),
            text("Then not."),
            reply().text("Hm").then_hangs(),
        ]),
        Backend::Rehearsal => world.rehearse(
            &json!({"version": 1, "about": "a conversation", "turns": [
                {"steps": [
                    {"thinking": "let me think"},
                    {"text": "Writing. "},
                    {"tool": {"name": "Write", "id": "toolu_1", "input": write, "ask": true, "result": "written"}},
                    {"text": "Written."},
                ]},
                {"steps": [
                    {"tool": {"name": "Bash", "id": "toolu_2", "input": touch, "ask": true, "result": ""}},
                    {"text": "Then not."},
                ]},
                {"steps": [{"text": "Hm"}, {"wait_for": "interrupt"}]},
            ]})
            .to_string(),
        ),
    }
}
