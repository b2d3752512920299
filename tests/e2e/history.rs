//! Conversations that Claude has written down: listed, loaded, gone on with, deleted.

use e2e_tests::harness::{Agent, Client, Turn, World, allow_once, no_questions};
use e2e_tests::model::{Gate, reply, text, tool};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        conversations_are_listed_newest_first_with_their_folder,
        a_loaded_conversation_looks_as_it_did_and_goes_on,
        a_live_conversation_is_shown_again_and_not_started_twice,
        a_resumed_conversation_goes_on_without_being_shown,
        a_conversation_that_cannot_be_opened_is_refused_without_a_child,
        a_conversation_opens_in_the_folder_it_belongs_to,
        a_conversation_whose_transcript_is_gone_is_not_found,
        a_conversation_that_another_process_has_open_is_refused,
        of_two_agents_that_open_a_conversation_at_once_one_is_refused,
        mode_and_options_of_a_conversation_come_back,
        a_conversation_that_was_cleared_goes_on_where_it_was_left,
        a_forked_conversation_goes_its_own_way,
        a_killed_conversation_with_subagents_and_a_compaction_looks_as_it_did,
        a_renamed_conversation_tells_its_title_and_is_listed_under_it,
        a_deleted_conversation_is_gone_with_its_process_and_nothing_else_is,
    ];
    all.extend(cases![Rehearsal, Stdio:
        a_rehearsal_offers_no_conversations,
    ]);
    all
}

fn listed(client: &mut Client, params: Value) -> Vec<Value> {
    let page = client.call("session/list", params).unwrap();
    page["sessions"].as_array().unwrap().clone()
}

fn conversations_are_listed_newest_first_with_their_folder(world: &mut World) {
    world
        .model()
        .script([text("first"), text("second"), text("third")]);
    let other = world.path("other.project");
    std::fs::create_dir(&other).unwrap();
    let (_agent, mut client, first) = open(world);
    let elsewhere = client.new_session(other.to_str().unwrap());
    let unprompted = client.new_session(&world.cwd());
    assert_eq!(listed(&mut client, json!({})), [] as [Value; 0]);
    for (session, prompt) in [
        (&first, "fix  the\nlogin"),
        (&elsewhere, "elsewhere"),
        (&first, "again"),
    ] {
        client.prompt(session, prompt, no_questions).text();
    }
    let rows = listed(&mut client, json!({}));
    let row = |index: usize| {
        (
            &rows[index]["sessionId"],
            &rows[index]["cwd"],
            &rows[index]["title"],
        )
    };
    assert_eq!(
        row(0),
        (&json!(first), &json!(world.cwd()), &json!("fix the login"))
    );
    assert_eq!(row(1), (&json!(elsewhere), &json!(other), &json!("elsewhere")));
    assert_eq!(rows.len(), 2, "`{unprompted}` holds nothing yet: {rows:#?}");
    assert!(
        rows[0]["updatedAt"].as_str() > rows[1]["updatedAt"].as_str(),
        "{rows:#?}"
    );
    let here = listed(&mut client, json!({"cwd": world.cwd()}));
    assert_eq!(here, rows[..1]);
    assert_eq!(
        listed(&mut client, json!({"cwd": world.home()})),
        [] as [Value; 0]
    );
    let error = client
        .call("session/list", json!({"cwd": "relative"}))
        .unwrap_err();
    assert_error(&error, -32602, "`cwd` must be an absolute path");
    let error = client
        .call("session/list", json!({"cursor": "offset:5"}))
        .unwrap_err();
    assert_error(&error, -32602, "offset:5");
}

