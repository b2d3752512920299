//! Conversations that Claude has written down: listed, loaded, gone on with, deleted.

use e2e_tests::harness::{Client, World, no_questions};
use e2e_tests::model::text;
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::support::{assert_error, greet, open};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = cases![Claude, Stdio:
        conversations_are_listed_newest_first_with_their_folder,
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
