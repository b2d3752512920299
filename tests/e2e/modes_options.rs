//! Config options: what is offered, what a choice does to the model's requests, changes made elsewhere, and refusals.

use e2e_tests::harness::{Client, World, no_questions};
use e2e_tests::model::{Gate, reply, text};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::{current, option, user_settings, write_settings};
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_session_lists_its_options,
        a_chosen_model_and_effort_reach_the_model,
        a_model_is_found_by_its_other_names,
        a_model_without_fast_mode_takes_the_option_away,
        a_chosen_agent_leads_the_session,
        a_model_chosen_by_command_is_announced,
        an_effort_chosen_by_command_is_announced,
        an_option_changes_in_the_middle_of_a_turn,
        options_start_as_the_settings_say,
        models_that_settings_do_not_allow_are_not_offered,
        a_family_means_the_version_that_settings_allow,
        models_are_named_with_their_version,
        a_value_that_is_not_on_offer_is_refused_with_the_choices,
        an_unknown_option_is_refused_with_the_options,
        a_switch_is_a_boolean_where_the_client_can,
    ]
}

fn choose(client: &mut Client, session: &str, id: &str, value: &str) -> Result<Value, Value> {
    let params = json!({"sessionId": session, "configId": id, "value": value});
    client.call("session/set_config_option", params)
}

/// Chooses a value; response and update show it.
fn chosen(client: &mut Client, session: &str, id: &str, value: &str) -> Value {
    let result = choose(client, session, id, value).unwrap();
    assert_eq!(current(&result, id), value, "{result}");
    result
}

fn values(list: &Value, id: &str) -> Vec<String> {
    let choices = option(list, id)["options"].as_array().unwrap().iter();
    choices
        .map(|choice| choice["value"].as_str().unwrap().to_owned())
        .collect()
}

fn new_session(world: &World, client: &mut Client) -> (Value, String) {
    let params = json!({"cwd": world.cwd(), "mcpServers": []});
    let result = client.call("session/new", params).unwrap();
    let session = result["sessionId"].as_str().unwrap().to_owned();
    client.update(&session, "available_commands_update");
    (result, session)
}

fn write_agent(world: &World) {
    let agent =
        "---\nname: zoologist\ndescription: Knows animals\n---\nYou are the zoologist of this test.\n";
    write_settings(world, "home/.claude/agents/zoologist.md", agent);
}