fn a_rehearsal_offers_no_conversations(world: &mut World) {
    let (_agent, mut client) = greet(world);
    let hello = client.call("initialize", json!({"protocolVersion": 1})).unwrap();
    let capabilities = &hello["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], json!(false));
    assert_eq!(capabilities["sessionCapabilities"].get("list"), None);
    let error = client.call("session/list", json!({})).unwrap_err();
    assert_error(&error, -32601, "session/list");
}

fn mode_and_options_of_a_conversation_come_back(world: &mut World) {
    let made = json!({"file_path": world.project().join("made.txt"), "content": "made\n"});
    world
        .model()
        .script([text("first"), tool("toolu_1", "Write", made), text("made")]);
    let (agent, mut client, session) = open(world);
    client.prompt(&session, "hi", no_questions).text();
    client.ignore("config_option_update");
    client.ignore("current_mode_update");
    for (id, value) in [("model", "sonnet"), ("effort", "low"), ("mode", "acceptEdits")] {
        let params = json!({"sessionId": session, "configId": id, "value": value});
        client.call("session/set_config_option", params).unwrap();
    }
    leave(world, agent, client);
    let (_agent, mut client) = greet(world);
    let (_, answer) = load(&mut client, &session, &world.cwd());
    assert_eq!(answer["modes"]["currentModeId"], "acceptEdits");
    let options = answer["configOptions"].as_array().unwrap();
    let value = |id: &str| {
        let option = options.iter().find(|option| option["id"] == id);
        option.map(|option| option["currentValue"].clone())
    };
    assert_eq!(value("model"), Some(json!("sonnet")));
    assert_eq!(value("effort"), Some(json!("low")));
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(turn.text(), "made");
    let request = world.model().wait_request(1);
    assert!(request.body["model"].as_str().unwrap().contains("sonnet"));
    assert_eq!(request.body["output_config"]["effort"], "low");
}

fn a_conversation_that_was_cleared_goes_on_where_it_was_left(world: &mut World) {
    world
        .model()
        .script([text("first"), text("second"), text("third")]);
    let (agent, mut client, session) = open(world);
    client.prompt(&session, "a zebra", no_questions).text();
    client.prompt(&session, "/clear", no_questions).ignore_rest();
    let row = json!([{"sessionId": session, "title": "a zebra"}]);
    assert_eq!(titled(&mut client), row, "nobody has said anything yet");
    client.prompt(&session, "a giraffe", no_questions).text();
    let row = json!([{"sessionId": session, "title": "a giraffe"}]);
    assert_eq!(titled(&mut client), row);
    let second = later_conversation(world, &session);
    for method in ["session/load", "session/delete"] {
        let params = json!({"sessionId": second, "cwd": world.cwd(), "mcpServers": []});
        let error = client.call(method, params).unwrap_err();
        assert_error(&error, -32600, &format!("part of the session `{session}`"));
    }
    leave(world, agent, client);
    let (_agent, mut client) = greet(world);
    let (view, _) = load(&mut client, &session, &world.cwd());
    let texts: Vec<&str> = view.0.iter().filter_map(|item| item["text"].as_str()).collect();
    assert_eq!(texts, ["a zebra", "first", "/clear", "a giraffe", "second"]);
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "third");
    let request = world.model().wait_request(2);
    assert!(request.mentions("a giraffe") && !request.mentions("a zebra"));
    client
        .call("session/delete", json!({"sessionId": session}))
        .unwrap();
    assert_eq!(listed(&mut client, json!({})), [] as [Value; 0]);
}

/// The id that Claude has for what came after a cleared conversation.
fn later_conversation(world: &World, session: &str) -> String {
    let projects = world.home().join(".claude/projects");
    let folders = std::fs::read_dir(projects).unwrap().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let mut ids = names.filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()));
    ids.find(|id| id != session).unwrap()
}

fn titled(client: &mut Client) -> Value {
    let rows = listed(client, json!({})).into_iter();
    rows.map(|row| json!({"sessionId": row["sessionId"], "title": row["title"]}))
        .collect()
}

