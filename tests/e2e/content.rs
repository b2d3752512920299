//! What a prompt may hold, and how it reaches the model.

use e2e_tests::harness::{World, no_questions};
use e2e_tests::model::text;
use serde_json::json;

use crate::case::{Case, cases};
use crate::support::{assert_error, open};

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        an_image_reaches_the_model,
        a_resource_link_becomes_a_mention,
        embedded_text_follows_the_prompt,
        audio_is_refused_and_the_session_goes_on,
    ]
}

fn an_image_reaches_the_model(world: &mut World) {
    world.model().script([text("a pixel")]);
    let (_agent, mut client, session) = open(world);
    let blocks = json!([
        {"type": "text", "text": "what is this"},
        {"type": "image", "mimeType": "image/png", "data": PIXEL},
    ]);
    let prompt = client.start_prompt_with(&session, blocks);
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "a pixel");
    let blocks = world.model().wait_request(0).last_blocks();
    let image = blocks
        .iter()
        .find(|block| block["type"] == "image")
        .expect("an image block");
    assert_eq!(image["source"]["media_type"], "image/png");
    assert!(
        image["source"]["data"]
            .as_str()
            .is_some_and(|data| data.starts_with("iVBORw0KGgo")),
        "{image}"
    );
}

fn a_resource_link_becomes_a_mention(world: &mut World) {
    world.model().script([text("looked")]);
    let (_agent, mut client, session) = open(world);
    let blocks = json!([
        {"type": "text", "text": "look at "},
        {"type": "resource_link", "uri": "file:///somewhere/notes.txt", "name": "notes.txt"},
        {"type": "resource_link", "uri": "https://example.com/page", "name": "page"},
    ]);
    let prompt = client.start_prompt_with(&session, blocks);
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "looked");
    let seen = world.model().wait_request(0).last_text();
    assert!(
        seen.contains("[@notes.txt](file:///somewhere/notes.txt)"),
        "{seen}"
    );
    assert!(seen.contains("https://example.com/page"), "{seen}");
}

fn embedded_text_follows_the_prompt(world: &mut World) {
    world.model().script([text("read")]);
    let (_agent, mut client, session) = open(world);
    let resource = json!({"uri": "file:///somewhere/a.txt", "mimeType": "text/plain", "text": "the content"});
    let blocks = json!([{"type": "resource", "resource": resource}, {"type": "text", "text": "summarise"}]);
    let prompt = client.start_prompt_with(&session, blocks);
    assert_eq!(client.finish_prompt(&prompt, no_questions).text(), "read");
    let seen = world.model().wait_request(0).last_text();
    let context = "<context ref=\"file:///somewhere/a.txt\">\nthe content\n</context>";
    let (question, content) = (
        seen.find("summarise").unwrap(),
        seen.find(context).unwrap_or_default(),
    );
    assert!(content > question, "the content comes last: {seen}");
    assert!(seen.contains("[@a.txt](file:///somewhere/a.txt)"), "{seen}");
}

fn audio_is_refused_and_the_session_goes_on(world: &mut World) {
    world.model().script([text("still here")]);
    let (_agent, mut client, session) = open(world);
    let blocks = json!([{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]);
    let prompt = client.start_prompt_with(&session, blocks);
    let turn = client.finish_prompt(&prompt, no_questions);
    assert_error(turn.error(), -32602, "audio");
    assert_eq!(client.prompt(&session, "hi", no_questions).text(), "still here");
}
