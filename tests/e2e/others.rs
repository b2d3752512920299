//! Clients that others wrote: the official client crate's and npm's acpx.

use std::process::{Command, Stdio};

use e2e_tests::harness::{Transport, World};
use e2e_tests::model::{reply, text, tool};
use e2e_tests::setup;
use serde_json::{Value, json};

use crate::case::{Case, cases};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio, OfficialClient: the_official_client_drives_a_whole_conversation];
    all.extend(cases![Claude, Tcp, OfficialClient: the_official_client_drives_a_whole_conversation]);
    all.extend(cases![Claude, Stdio, Acpx: acpx_runs_a_prompt]);
    all
}

fn the_official_client_drives_a_whole_conversation(world: &mut World) {
    let (by_bash, by_write) = (
        world.project().join("bash.txt"),
        world.project().join("write.txt"),
    );
    world.model().script([
        reply().thinking("let me think").text("First. ").tool(
            "toolu_1",
            "Bash",
            json!({"command": format!("touch {}", by_bash.display())}),
        ),
        tool(
            "toolu_2",
            "Write",
            json!({"file_path": by_write, "content": "written\n"}),
        ),
        text("All done."),
        reply().text("Hm").then_hangs(),
    ]);
    let mut command = Command::new(setup::official_client().unwrap());
    command
        .args(["--cwd", &world.cwd()])
        .env_clear()
        .envs(world.environment());
    let agent = match world.transport() {
        Transport::Stdio => {
            command.arg("--").arg(setup::agent_binary());
            None
        }
        Transport::Tcp | Transport::Unix => {
            let agent = world.agent();
            command.args(["--connect", agent.address().trim_start_matches("tcp://")]);
            Some(agent)
        }
    };
    let verdict = verdict(&mut command);
    let first = &verdict["prompt"];
    assert_eq!(first["stopReason"], "end_turn", "{verdict}");
    assert_eq!(
        (&first["text"], &first["thoughts"]),
        (&json!("First. All done."), &json!("let me think"))
    );
    assert_eq!(first["asked"], json!(["toolu_1", "toolu_2"]), "{verdict}");
    assert_eq!(
        first["toolCalls"],
        json!({"toolu_1": "completed", "toolu_2": "completed"}),
        "{verdict}"
    );
    assert_eq!(verdict["cancelled"]["stopReason"], "cancelled", "{verdict}");
    assert!(by_bash.exists());
    assert_eq!(std::fs::read_to_string(by_write).unwrap(), "written\n");
    drop(agent);
}

fn acpx_runs_a_prompt(world: &mut World) {
    let file = world.project().join("write.txt");
    world.model().script([
        tool(
            "toolu_1",
            "Write",
            json!({"file_path": file, "content": "written\n"}),
        ),
        text("All done."),
    ]);
    let (node, acpx) = setup::acpx().unwrap();
    let mut command = Command::new(node);
    command.arg(acpx);
    command
        .args(["--cwd", &world.cwd(), "--approve-all", "--agent"])
        .arg(setup::agent_binary());
    command
        .args(["exec", "write a file"])
        .env_clear()
        .envs(world.environment())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(shown.contains("All done."), "{shown}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written\n");
}

/// Runs the driver; its last line is the verdict.
fn verdict(command: &mut Command) -> Value {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}\n{complaint}");
    serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap()
}