fn a_forked_conversation_goes_its_own_way(world: &mut World) {
    world.model().script(
        [
            "first",
            "second",
            "in the fork",
            "in the first",
            "up to a message",
        ]
        .map(text),
    );
    let (_agent, mut client, session) = open(world);
    client.ignore("available_commands_update");
    let params = |session: &str| json!({"sessionId": session, "cwd": world.cwd(), "mcpServers": []});
    let unprompted = client.call("session/fork", params(&session)).unwrap();
    assert_ne!(unprompted["sessionId"], json!(session));
    client.prompt(&session, "a zebra", no_questions).text();
    client.prompt(&session, "a giraffe", no_questions).text();

    let (view, _) = load(&mut client, &session, &world.cwd());
    let id = |text: &str| view.0.iter().find(|item| item["text"] == text).unwrap()["id"].clone();
    let fork = client.call("session/fork", params(&session)).unwrap();
    assert!(fork["modes"].is_object(), "{fork}");
    let fork = fork["sessionId"].as_str().unwrap().to_owned();
    let (mut copy, _) = load(&mut client, &fork, &world.cwd());
    assert_eq!(copy, view);
    client.prompt(&fork, "an okapi", no_questions).text();
    client.prompt(&session, "a lion", no_questions).text();
    let request = world.model().wait_request(2);
    assert!(
        ["a zebra", "a giraffe", "an okapi"]
            .iter()
            .all(|word| request.mentions(word))
    );
    assert!(!world.model().wait_request(3).mentions("an okapi"));

    let mut until = params(&session);
    until["_meta"] = json!({"jetbrains": {"air": {"fork": {"version": 1, "messageId": id("first")}}}});
    let short = client.call("session/fork", until.clone()).unwrap();
    let short = short["sessionId"].as_str().unwrap().to_owned();
    copy.0.truncate(2);
    assert_eq!(load(&mut client, &short, &world.cwd()).0, copy);
    client.prompt(&short, "a bear", no_questions).text();
    let request = world.model().wait_request(4);
    assert!(request.mentions("a zebra") && !request.mentions("a giraffe"));
    until["_meta"]["jetbrains"]["air"]["fork"]["messageId"] = json!("msg_unknown");
    let error = client.call("session/fork", until).unwrap_err();
    assert_error(&error, -32602, "msg_unknown");
    let titles = listed(&mut client, json!({}));
    let titles: Vec<&str> = titles.iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles.iter().filter(|title| **title == "a zebra (fork)").count(),
        2,
        "{titles:?}"
    );
    let unknown = params("0a0c4f6e-1111-4222-8333-abcdefabcdef");
    assert_error(
        &client.call("session/fork", unknown).unwrap_err(),
        -32002,
        "not found",
    );
}

fn a_killed_conversation_with_subagents_and_a_compaction_looks_as_it_did(world: &mut World) {
    let errand = json!({"description": "Look", "prompt": "Look around.", "subagent_type": "general-purpose", "run_in_background": false});
    let look = json!({"command": "echo seen", "description": "Look"});
    let todo = json!({"todos": [{"content": "One", "status": "in_progress", "activeForm": "Doing one"}]});
    world.set_env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    world.set_env("CLAUDE_CODE_ENABLE_TASKS", "0");
    world.model().script([
        reply().text("Sending one.").tool("toolu_agent", "Agent", errand),
        tool("toolu_inner", "Bash", look),
        text("Nothing there."),
        tool("toolu_todo", "TodoWrite", todo),
        text("It is back."),
        text("What matters is the zebra."),
        text("What matters is the zebra."),
        text("Still here."),
        text("After the kill."),
    ]);
    let (mut agent, mut client, session) = open(world);
    let mut live = View::default();
    play(&mut client, &session, &mut live, "send somebody").ignore_rest();
    play(&mut client, &session, &mut live, "/compact").ignore_rest();
    play(&mut client, &session, &mut live, "are you there?").ignore_rest();
    client.ignore("available_commands_update");
    agent.signal(Signal::KILL);
    agent.wait_end();
    drop(client);
    drop(agent);
    world.wait_none();

    let (_agent, mut client) = greet(world);
    let (view, _) = load(&mut client, &session, &world.cwd());
    // Under the id of its boundary, and with what the model keeps; the model's word for it is not shown live.
    let known = |view: View| -> Vec<Value> {
        let is_compaction = |item: &Value| item["title"] == "Compact conversation";
        let items = view.0.into_iter().map(|item| match is_compaction(&item) {
            true => json!({"compaction": item["status"]}),
            false => item,
        });
        items.collect()
    };
    assert_eq!(known(view), known(live));
    let mut turn = client.prompt(&session, "go on", no_questions);
    assert_eq!(turn.take("plan").len(), 1, "what is open in the plan is known");
    assert_eq!(turn.text(), "After the kill.");
    let request = world.model().wait_request(8);
    assert!(request.mentions("are you there?") && request.mentions("the zebra"));
}

