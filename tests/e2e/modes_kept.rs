//! Mode and options that outlive the process they were chosen for.

use e2e_tests::harness::{Agent, Client, World, no_questions};
use e2e_tests::model::{Reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::plan_support::{claudes, user_settings};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        mode_and_options_survive_a_killed_claude,
        a_mode_chosen_without_a_claude_is_that_of_the_next,
    ]
}

fn set_option(client: &mut Client, session: &str, id: &str, value: &str) {
    let params = json!({"sessionId": session, "configId": id, "value": value});
    client.call("session/set_config_option", params).unwrap();
}

/// A session that has had a prompt.
fn talked(world: &mut World) -> (Agent, Client, String) {
    world.model().script([text("hello")]);
    user_settings(world, "default");
    let (agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    client.ignore("current_mode_update");
    client
        .prompt(&session, "a zebra says hello", no_questions)
        .ignore_rest();
    (agent, client, session)
}

fn write(world: &World) -> [Reply; 2] {
    let input = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    [tool("toolu_w", "Write", input), text("made")]
}

fn mode_and_options_survive_a_killed_claude(world: &mut World) {
    let (agent, mut client, session) = talked(world);
    for (id, value) in [("model", "sonnet"), ("effort", "low"), ("mode", "acceptEdits")] {
        set_option(&mut client, &session, id, value);
    }
    world.kill_command("stream-json", &agent);
    world.wait_only(&agent);
    world.model().script(write(world));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(
        (turn.tool("toolu_w").status(), turn.text().as_str()),
        ("completed", "made")
    );
    let request = world.model().wait_request(1);
    assert!(request.mentions("a zebra says hello"), "resumed");
    assert!(request.body["model"].as_str().unwrap().contains("sonnet"));
    assert_eq!(request.body["output_config"]["effort"], "low");
    assert_eq!(claudes(world), 1);
}

fn a_mode_chosen_without_a_claude_is_that_of_the_next(world: &mut World) {
    let (agent, mut client, session) = talked(world);
    world.kill_command("stream-json", &agent);
    world.wait_only(&agent);
    set_option(&mut client, &session, "mode", "acceptEdits");
    set_option(&mut client, &session, "model", "sonnet");
    world.model().script(write(world));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(
        (turn.tool("toolu_w").status(), turn.text().as_str()),
        ("completed", "made")
    );
    assert!(
        world.model().wait_request(1).body["model"]
            .as_str()
            .unwrap()
            .contains("sonnet")
    );
}
