//! Plan mode: leaving it by every answer that keeps the context, refusing a plan, and entering it by the model's wish.

use e2e_tests::harness::{Answer, Turn, World, allow_once, no_questions, reject_once};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{
    PLAN, ask_for_plan, assert_built_in_bypass, bypass_to_plan, choose, current, enter_plan, exit_plan,
    modes, option_ids, plan_mode, user_settings, write_settings,
};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_plan_is_shown_with_every_option,
        a_plan_approved_manually_asks_for_each_edit,
        a_plan_approved_with_edits_asks_for_none,
        a_plan_approved_for_auto_goes_on_in_auto,
        a_plan_approved_for_bypass_asks_for_nothing,
        bypass_that_only_a_fresh_process_can_have_is_offered_with_a_cleared_context,
        a_refused_plan_ends_the_turn_and_stays_in_plan_mode,
        a_plan_refused_with_words_goes_on_in_the_same_turn,
        the_model_enters_plan_mode_before_its_call_is_done,
        the_model_enters_plan_mode_when_it_is_allowed_to,
        the_model_stays_in_its_mode_when_it_is_not_allowed_to_plan,
    ]
}

fn write_file(world: &World) -> Value {
    json!({"file_path": world.project().join("made.txt"), "content": "made\n"})
}

fn a_plan_is_shown_with_every_option(world: &mut World) {
    world
        .model()
        .script([exit_plan().usage(360_000, 10), text("built")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let options = request["options"].as_array().unwrap();
    let shown: Vec<_> = options
        .iter()
        .map(|option| json!([option["optionId"], option["name"], option["kind"]]))
        .collect();
    let expected = json!([
        ["exit-plan-default", "Yes, manually approve edits", "allow_once"],
        [
            "exit-plan-clear-accept-edits",
            "Yes, clear context (36% used) and auto-accept edits",
            "allow_always"
        ],
        ["exit-plan-accept-edits", "Yes, auto-accept edits", "allow_always"],
        ["reject", "No, keep planning", "reject_once"],
    ]);
    assert_eq!(Value::from(shown), expected);
    assert_eq!(request["_meta"]["permission"]["title"], "Ready to code?");
    assert_eq!(request["toolCall"]["content"][0]["content"]["text"], PLAN);
    choose(&mut client, &id, &request, "exit-plan-default");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    let call = turn.tool("toolu_p");
    assert_eq!(
        (call.str("kind"), call.content_text().as_str()),
        ("switch_mode", PLAN)
    );
    turn.ignore_rest();
}

fn a_plan_approved_manually_asks_for_each_edit(world: &mut World) {
    let mode = leave(world, "exit-plan-default", 1);
    assert_eq!(mode, "default");
}

fn a_plan_approved_with_edits_asks_for_none(world: &mut World) {
    let mode = leave(world, "exit-plan-accept-edits", 0);
    assert_eq!(mode, "acceptEdits");
}

/// Approves the plan by this option; the model goes on in the same conversation with an edit. Returns the new mode.
fn leave(world: &mut World, option: &str, questions: usize) -> String {
    world.model().script([
        exit_plan(),
        tool("toolu_w", "Write", write_file(world)),
        text("built"),
    ]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, option);
    let mut turn = client.finish_prompt(&prompt, allow_once);
    assert_eq!(
        (turn.questions().len(), turn.stop_reason()),
        (questions, "end_turn")
    );
    let [mode] = turn.take("current_mode_update").try_into().unwrap();
    let [options] = turn.take("config_option_update").try_into().unwrap();
    assert_eq!(current(&options, "mode"), &mode["currentModeId"]);
    let call = turn.tool("toolu_p");
    assert_eq!(
        (call.status(), call.str("title")),
        ("completed", "Exited Plan Mode")
    );
    assert_eq!(turn.tool("toolu_w").status(), "completed");
    assert_eq!(turn.text(), "built");
    let next = world.model().wait_request(1);
    assert!(next.mentions("a zebra asks"), "the context is kept");
    mode["currentModeId"].as_str().unwrap().to_owned()
}

fn a_plan_approved_for_auto_goes_on_in_auto(world: &mut World) {
    world.model().script([exit_plan(), text("built")]);
    let (_agent, mut client, session) = open(world);
    client
        .call(
            "session/set_mode",
            json!({"sessionId": session, "modeId": "plan"}),
        )
        .unwrap();
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let expected = [
        "exit-plan-default",
        "exit-plan-clear-auto",
        "exit-plan-auto",
        "reject",
    ];
    assert_eq!(option_ids(&request), expected);
    choose(&mut client, &id, &request, "exit-plan-auto");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(modes(&turn.take("current_mode_update")), ["plan", "auto"]);
    assert_eq!(
        (turn.tool("toolu_p").status(), turn.stop_reason()),
        ("completed", "end_turn")
    );
    turn.ignore_rest();
}

fn bypass_that_only_a_fresh_process_can_have_is_offered_with_a_cleared_context(world: &mut World) {
    world.set_env("IS_SANDBOX", "1");
    world.model().script([
        exit_plan(),
        tool("toolu_b", "Bash", json!({"command": "touch made.txt"})),
        text("built"),
    ]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let expected = [
        "exit-plan-default",
        "exit-plan-clear-bypass",
        "exit-plan-accept-edits",
        "reject",
    ];
    assert_eq!(option_ids(&request), expected);
    choose(&mut client, &id, &request, "exit-plan-clear-bypass");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(modes(&turn.take("current_mode_update")), ["bypassPermissions"]);
    assert_eq!(turn.tool("toolu_b").status(), "completed");
    assert!(world.project().join("made.txt").exists());
    turn.ignore_rest();
}

fn a_plan_approved_for_bypass_asks_for_nothing(world: &mut World) {
    let (_agent, mut client, session) = bypass_to_plan(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    let expected = [
        "exit-plan-default",
        "exit-plan-clear-bypass",
        "exit-plan-bypass",
        "reject",
    ];
    assert_eq!(option_ids(&request), expected);
    choose(&mut client, &id, &request, "exit-plan-bypass");
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_built_in_bypass(turn);
}

fn a_refused_plan_ends_the_turn_and_stays_in_plan_mode(world: &mut World) {
    world.model().script([exit_plan(), text("thinking on")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, request) = ask_for_plan(&mut client, &session);
    choose(&mut client, &id, &request, "reject");
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    assert_eq!(turn.tool("toolu_p").status(), "failed");
    assert_eq!(turn.kinds(), Vec::<String>::new(), "no error, no other mode");
    assert_eq!(
        client.prompt(&session, "go on", no_questions).text(),
        "thinking on"
    );
    assert!(
        world.model().wait_request(1).mentions("Plan mode"),
        "still planning"
    );
}

fn a_plan_refused_with_words_goes_on_in_the_same_turn(world: &mut World) {
    world.model().script([exit_plan(), text("a better plan")]);
    let (_agent, mut client, session) = plan_mode(world);
    let (prompt, id, _) = ask_for_plan(&mut client, &session);
    let result = json!({"outcome": {"outcome": "selected", "optionId": "reject"},
        "_meta": {"permission": {"feedback": "use fewer steps"}}});
    client.send_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
    let mut turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("a better plan", "end_turn")
    );
    assert_eq!(turn.tool("toolu_p").status(), "failed");
    let told = world.model().wait_request(1).tool_result("toolu_p").unwrap();
    assert!(told.contains("use fewer steps"), "{told}");
}

fn the_model_enters_plan_mode_before_its_call_is_done(world: &mut World) {
    world.model().script([enter_plan(), text("planning")]);
    user_settings(world, "default");
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "plan first", no_questions);
    entered(turn);
}

fn the_model_enters_plan_mode_when_it_is_allowed_to(world: &mut World) {
    world.model().script([enter_plan(), text("planning")]);
    ask_about_plan_mode(world);
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "plan first", |request| {
        let options = request["options"].as_array().unwrap();
        let names: Vec<_> = options.iter().map(|option| &option["name"]).collect();
        assert_eq!(names, ["Yes, enter plan mode", "No, start implementing now"]);
        Answer::Kind("allow_once")
    });
    assert_eq!(turn.questions().len(), 1);
    entered(turn);
}

fn the_model_stays_in_its_mode_when_it_is_not_allowed_to_plan(world: &mut World) {
    world.model().script([enter_plan(), text("then not")]);
    ask_about_plan_mode(world);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "plan first", reject_once);
    assert_eq!(turn.tool("toolu_e").status(), "failed");
    assert_eq!(
        (turn.text().as_str(), turn.stop_reason()),
        ("then not", "end_turn")
    );
}

/// Claude enters plan mode unasked unless a rule says otherwise.
fn ask_about_plan_mode(world: &World) {
    let settings = json!({"permissions": {"ask": ["EnterPlanMode"], "disableAutoMode": "disable"}});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
}

/// The client hears of the mode, then of the options, then of the call's end.
fn entered(mut turn: Turn) {
    let order = turn.kinds();
    let at = |kind: &str| order.iter().position(|other| other == kind).unwrap();
    let done = order.iter().rposition(|kind| kind == "tool_call_update").unwrap();
    assert!(
        at("current_mode_update") < at("config_option_update"),
        "{order:?}"
    );
    assert!(at("config_option_update") < done, "{order:?}");
    assert_eq!(modes(&turn.take("current_mode_update")), ["plan"]);
    let [options] = turn.take("config_option_update").try_into().unwrap();
    assert_eq!(current(&options, "mode"), "plan");
    assert_eq!(turn.tool("toolu_e").status(), "completed");
    assert_eq!(turn.text(), "planning");
}