fn a_renamed_conversation_tells_its_title_and_is_listed_under_it(world: &mut World) {
    world.model().script([text("first")]);
    let mut agent = world.agent();
    let mut client = agent.connect();
    client.ignore("usage_update");
    client.initialize();
    let session = client.new_session(&world.cwd());
    client.prompt(&session, "hi", no_questions).text();
    let mut turn = client.prompt(&session, "/rename My own title", no_questions);
    let told = turn.take("session_info_update");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["title"], "My own title");
    turn.ignore_rest();
    let close = json!({"sessionId": session});
    client.call("session/close", close).unwrap();
    let rows = listed(&mut client, json!({}));
    assert_eq!(rows[0]["title"], "My own title");
}

fn a_deleted_conversation_is_gone_with_its_process_and_nothing_else_is(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([text("kept"), reply().text("deleted ").gate(&gate), text("again")]);
    let (agent, mut client, kept) = open(world);
    client.prompt(&kept, "keep this", no_questions).text();
    client.call("session/close", json!({"sessionId": kept})).unwrap();
    let session = client.new_session(&world.cwd());
    let prompt = client.start_prompt(&session, "delete this");
    gate.wait_reached();
    client.update(&session, "agent_message_chunk");
    let delete = client.request("session/delete", json!({"sessionId": session}));
    assert_eq!(
        client.finish_prompt(&prompt, no_questions).stop_reason(),
        "cancelled"
    );
    assert_eq!(client.response(delete), Ok(json!({})));
    world.wait_only(&agent);
    let rows = listed(&mut client, json!({}));
    assert_eq!((rows.len(), &rows[0]["sessionId"]), (1, &json!(kept)));
    let load = json!({"sessionId": session, "cwd": world.cwd(), "mcpServers": []});
    assert_error(
        &client.call("session/load", load).unwrap_err(),
        -32002,
        "not found",
    );
    for id in [&session, "../../settings", ""] {
        assert_eq!(
            client.call("session/delete", json!({"sessionId": id})),
            Ok(json!({}))
        );
    }
    assert!(world.home().join(".claude/settings.json").exists());
    let unprompted = client.new_session(&world.cwd());
    client
        .call("session/delete", json!({"sessionId": unprompted}))
        .unwrap();
    client
        .call("session/resume", json!({"sessionId": kept, "cwd": world.cwd()}))
        .unwrap();
    client.ignore("available_commands_update");
    assert_eq!(client.prompt(&kept, "go on", no_questions).text(), "again");
}

/// What a client shows in the end: the updates of a session up to an answer, joined as an editor joins them.
#[derive(Debug, Default, PartialEq)]
struct View(Vec<Value>);

impl View {
    fn add(&mut self, update: &Value) {
        let kind = update["sessionUpdate"].as_str().unwrap();
        match kind {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => self.chunk(kind, update),
            "tool_call" => {
                let mut call = update.clone();
                call.as_object_mut().unwrap().remove("_meta");
                self.0.push(call);
            }
            "tool_call_update" => {
                let call = self
                    .0
                    .iter_mut()
                    .find(|item| item["toolCallId"] == update["toolCallId"]);
                let call = call.unwrap().as_object_mut().unwrap();
                for (key, value) in update.as_object().unwrap() {
                    if !["_meta", "sessionUpdate"].contains(&key.as_str()) {
                        call.insert(key.clone(), value.clone());
                    }
                }
            }
            // There is one plan.
            "plan" => match self.0.iter_mut().find(|item| item["sessionUpdate"] == "plan") {
                Some(plan) => plan.clone_from(update),
                None => self.0.push(update.clone()),
            },
            _ => {}
        }
    }