fn a_session_lists_its_options(world: &mut World) {
    write_agent(world);
    let (_agent, mut client) = greet(world);
    let (result, _) = new_session(world, &mut client);
    let ids: Vec<_> = result["configOptions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["id"])
        .collect();
    assert_eq!(ids, ["mode", "model", "effort", "fast", "agent"]);
    assert_eq!(current(&result, "mode"), "default");
    assert!(values(&result, "model").contains(&"sonnet".to_owned()));
    assert!(values(&result, "effort").contains(&"high".to_owned()));
    assert_eq!(
        (values(&result, "fast"), current(&result, "fast")),
        (vec!["on".to_owned(), "off".to_owned()], &json!("off"))
    );
    assert_eq!(values(&result, "agent"), ["default", "zoologist"]);
}

fn a_chosen_model_and_effort_reach_the_model(world: &mut World) {
    world.model().script([text("one"), text("two")]);
    let (_agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    client.prompt(&session, "before", no_questions).ignore_rest();
    chosen(&mut client, &session, "model", "sonnet");
    chosen(&mut client, &session, "effort", "low");
    client.prompt(&session, "after", no_questions).ignore_rest();
    let (before, after) = (
        world.model().wait_request(0).body,
        world.model().wait_request(1).body,
    );
    assert!(
        !before["model"].as_str().unwrap().contains("sonnet"),
        "{}",
        before["model"]
    );
    assert!(
        after["model"].as_str().unwrap().contains("sonnet"),
        "{}",
        after["model"]
    );
    assert_eq!(
        after["output_config"]["effort"], "low",
        "{}",
        after["output_config"]
    );
}

fn a_model_is_found_by_its_other_names(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    for name in ["Sonnet", "claude-sonnet-5-5", " sonnet "] {
        let result = choose(&mut client, &session, "model", name).unwrap();
        assert_eq!(current(&result, "model"), "sonnet", "{name}");
        chosen(&mut client, &session, "model", "opus");
    }
}

fn a_model_without_fast_mode_takes_the_option_away(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    for (model, has_fast) in [("opus", true), ("haiku", false), ("opus", true)] {
        let list = chosen(&mut client, &session, "model", model);
        let options = list["configOptions"].as_array().unwrap();
        assert_eq!(
            options.iter().any(|option| option["id"] == "fast"),
            has_fast,
            "{model}"
        );
    }
}

fn a_chosen_agent_leads_the_session(world: &mut World) {
    write_agent(world);
    world.model().script([text("one"), text("two"), text("three")]);
    let (_agent, mut client, session) = open(world);
    client.ignore("config_option_update");
    for (agent, leads) in [("default", false), ("zoologist", true), ("default", false)] {
        chosen(&mut client, &session, "agent", agent);
        client.prompt(&session, "go", no_questions).ignore_rest();
        let request = world.model().requests().pop().unwrap();
        let system = request.body["system"].to_string();
        assert_eq!(system.contains("zoologist of this test"), leads, "{agent}");
    }
}

fn a_model_chosen_by_command_is_announced(world: &mut World) {
    world.model().script([text("hello")]);
    user_settings(world, "default");
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "/model sonnet", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    // The settings are read again after the command, so this may come after its answer.
    let told = turn.take("config_option_update").pop();
    let update = told.unwrap_or_else(|| client.update(&session, "config_option_update"));
    assert_eq!(current(&update, "model"), "sonnet");
    turn.ignore_rest();
    client.ignore("config_option_update");
    client.prompt(&session, "go", no_questions).ignore_rest();
    let model = world.model().wait_request(0).body["model"].clone();
    assert!(model.as_str().unwrap().contains("sonnet"), "{model}");
}

fn an_effort_chosen_by_command_is_announced(world: &mut World) {
    user_settings(world, "default");
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "/effort low", no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    let told = turn.take("config_option_update").pop();
    let update = told.unwrap_or_else(|| client.update(&session, "config_option_update"));
    assert_eq!(current(&update, "effort"), "low");
    turn.ignore_rest();
}

fn an_option_changes_in_the_middle_of_a_turn(world: &mut World) {
    let gate = Gate::new();
    world.model().script([
        reply()
            .text("a")
            .gate(&gate)
            .tool("toolu_1", "Bash", json!({"command": "echo b"})),
        text("c"),
    ]);
    user_settings(world, "default");
    let (_agent, mut client, session) = open(world);
    let prompt = client.start_prompt(&session, "go");
    gate.wait_reached();
    chosen(&mut client, &session, "model", "sonnet");
    gate.open();
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_eq!(turn.stop_reason(), "end_turn");
    turn.ignore_rest();
    let model = world.model().wait_request(1).body["model"].clone();
    assert!(model.as_str().unwrap().contains("sonnet"), "{model}");
}

fn options_start_as_the_settings_say(world: &mut World) {
    write_agent(world);
    let settings = json!({"model": "sonnet", "agent": "zoologist"});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    let (_agent, mut client) = greet(world);
    let (result, _) = new_session(world, &mut client);
    assert_eq!(
        (current(&result, "model"), current(&result, "agent")),
        (&json!("sonnet"), &json!("zoologist"))
    );
}

fn models_that_settings_do_not_allow_are_not_offered(world: &mut World) {
    let settings = json!({"availableModels": ["sonnet"], "disableAutoMode": "disable"});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    let (_agent, mut client) = greet(world);
    let (result, session) = new_session(world, &mut client);
    assert_eq!(values(&result, "model"), ["default", "sonnet"]);
    // The default runs Opus, which is not to be had by that name.
    for model in ["haiku", "opus", "Opus 5.5", "claude-opus-5-5"] {
        let error = choose(&mut client, &session, "model", model).unwrap_err();
        assert_error(&error, -32602, "choose one of `default`, `sonnet`");
    }
}

fn a_family_means_the_version_that_settings_allow(world: &mut World) {
    let settings = json!({"availableModels": ["claude-opus-4-1", "sonnet"], "disableAutoMode": "disable"});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    world.model().script([text("hi"), text("again")]);
    let (_agent, mut client) = greet(world);
    let (_, session) = new_session(world, &mut client);
    client.ignore("config_option_update");
    let result = choose(&mut client, &session, "model", "opus").unwrap();
    assert_eq!(current(&result, "model"), "claude-opus-4-1");
    // It stays what was chosen, though this Claude serves the old model by a newer one.
    client.prompt(&session, "go", no_questions).ignore_rest();
    let result = choose(&mut client, &session, "effort", "low").unwrap();
    assert_eq!(current(&result, "model"), "claude-opus-4-1");
    client.prompt(&session, "go", no_questions).ignore_rest();
}

fn models_are_named_with_their_version(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let (result, _) = new_session(world, &mut client);
    let models = option(&result, "model")["options"].as_array().unwrap();
    let alias = |model: &&Value| model["value"] != "default";
    for model in models.iter().filter(alias) {
        let name = model["name"].as_str().unwrap();
        assert!(name.contains(|letter: char| letter.is_ascii_digit()), "{name}");
    }
}

fn a_value_that_is_not_on_offer_is_refused_with_the_choices(world: &mut World) {
    write_agent(world);
    let (_agent, mut client, session) = open(world);
    for (id, choices) in [
        ("mode", "`default`, `acceptEdits`, `plan`"),
        ("model", "`sonnet`"),
        ("effort", "`low`, `medium`, `high`"),
        ("fast", "`on`, `off`"),
        ("agent", "`default`, `zoologist`"),
    ] {
        let error = choose(&mut client, &session, id, "zebra").unwrap_err();
        assert_error(&error, -32602, "`zebra` is not a value of the option");
        assert_error(&error, -32602, choices);
        assert_eq!(error["data"], json!({"configId": id}));
        let params = json!({"sessionId": session, "configId": id, "type": "boolean", "value": true});
        let error = client.call("session/set_config_option", params).unwrap_err();
        assert_error(&error, -32602, choices);
    }
}

fn an_unknown_option_is_refused_with_the_options(world: &mut World) {
    let (_agent, mut client, session) = open(world);
    let error = choose(&mut client, &session, "zebra", "on").unwrap_err();
    assert_error(&error, -32602, "choose one of `mode`, `model`, `effort`, `fast`");
}

fn a_switch_is_a_boolean_where_the_client_can(world: &mut World) {
    let mut agent = world.agent();
    let mut client = agent.connect();
    let capabilities = json!({"session": {"configOptions": {"boolean": {}}}});
    client
        .call(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": capabilities}),
        )
        .unwrap();
    let (result, session) = new_session(world, &mut client);
    let fast = option(&result, "fast");
    assert_eq!(
        (&fast["type"], &fast["currentValue"]),
        (&json!("boolean"), &json!(false))
    );
    let error = choose(&mut client, &session, "fast", "on").unwrap_err();
    assert_error(&error, -32602, "send `true` or `false`");
}
