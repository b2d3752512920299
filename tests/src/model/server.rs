//! The HTTP side of the model server: routes, the script's queue and the record of requests.
//!
//! One thread with a current-thread runtime a server; it ends with the [`ModelServer`].

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, post};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::record::Request;
use super::script::{Failure, Reply, Step, reply};
use super::wire::{self, Action};

/// How long a test waits for a request to arrive.
const PATIENCE: Duration = Duration::from_secs(240);

/// A running model server.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<ServerState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ServerState {
    script: VecDeque<Step>,
    /// What subagents are told, and the script of each.
    agents: Vec<(String, VecDeque<Step>)>,
    requests: Vec<Request>,
    unscripted: Vec<String>,
    messages: usize,
    outage: Option<Step>,
}

impl ModelServer {
    /// Starts a server on a free loopback port.
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port");
        listener.set_nonblocking(true).expect("a non-blocking socket");
        let address = listener.local_addr().expect("the port's number");
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = oneshot::channel();
        let app = router(Arc::clone(&shared));
        let thread = std::thread::spawn(move || serve(listener, app, stopped));
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Appends steps to the script.
    pub fn script<S: Into<Step>>(&self, steps: impl IntoIterator<Item = S>) {
        self.state().script.extend(steps.into_iter().map(Into::into));
    }

    /// What the model says to a subagent whose prompt this is, beside the script.
    pub fn script_agent<S: Into<Step>>(&self, prompt: &str, steps: impl IntoIterator<Item = S>) {
        let steps = steps.into_iter().map(Into::into).collect();
        self.state().agents.push((prompt.to_owned(), steps));
    }

    /// From now on every request of the main loop gets this answer, however often it is repeated.
    pub fn begin_outage(&self, failure: Step) {
        self.state().outage = Some(failure);
    }

    /// Goes back to the script.
    pub fn end_outage(&self) {
        self.state().outage = None;
    }

    /// The main-loop requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    /// Waits for the main-loop request with this number (counted from 0).
    pub fn wait_request(&self, number: usize) -> Request {
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(self.state(), PATIENCE, |state| state.requests.len() <= number)
            .expect("the server's lock");
        state.requests.get(number).cloned().unwrap_or_else(|| {
            panic!(
                "the model saw {} requests, expected number {number}",
                state.requests.len()
            )
        })
    }

    /// Fails when the script was not used up or the model was asked more than it has answers for.
    pub fn finish(&self) {
        let state = self.state();
        assert!(
            state.unscripted.is_empty(),
            "requests without a scripted answer: {:?}",
            state.unscripted
        );
        assert!(
            state.script.is_empty(),
            "steps that the model never came to say: {:?}",
            state.script
        );
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.shared.state.lock().expect("the server's lock")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Serves until the test is over; streams that still hang then are dropped with the runtime.
fn serve(listener: TcpListener, app: Router, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::select! {
            served = async { axum::serve(listener, app).await } => served.expect("serving"),
            _ = stopped => {}
        }
    });
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route(
            "/v1/messages/count_tokens",
            post(async || Json(json!({"input_tokens": 100}))),
        )
        .route("/", any(async || StatusCode::OK))
        .fallback(async |uri: Uri| {
            let error = json!({"type": "not_found_error", "message": format!("no route {uri}")});
            (
                StatusCode::NOT_FOUND,
                Json(json!({"type": "error", "error": error})),
            )
        })
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}

async fn messages(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = match serde_json::from_slice(&body) {
        Ok(body) => body,
        Err(error) => return failure(&refusal(&error.to_string())),
    };
    let (streams, model) = (
        body["stream"] == true,
        body["model"].as_str().unwrap_or("none").to_owned(),
    );
    let header = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(ToOwned::to_owned)
    };
    let credential = header("x-api-key").or_else(|| header("authorization"));
    let (step, id) = shared.next(Request { body, credential });
    match step {
        Step::Fail(step) => failure(&step),
        Step::Reply(step) if streams => stream(&step, &id, &model),
        Step::Reply(step) => Json(wire::message(&step, &id, &model)).into_response(),
    }
}

impl Shared {
    /// Takes the answer to a request off the script and records the request.
    fn next(&self, request: Request) -> (Step, String) {
        let mut state = self.state.lock().expect("the server's lock");
        state.messages += 1;
        let id = format!("msg_{}", state.messages);
        if is_side_request(&request) {
            return (reply().text("{\"title\": \"A title\"}").into(), id);
        }
        let last = request.last_text();
        let first = request.body["messages"][0].to_string();
        state.requests.push(request);
        self.changed.notify_all();
        if let Some(failure) = state.outage.clone() {
            return (failure, id);
        }
        let agents = state.agents.iter_mut();
        let mut of_agent = agents.filter(|(prompt, _)| first.contains(prompt.as_str()));
        let step = match of_agent.next() {
            Some((_, steps)) => steps.pop_front(),
            None => state.script.pop_front(),
        };
        let step = step.unwrap_or_else(|| {
            state.unscripted.push(last);
            Step::Fail(refusal("the script has no answer to this request"))
        });
        (step, id)
    }
}

/// Claude's main loop and its subagents offer tools; titles, summaries and probes do not. The guess at the user's
/// next prompt does, and says what it is.
fn is_side_request(request: &Request) -> bool {
    request.tool_names().is_empty() || request.last_text().starts_with("[SUGGESTION MODE")
}

fn refusal(message: &str) -> Failure {
    Failure {
        status: 400,
        kind: "invalid_request_error".into(),
        message: message.into(),
        headers: vec![("x-should-retry".into(), "false".into())],
    }
}

fn failure(failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(failure.body())).into_response();
    for (name, value) in &failure.headers {
        let name = axum::http::HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        response
            .headers_mut()
            .insert(name, value.parse().expect("a header value"));
    }
    response
}

fn stream(reply: &Reply, id: &str, model: &str) -> Response {
    let (events, received) = mpsc::channel::<String>(1);
    tokio::spawn(play(wire::stream(reply, id, model), events));
    let body = futures::stream::unfold(received, async |mut received| {
        received
            .recv()
            .await
            .map(|event| (Ok::<_, Infallible>(Bytes::from(event)), received))
    });
    ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
}

/// Sends the events one after another, waiting where the script says so; ends when the client is gone.
async fn play(actions: Vec<Action>, events: mpsc::Sender<String>) {
    for action in actions {
        match action {
            Action::Send(event) => {
                if events.send(event).await.is_err() {
                    return;
                }
            }
            Action::Wait(gate) => tokio::select! {
                () = gate.pass() => {}
                () = events.closed() => return,
            },
            Action::Think(time) => tokio::time::sleep(time).await,
            Action::Hang => return events.closed().await,
        }
    }
}