    fn chunk(&mut self, kind: &str, update: &Value) {
        let text = update["content"]["text"].as_str().unwrap_or_default();
        let goes_on = |last: &&mut Value| last["kind"] == kind && last["id"] == update["messageId"];
        match self.0.last_mut().filter(goes_on) {
            Some(last) => last["text"] = json!(format!("{}{text}", last["text"].as_str().unwrap())),
            None => self
                .0
                .push(json!({"kind": kind, "id": update["messageId"], "text": text})),
        }
    }

    fn said(&mut self, prompt: &str) {
        self.0.push(json!({"kind": "user_message_chunk", "text": prompt}));
    }

    /// The client knows what it has sent, and not under which id.
    fn without_prompt_ids(mut self) -> Self {
        for item in self
            .0
            .iter_mut()
            .filter(|item| item["kind"] == "user_message_chunk")
        {
            item.as_object_mut().unwrap().remove("id");
        }
        self
    }
}

/// Loads a conversation; what is shown before the answer, and the answer.
fn load(client: &mut Client, session: &str, cwd: &str) -> (View, Value) {
    let id = client.request(
        "session/load",
        json!({"sessionId": session, "cwd": cwd, "mcpServers": []}),
    );
    let mut view = View::default();
    loop {
        let message = client.next_message();
        if message["id"] == id {
            assert!(message.get("error").is_none(), "{message}");
            return (view.without_prompt_ids(), message["result"].clone());
        }
        view.add(&message["params"]["update"]);
    }
}

/// Ends an agent, as a closed editor does.
fn leave(world: &World, mut agent: Agent, mut client: Client) {
    client.ignore("available_commands_update");
    drop(client);
    agent.wait_end();
    world.wait_none();
}

fn play(client: &mut Client, session: &str, view: &mut View, prompt: &str) -> Turn {
    view.said(prompt);
    let turn = client.prompt(session, prompt, allow_once);
    for update in turn.updates() {
        view.add(update);
    }
    turn
}

fn a_loaded_conversation_looks_as_it_did_and_goes_on(world: &mut World) {
    let file = world.project().join("a.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let edit = json!({"file_path": file, "old_string": "two", "new_string": "2"});
    world.model().script([
        reply()
            .text("I will look first.")
            .tool("toolu_1", "Read", json!({"file_path": file}))
            .tool(
                "toolu_2",
                "Bash",
                json!({"command": "echo hi; exit 3", "description": "Say hi"}),
            ),
        tool("toolu_3", "Edit", edit),
        text("Grüße, 日本語."),
        text("Going on."),
        text("After the load."),
    ]);
    let (agent, mut client, session) = open(world);
    let mut live = View::default();
    play(&mut client, &session, &mut live, "change the file").ignore_rest();
    play(&mut client, &session, &mut live, "and then?").ignore_rest();
    leave(world, agent, client);

    let (_agent, mut client) = greet(world);
    let (view, answer) = load(&mut client, &session, &world.cwd());
    assert_eq!(view, live);
    assert_eq!(answer["modes"]["currentModeId"], "default");
    assert!(answer["configOptions"].is_array(), "{answer}");
    assert_eq!(
        client.prompt(&session, "go on", no_questions).text(),
        "After the load."
    );
    let request = world.model().wait_request(4);
    for known in ["change the file", "and then?", "go on"] {
        assert!(request.mentions(known), "the model is not told `{known}`");
    }
}

fn a_live_conversation_is_shown_again_and_not_started_twice(world: &mut World) {
    let gate = Gate::new();
    world
        .model()
        .script([text("first"), reply().text("second, ").gate(&gate).text("whole")]);
    let (_agent, mut client, session) = open(world);
    let (unprompted, _) = load(&mut client, &session, &world.cwd());
    assert_eq!(unprompted, View::default());
    let mut live = View::default();
    play(&mut client, &session, &mut live, "one").ignore_rest();
    let (view, answer) = load(&mut client, &session, &world.cwd());
    assert_eq!(view, live);
    assert!(answer["modes"].is_object(), "{answer}");
    let prompt = client.start_prompt(&session, "two");
    live.said("two");
    let (view, _) = load(&mut client, &session, &world.cwd());
    assert_eq!(view.0.get(..3), live.0.get(..3), "the prompt that was just sent");
    gate.wait_reached();
    client.update(&session, "agent_message_chunk");
    let (view, _) = load(&mut client, &session, &world.cwd());
    assert_eq!(view.0.get(..3), live.0.get(..3));
    let open = view.0.get(3).map(|item| item["text"].clone());
    assert_eq!((view.0.len(), open), (4, Some(json!("second, "))));
    assert_eq!(world.processes().len(), 2, "the agent and one Claude");
    gate.open();
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "whole");
}

