//! Tables: what a prompt becomes.

use acp_proto::schema::ContentBlock as Acp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn check(prompt: Value, expected: Value) {
    let blocks: Vec<Acp> = serde_json::from_value(prompt).unwrap();
    assert_eq!(
        serde_json::to_value(user_content(blocks).unwrap()).unwrap(),
        expected
    );
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn resource(fields: Value) -> Value {
    json!({"type": "resource", "resource": fields})
}

#[test]
fn links_stay_in_place_and_embedded_texts_go_to_the_end() {
    check(
        json!([
            text("Look:"),
            {"type": "image", "mimeType": "image/png", "data": "iVBO"},
            {"type": "resource_link", "uri": "file:///p/a.txt", "name": "a.txt"},
            {"type": "resource_link", "uri": "https://example.com/x", "name": "x"},
            resource(json!({"uri": "file:///p/b.txt", "mimeType": "text/plain", "text": "embedded"})),
            resource(json!({"uri": "zed:///agent/symbol", "text": "sym"})),
            text("Thanks"),
        ]),
        json!([
            text("Look:"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            text("[@a.txt](file:///p/a.txt)"),
            text("https://example.com/x"),
            text("[@b.txt](file:///p/b.txt)"),
            text("[@symbol](zed:///agent/symbol)"),
            text("Thanks"),
            text("\n<context ref=\"file:///p/b.txt\">\nembedded\n</context>"),
            text("\n<context ref=\"zed:///agent/symbol\">\nsym\n</context>"),
        ]),
    );
}

#[test]
fn a_prompt_that_says_nothing_is_refused() {
    let unreadable = resource(json!({"uri": "file:///a", "mimeType": "application/zip", "blob": "UEsD"}));
    for prompt in [
        json!([]),
        json!([text("")]),
        json!([text(" \n"), text("")]),
        json!([unreadable]),
    ] {
        let blocks: Vec<Acp> = serde_json::from_value(prompt.clone()).unwrap();
        assert_eq!(user_content(blocks), Err(ContentError::Empty), "{prompt}");
    }
}

#[test]
fn addresses_without_a_name_stand_for_themselves() {
    for (uri, shown) in [
        ("file:///p/dir/", "[@dir](file:///p/dir/)"),
        ("file:///", "file:///"),
        ("zed://", "zed://"),
        ("untitled:1", "untitled:1"),
    ] {
        check(
            json!([{"type": "resource_link", "uri": uri, "name": "n"}]),
            json!([text(shown)]),
        );
    }
}

#[test]
fn only_the_first_text_can_be_a_prompt_of_an_mcp_server() {
    for (typed, sent) in [
        ("/mcp:tiny:greet Ann Bee", "/tiny:greet (MCP) Ann Bee"),
        ("/mcp:tiny:greet", "/tiny:greet (MCP)"),
        ("/mcp:tiny:greet\nnext line", "/tiny:greet (MCP)\nnext line"),
        ("/mcp reconnect tiny", "/mcp reconnect tiny"),
        ("/mcp:tiny", "/mcp:tiny"),
        ("/mcp::x", "/mcp::x"),
        ("say /mcp:tiny:greet", "say /mcp:tiny:greet"),
    ] {
        check(json!([text(typed)]), json!([text(sent)]));
    }
    check(
        json!([text("a"), text("/mcp:tiny:greet")]),
        json!([text("a"), text("/mcp:tiny:greet")]),
    );
}

#[test]
fn blobs_are_sent_as_what_claude_can_read_and_others_left_out() {
    let blob =
        |mime: Value, data: &str| resource(json!({"uri": "file:///x", "mimeType": mime, "blob": data}));
    let link = || text("[@x](file:///x)");
    let media = |kind: &str, media_type: &str| json!([link(), {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": "AAAA"}}]);
    let embedded = |inner: &str| {
        json!([
            link(),
            text(&format!("\n<context ref=\"file:///x\">\n{inner}\n</context>"))
        ])
    };
    check(
        json!([blob(json!("application/pdf"), "AAAA")]),
        media("document", "application/pdf"),
    );
    check(
        json!([blob(json!("image/jpg"), "AAAA")]),
        media("image", "image/jpeg"),
    );
    check(
        json!([blob(json!("image/webp"), "AAAA")]),
        media("image", "image/webp"),
    );
    check(json!([blob(json!("text/plain"), "aGVsbG8=")]), embedded("hello"));
    check(
        json!([blob(json!("application/vnd.x+json; charset=utf-8"), "e30=")]),
        embedded("{}"),
    );
    check(
        json!([blob(json!("Text/Plain; Charset=\"ISO-8859-1\""), "6Q==")]),
        embedded("é"),
    );
    check(
        json!([blob(json!("text/plain;charset=utf-16le"), "//5oAA==")]),
        embedded("h"),
    );
    for unreadable in [
        blob(json!("application/octet-stream"), "AAEC"),
        blob(json!(null), "AAEC"),
        blob(json!("text/plain"), "not base64!"),
        blob(json!("text/plain"), "/w=="),
        blob(json!("text/plain;charset=koi8-r"), "aGk="),
        blob(json!("text/plain;charset=utf-16be"), "AA=="),
    ] {
        check(json!([text("a"), unreadable]), json!([text("a")]));
    }
}

#[test]
fn images_may_be_given_by_address() {
    let url = json!([{"type": "image", "source": {"type": "url", "url": "https://example.com/i.png"}}]);
    check(
        json!([{"type": "image", "mimeType": "image/png", "data": "", "uri": "https://example.com/i.png"}]),
        url,
    );
    let data =
        json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]);
    check(
        json!([{"type": "image", "mimeType": "image/png", "data": "AAAA", "uri": "https://example.com/i.png"}]),
        data,
    );
}

#[test]
fn audio_is_refused_with_its_kind() {
    let blocks: Vec<Acp> = serde_json::from_value(
        json!([text("a"), {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]),
    )
    .unwrap();
    let error = RpcError::from(user_content(blocks).unwrap_err());
    assert_eq!(error.code(), -32602);
    assert_eq!(
        error.message(),
        "Invalid params: Content blocks of type audio are not supported"
    );
    assert_eq!(error.data().unwrap().get(), r#"{"type":"audio"}"#);
}

proptest! {
    #[test]
    fn no_text_address_or_blob_breaks_a_prompt(
        typed in "/?(mcp:)?[a-z: \n]{0,12}",
        uri in "(file|zed|http)?:?/{0,3}[a-z/ ]{0,10}",
        mime in "(text/plain|image/png|)(; ?charset=\"?[a-z0-9-]{0,9})?",
        blob in "[A-Za-z0-9+/=]{0,12}",
    ) {
        let prompt = json!([text(&typed), {"type": "resource_link", "uri": uri, "name": "n"},
            resource(json!({"uri": uri, "mimeType": mime, "blob": blob}))]);
        let blocks: Vec<Acp> = serde_json::from_value(prompt).unwrap();
        match user_content(blocks) {
            Ok(content) => prop_assert!(content.len() >= 2),
            Err(error) => prop_assert!(error == ContentError::Empty && typed.trim().is_empty()),
        }
    }
}
