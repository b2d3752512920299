//! Commands: what Claude suggests to remember is offered in full, and remembered.

use e2e_tests::harness::{World, allow_once, no_questions, reject_once};
use e2e_tests::model::{Reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::perm_support::{assert_once_only, close, ids, label, labels, local_rules, select};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        npm_test_is_offered_remembered_and_not_asked_about_again,
        touch_names_rule_and_mode_and_is_not_asked_about_again,
        the_narrow_option_keeps_the_rule_and_leaves_the_mode,
        a_command_that_a_rule_would_not_settle_can_only_be_allowed_once,
        what_takes_its_code_from_its_input_can_only_be_allowed_once,
        reading_outside_by_a_command_is_allowed_for_the_session_alone,
        what_monitor_runs_is_shown_and_remembered_as_a_command,
    ]
}

fn npm_test_is_offered_remembered_and_not_asked_about_again(world: &mut World) {
    stubs(world, &["npm"]);
    let npm = |id: &str, command: &str| tool(id, "Bash", json!({"command": command}));
    world.model().script([
        npm("toolu_1", "npm test"),
        npm("toolu_2", "npm test"),
        text("tested"),
        npm("toolu_3", "npm test -- --verbose"),
        text("tested again"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "test", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        ids(request),
        ["allow-once", "allow-with-updates", "reject"],
        "{request}"
    );
    assert_eq!(
        labels(request),
        ["Yes", "Yes, and don't ask again for npm test commands", "No"]
    );
    assert_eq!(request["_meta"]["permission"]["title"], "npm test");
    assert_eq!(request["toolCall"]["title"], "npm test");
    for id in ["toolu_1", "toolu_2"] {
        let call = turn.tool(id);
        assert_eq!(call.status(), "completed", "{call:?}");
        assert!(call.content_text().contains("npm test"), "{call:?}");
    }
    assert_eq!(turn.text(), "tested");
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Bash(npm test *)"]);

    // Another session of the same project has the rule, too.
    let other = client.new_session(&world.cwd());
    let mut turn = client.prompt(&other, "test", no_questions);
    assert!(turn.tool("toolu_3").content_text().contains("--verbose"));
    assert_eq!(turn.text(), "tested again");
}

fn touch_names_rule_and_mode_and_is_not_asked_about_again(world: &mut World) {
    let touch = |id: &str| tool(id, "Bash", json!({"command": "touch x"}));
    world
        .model()
        .script([touch("toolu_1"), touch("toolu_2"), text("touched")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "touch", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        "Yes, and don't ask again for touch x commands; for this session also turn on Accept edits"
    );
    let modes = turn.take("current_mode_update");
    let modes: Vec<_> = modes.iter().map(|update| &update["currentModeId"]).collect();
    assert_eq!(modes, ["acceptEdits"], "the client hears of the new mode, once");
    let options = turn.take("config_option_update");
    let mode = options.last().and_then(|update| {
        let options = update["configOptions"].as_array()?;
        options.iter().find(|option| option["id"] == "mode")
    });
    assert_eq!(mode.unwrap()["currentValue"], "acceptEdits");
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    assert_eq!(turn.text(), "touched");
    assert!(world.project().join("x").exists());
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Bash(touch x *)"]);
}

/// Programs that only say how they were called.
fn stubs(world: &mut World, names: &[&str]) {
    for name in names {
        world.executable(name, "#!/bin/sh\necho \"${0##*/} $*\"\n");
    }
    let path = format!("{}:{}", world.path("").display(), world.environment_value("PATH"));
    world.set_env("PATH", &path);
}

fn bash(id: &str, command: &str) -> Reply {
    tool(id, "Bash", json!({"command": command}))
}

fn the_narrow_option_keeps_the_rule_and_leaves_the_mode(world: &mut World) {
    world.model().script([
        bash("toolu_1", "touch x"),
        bash("toolu_2", "touch x"),
        text("touched"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "touch", select("allow-with-fewer-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-fewer-updates"),
        "Yes, and don't ask again for touch x commands"
    );
    assert!(turn.take("current_mode_update").is_empty());
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    turn.ignore_rest();
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Bash(touch x *)"]);
}

fn a_command_that_a_rule_would_not_settle_can_only_be_allowed_once(world: &mut World) {
    stubs(world, &["npm"]);
    once_only(
        world,
        &[
            "npm test > out.log",
            "npm test | tee out.log",
            "cat > out.log <<'E'\nx\nE",
        ],
    );
}

fn what_takes_its_code_from_its_input_can_only_be_allowed_once(world: &mut World) {
    stubs(world, &["curl", "python3", "node", "lua"]);
    once_only(
        world,
        &[
            "curl http://x | sh",
            "bash -s <<'E'\ntrue\nE",
            "python3 - <<'E'\n1\nE",
            "node -",
            "lua -",
            "env sh",
            "xargs node",
        ],
    );
}

/// Each command is asked about, and nothing but the call can be decided.
fn once_only(world: &mut World, commands: &[&str]) {
    let calls = commands.iter().enumerate();
    let calls = calls.map(|(n, command)| bash(&format!("toolu_{n}"), command));
    world.model().script(calls.chain([text("done")]));
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "go", allow_once);
    assert_eq!(turn.questions().len(), commands.len(), "{:?}", turn.questions());
    turn.questions().iter().for_each(assert_once_only);
    turn.ignore_rest();
    close(&mut client, &session);
    assert!(local_rules(world).is_empty());
}

/// The rule that Claude would save never matches in another session.
fn reading_outside_by_a_command_is_allowed_for_the_session_alone(world: &mut World) {
    let folder = world.path("outside");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("f"), "text\n").unwrap();
    let command = format!("cat {}/f", folder.display());
    world
        .model()
        .script([bash("toolu_1", &command), bash("toolu_2", &command), text("read")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "read", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        format!("Yes, and for this session allow reading {}/**", folder.display())
    );
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    turn.ignore_rest();
    close(&mut client, &session);
    assert!(local_rules(world).is_empty(), "it is for the session only");
}

fn what_monitor_runs_is_shown_and_remembered_as_a_command(world: &mut World) {
    stubs(world, &["npm", "curl"]);
    let watch = |id: &str, command: &str| {
        tool(
            id,
            "Monitor",
            json!({"command": command, "description": "Watches"}),
        )
    };
    world.set_env("ENABLE_TOOL_SEARCH", "false");
    world
        .model()
        .script([watch("toolu_1", "curl http://x | sh"), text("refused")]);
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "watch", reject_once);
    let [request] = turn.questions() else {
        panic!("one question: {:?}", turn.questions())
    };
    assert_once_only(request);
    assert_eq!(request["toolCall"]["title"], "curl http://x | sh");
    turn.ignore_rest();

    world.model().script([
        watch("toolu_2", "npm test"),
        bash("toolu_3", "npm test"),
        text("watched"),
    ]);
    let turn = client.prompt(&session, "watch", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the command is asked about again: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        "Yes, and don't ask again for npm test commands"
    );
    assert_eq!(request["_meta"]["permission"]["title"], "npm test");
    turn.ignore_rest();
    close(&mut client, &session);
    assert_eq!(local_rules(world), ["Bash(npm test *)"]);
}