fn a_resumed_conversation_goes_on_without_being_shown(world: &mut World) {
    world.model().script([text("first"), text("second")]);
    let (agent, mut client, session) = open(world);
    client.prompt(&session, "remember this", no_questions).text();
    let resume = json!({"sessionId": session, "cwd": world.cwd()});
    let live = client.call("session/resume", resume.clone()).unwrap();
    assert_eq!(live["modes"]["currentModeId"], "default");
    leave(world, agent, client);
    let (_agent, mut client) = greet(world);
    let id = client.request("session/resume", resume);
    assert_eq!(
        client.next_message()["id"],
        id,
        "a resume shows nothing before its answer"
    );
    client.update(&session, "available_commands_update");
    assert_eq!(client.prompt(&session, "go on", no_questions).text(), "second");
    assert!(world.model().wait_request(1).mentions("remember this"));
}

fn a_conversation_that_cannot_be_opened_is_refused_without_a_child(world: &mut World) {
    let (agent, mut client) = greet(world);
    let unknown = "0a0c4f6e-1111-4222-8333-abcdefabcdef";
    for id in [
        unknown,
        &unknown.to_uppercase(),
        "../../etc/passwd",
        "My own title",
        "",
    ] {
        for method in ["session/load", "session/resume"] {
            let params = json!({"sessionId": id, "cwd": world.cwd(), "mcpServers": []});
            let error = client.call(method, params).unwrap_err();
            assert_error(&error, -32002, "Resource not found");
            assert_eq!(error["data"], json!({"sessionId": id}));
        }
    }
    let relative = json!({"sessionId": unknown, "cwd": "relative", "mcpServers": []});
    assert_error(
        &client.call("session/load", relative).unwrap_err(),
        -32602,
        "absolute",
    );
    let folder = world.home().join(".claude/projects/-gone");
    std::fs::create_dir_all(&folder).unwrap();
    let line = json!({"type": "user", "uuid": "u", "cwd": "/gone", "message": {"content": "hi"}});
    std::fs::write(folder.join(format!("{unknown}.jsonl")), line.to_string()).unwrap();
    let params = json!({"sessionId": unknown, "cwd": world.cwd(), "mcpServers": []});
    assert_error(
        &client.call("session/load", params).unwrap_err(),
        -32602,
        "`/gone`",
    );
    world.wait_only(&agent);
}

fn a_conversation_that_another_process_has_open_is_refused(world: &mut World) {
    world.model().script([text("first"), text("second")]);
    let (mut agent, mut client, session) = open(world);
    client.prompt(&session, "hi", no_questions).text();
    let params = json!({"sessionId": session, "cwd": world.cwd(), "mcpServers": []});
    let (_other, mut stranger) = greet(world);
    let error = stranger.call("session/load", params.clone()).unwrap_err();
    assert_error(&error, -32600, "another agent has the conversation open");
    // What a Claude without an agent tells as well.
    let lock = format!(".claude/claude-acp/{session}.lock");
    std::fs::remove_file(world.home().join(lock)).unwrap();
    let error = stranger.call("session/load", params.clone()).unwrap_err();
    assert_error(&error, -32600, "the process ");
    client.ignore("available_commands_update");
    drop(client);
    agent.wait_end();
    stranger.ignore("available_commands_update");
    stranger.call("session/resume", params).unwrap();
    assert_eq!(stranger.prompt(&session, "go on", no_questions).text(), "second");
}

