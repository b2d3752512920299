//! Arrival order, and the order of what leaves.

use serde_json::json;

use super::harness::{Rig, within};
use crate::Line;

#[tokio::test]
async fn a_notification_finds_the_request_before_it_registered() {
    let mut rig = Rig::new();
    let mut burst = String::new();
    let mut expected = Vec::new();
    for round in 0..50 {
        burst += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{round},\"method\":\"hold\",\"params\":{{\"name\":\"{round}\"}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"method\":\"note\",\"params\":{{\"name\":\"{round}\"}}}}\n"
        );
        expected.push(format!("hold {round}"));
        expected.push(format!("note {round}"));
    }
    rig.client.send_bytes(burst.as_bytes()).await;
    rig.client.expect_silence().await;
    assert_eq!(rig.stage.log(), expected);
}

#[tokio::test]
async fn what_a_handler_sent_leaves_before_its_answer() {
    let router = crate::RouterBuilder::new()
        .request(
            "prompt",
            async |context: crate::RequestContext, _: serde_json::Value| {
                for number in 0..100 {
                    let update = Line::notification("update", &json!({ "number": number }));
                    context.connection.send(update).await.expect("open");
                    tokio::task::yield_now().await;
                }
                Ok(json!("done"))
            },
        )
        .unwrap()
        .build();
    let (agent, client) = crate::Duplex::pair(64);
    let (_, serving) = crate::serve(
        agent,
        router,
        crate::PeerOptions {
            queue_lines: 3,
            ..Default::default()
        },
    );
    tokio::spawn(serving);

    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seeing = seen.clone();
    let router = crate::RouterBuilder::new()
        .notification("update", move |_, params: serde_json::Value| {
            seeing.lock().unwrap().push(params["number"].clone())
        })
        .unwrap()
        .build();
    let (connection, serving) = crate::serve(client, router, crate::PeerOptions::default());
    tokio::spawn(serving);
    let (line, pending) = connection.prepare_request("prompt", &json!({}));
    connection.send(line).await.unwrap();
    let result = within(pending).await.expect("an answer");
    assert_eq!(result.get(), "\"done\"");
    let expected: Vec<_> = (0..100).map(|number| json!(number)).collect();
    assert_eq!(
        *seen.lock().unwrap(),
        expected,
        "every update came before the answer"
    );
}

#[tokio::test]
async fn responded_fires_after_the_answer_is_queued() {
    let mut rig = Rig::new();
    rig.client.request("1", "hold", json!({"name": "a"})).await;
    rig.client.expect_silence().await;
    let responded = rig.stage.responded().remove(0);
    assert!(!responded.is_cancelled());
    rig.stage.release("a");
    within(responded.cancelled()).await;
    // Whatever waited for that and is sent now comes after the answer.
    rig.connection
        .send(Line::notification("after", &json!({})))
        .await
        .unwrap();
    assert_eq!(rig.client.message().await["id"], json!(1));
    assert_eq!(rig.client.message().await["method"], json!("after"));
}
