//! Commands: what Claude suggests to remember is offered in full, and remembered.

use e2e_tests::harness::{World, no_questions};
use e2e_tests::model::{text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::perm_support::{close, ids, label, labels, local_rules, select};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        npm_test_is_offered_remembered_and_not_asked_about_again,
        touch_names_rule_directory_and_mode_and_is_not_asked_about_again,
    ]
}

fn npm_test_is_offered_remembered_and_not_asked_about_again(world: &mut World) {
    world.executable("npm", "#!/bin/sh\necho \"npm $*\"\n");
    let path = format!("{}:{}", world.path("").display(), world.environment_value("PATH"));
    world.set_env("PATH", &path);
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

fn touch_names_rule_directory_and_mode_and_is_not_asked_about_again(world: &mut World) {
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
        format!(
            "Yes, and don't ask again for touch x commands; for this session also allow access to {} and turn on \
             Accept edits",
            world.cwd()
        )
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