fn of_two_agents_that_open_a_conversation_at_once_one_is_refused(world: &mut World) {
    world.model().script([text("first"), text("second")]);
    let (agent, mut client, session) = open(world);
    client.prompt(&session, "hi", no_questions).text();
    leave(world, agent, client);
    let (_one, mut first) = greet(world);
    let (_other, mut second) = greet(world);
    first.ignore("available_commands_update");
    let params = json!({"sessionId": session, "cwd": world.cwd(), "mcpServers": []});
    let opening = first.request("session/resume", params.clone());
    let same_moment = second.request("session/resume", params.clone());
    let answers = [first.response(opening), second.response(same_moment)];
    let refused: Vec<&Value> = answers
        .iter()
        .filter_map(|answer| answer.as_ref().err())
        .collect();
    assert_eq!(refused.len(), 1, "{answers:?}");
    assert_error(refused[0], -32600, "another agent has the conversation open");
    let (mut holder, mut refused) = match answers[0].is_ok() {
        true => (first, second),
        false => (second, first),
    };
    let error = refused
        .call("session/delete", json!({"sessionId": session}))
        .unwrap_err();
    assert_error(&error, -32600, "another agent has the conversation open");
    holder.ignore("available_commands_update");
    assert_eq!(holder.prompt(&session, "go on", no_questions).text(), "second");
    holder
        .call("session/close", json!({"sessionId": session}))
        .unwrap();
    refused
        .call("session/delete", json!({"sessionId": session}))
        .unwrap();
    assert_eq!(listed(&mut refused, json!({})), [] as [Value; 0]);
    let records = world.home().join(".claude/claude-acp");
    let left = std::fs::read_dir(records).unwrap().count();
    assert_eq!(left, 0, "nothing is left of the session");
}

fn a_conversation_whose_transcript_is_gone_is_not_found(world: &mut World) {
    world.model().script([text("first")]);
    let (agent, mut client, session) = open(world);
    let unprompted = client.new_session(&world.cwd());
    client.ignore("config_option_update");
    client.ignore("current_mode_update");
    for id in [&session, &unprompted] {
        let params = json!({"sessionId": id, "configId": "mode", "value": "acceptEdits"});
        client.call("session/set_config_option", params).unwrap();
    }
    client.prompt(&session, "hi", no_questions).text();
    leave(world, agent, client);
    std::fs::remove_dir_all(world.home().join(".claude/projects")).unwrap();
    let (_agent, mut client) = greet(world);
    for method in ["session/load", "session/resume", "session/fork"] {
        let params = json!({"sessionId": session, "cwd": world.cwd(), "mcpServers": []});
        assert_error(&client.call(method, params).unwrap_err(), -32002, "not found");
    }
    let (view, answer) = load(&mut client, &unprompted, &world.cwd());
    assert_eq!(view, View::default());
    assert_eq!(answer["modes"]["currentModeId"], "acceptEdits");
}

fn a_conversation_opens_in_the_folder_it_belongs_to(world: &mut World) {
    world.model().script([
        text("first"),
        tool(
            "toolu_1",
            "Bash",
            json!({"command": "pwd", "description": "Where am I"}),
        ),
        text("there"),
    ]);
    let (agent, mut client, session) = open(world);
    client.prompt(&session, "hi", no_questions).text();
    leave(world, agent, client);
    let (_agent, mut client) = greet(world);
    let (view, _) = load(&mut client, &session, world.home().to_str().unwrap());
    let told = view.0.last().unwrap()["text"].as_str().unwrap();
    assert!(told.contains(&world.cwd()), "{told}");
    client.prompt(&session, "where", no_questions).ignore_rest();
    let result = world.model().wait_request(2).tool_result("toolu_1").unwrap();
    assert_eq!(result, world.cwd());
}
