//! What the tests of modes, of plan mode and of its hand-off begin with.

use e2e_tests::harness::{Agent, Answer, Client, Prompt, Turn, World};
use e2e_tests::model::{Reply, reply, text, tool};
use serde_json::{Value, json};

use crate::support::open;

/// The plan that the model makes.
pub(crate) const PLAN: &str = "# The plan\n\n1. Write `made.txt`\n2. Rest";

/// The user's settings. Without auto mode, which warns about gateways such as ours whenever it pleases, the mode that a
/// plan is approved for is `acceptEdits`.
pub(crate) fn user_settings(world: &World, mode: &str) {
    let settings = json!({"permissions": {"defaultMode": mode, "disableAutoMode": "disable"}});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
}

/// Writes a settings file of the world, at a path in its folder.
pub(crate) fn write_settings(world: &World, file: &str, text: &str) {
    let path = world.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // A reader finds the old text or the new one.
    let beside = path.with_extension("new");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, &path).unwrap();
}

/// A session that starts in plan mode.
pub(crate) fn plan_mode(world: &World) -> (Agent, Client, String) {
    user_settings(world, "plan");
    open(world)
}

/// The model's wish to leave plan mode, with the plan in the call.
pub(crate) fn exit_plan() -> Reply {
    reply().tool("toolu_p", "ExitPlanMode", json!({"plan": PLAN}))
}

/// The model's wish to enter plan mode.
pub(crate) fn enter_plan() -> Reply {
    reply().tool("toolu_e", "EnterPlanMode", json!({}))
}

/// A session that starts in `bypassPermissions`, whose model makes a plan and then a command.
pub(crate) fn bypass_to_plan(world: &mut World) -> (Agent, Client, String) {
    world.set_env("IS_SANDBOX", "1");
    world.model().script([
        enter_plan(),
        exit_plan(),
        tool("toolu_b", "Bash", json!({"command": "touch made.txt"})),
        text("built"),
    ]);
    user_settings(world, "bypassPermissions");
    open(world)
}

/// Fails unless the command of [`bypass_to_plan`] ran, in `bypassPermissions` again.
#[track_caller]
pub(crate) fn assert_built_in_bypass(mut turn: Turn) {
    assert_eq!(
        modes(&turn.take("current_mode_update")),
        ["plan", "bypassPermissions"]
    );
    assert_eq!(
        (turn.tool("toolu_b").status(), turn.stop_reason()),
        ("completed", "end_turn")
    );
    turn.ignore_rest();
}

/// The prompt that makes the plan, and the question about it.
pub(crate) fn ask_for_plan(client: &mut Client, session: &str) -> (Prompt, Value, Value) {
    let prompt = client.start_prompt(session, "a zebra asks for a plan");
    let (id, request) = client.permission_request();
    assert_eq!(request["toolCall"]["toolCallId"], "toolu_p");
    (prompt, id, request)
}

/// Selects an option that must be on offer.
#[track_caller]
pub(crate) fn choose(client: &mut Client, id: &Value, request: &Value, option: &str) {
    assert!(option_ids(request).contains(&option), "{request}");
    client.answer(id, request, &Answer::Option(option.into()));
}

/// The ids of the options of a question, in order.
pub(crate) fn option_ids(request: &Value) -> Vec<&str> {
    let options = request["options"].as_array().unwrap();
    options
        .iter()
        .filter_map(|option| option["optionId"].as_str())
        .collect()
}

/// The values of the mode updates among some updates, in order.
pub(crate) fn modes(updates: &[Value]) -> Vec<&str> {
    updates
        .iter()
        .filter_map(|update| update["currentModeId"].as_str())
        .collect()
}

/// An option in a list of config options.
#[track_caller]
pub(crate) fn option<'a>(list: &'a Value, id: &str) -> &'a Value {
    let options = list["configOptions"].as_array().unwrap();
    let found = options.iter().find(|option| option["id"] == id);
    found.unwrap_or_else(|| panic!("no option `{id}`: {list}"))
}

/// The current value of an option in a list of config options.
#[track_caller]
pub(crate) fn current<'a>(list: &'a Value, id: &str) -> &'a Value {
    &option(list, id)["currentValue"]
}

/// The Claude processes of a world.
pub(crate) fn claudes(world: &World) -> usize {
    let processes = world.processes();
    processes
        .iter()
        .filter(|process| process.command.contains("stream-json"))
        .count()
}
