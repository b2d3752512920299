//! Starting Claude: for a new session, and again for one whose process is gone.

use std::sync::Arc;

use acp_proto::RpcError;
use claude_sdk_bridge::{
    launch::{LaunchOptions, SessionStart},
    messages::{
        ContentBlock, MessageUuid, OutgoingUserMessage,
        control::{InitializeRequest, InitializeResponse},
    },
    query::{Query, StartError},
};
use futures::stream::FuturesUnordered;
use permission_core::PermissionMode;

use super::{
    Link, NewSession, Opened, Origin, SessionHandle,
    actor::{Actor, Claude, Farewell, HandOffPlan, Transcript},
    answers::{self, Cause, TurnFacts},
    outbox::Outbox,
};
use crate::{
    commands,
    manager::SessionManager,
    permission::{Asks, Subagents},
    translate::Translator,
    turn::{Event, Generation, TurnMachine},
};

/// What became of an attempt to start a process.
pub(super) type LaunchResult = Result<(Query, InitializeResponse), StartError>;

/// Opens a new session: starts Claude, then the actor. Dropping the future ends a process that is being started.
///
/// # Errors
/// When Claude does not start.
pub(crate) fn open(
    manager: &Arc<SessionManager>,
    new: NewSession,
) -> impl Future<Output = Result<Opened, RpcError>> + Send + use<> {
    let origin = Origin {
        backend: Arc::clone(&manager.backend),
        timings: manager.config.timings.clone(),
        home: manager.config.home.clone(),
        options: new.options,
    };
    let NewSession {
        id,
        client,
        connection,
        announce_after,
        ..
    } = new;
    async move {
        let started = start(&origin, &origin.options).await;
        let (query, info) = started.map_err(|error| answers::start_error(&error))?;
        let mode = mode_of(&info).unwrap_or(PermissionMode::Default);
        let (sender, commands) = Link::channel();
        let session_id = acp_proto::schema::SessionId::new(id.as_str());
        let handle = SessionHandle {
            commands: sender,
            owner: connection.id(),
        };
        let mut actor = Actor {
            translator: Translator::new(
                session_id.clone(),
                origin.options.cwd.clone(),
                client.extensions.terminal,
            ),
            origin,
            link: Link {
                connection,
                session_id: session_id.clone(),
            },
            commands,
            claude: Claude::Running(Generation(1), Box::new(query)),
            turn: TurnMachine::new(),
            prompts: std::collections::HashMap::new(),
            asks: Asks::default(),
            mode,
            transcript: Transcript::Unwritten(id),
            calls: FuturesUnordered::new(),
            outbox: Outbox::held(),
            escalation: None,
            announce_after: Some(announce_after),
            commands_update: Some(commands::update(&info.commands)),
            subagents: Subagents::default(),
            facts: TurnFacts::default(),
            hand_off: None,
            closing: Vec::new(),
            farewell: Farewell::No,
        };
        actor.dispatch(Event::Adopted(Generation(1)));
        tokio::spawn(actor.run());
        Ok(Opened {
            id: session_id,
            mode,
            handle,
        })
    }
}

impl Actor {
    /// Starts a process that goes on with what Claude has written down, or from nothing when that is nothing.
    pub(super) fn launch(&mut self, generation: Generation) {
        let (first, second) = match &self.transcript {
            Transcript::Unwritten(id) => (
                SessionStart::New { id: id.clone() },
                SessionStart::Resume {
                    id: id.clone(),
                    at: None,
                },
            ),
            Transcript::Written(id) => (
                SessionStart::Resume {
                    id: id.clone(),
                    at: None,
                },
                SessionStart::New { id: id.clone() },
            ),
        };
        let origin = self.origin.clone();
        let mode = Some(self.mode);
        self.claude = Claude::Starting(
            generation,
            Box::pin(async move {
                let options = |session| LaunchOptions {
                    session,
                    permission_mode: mode,
                    ..origin.options.clone()
                };
                match start(&origin, &options(first)).await {
                    // Claude and we disagree about what it has written down, so it is asked the other way.
                    Err(StartError::Refused { .. }) => start(&origin, &options(second)).await,
                    started => started,
                }
            }),
        );
    }

    /// Starts a process that knows nothing of the conversation, for the plan that is handed over.
    pub(super) fn launch_fresh(&mut self, generation: Generation) {
        let Some(HandOffPlan { mode, session, .. }) = &self.hand_off else {
            return;
        };
        let options = LaunchOptions {
            session: SessionStart::New { id: session.clone() },
            permission_mode: Some(*mode),
            ..self.origin.options.clone()
        };
        let origin = self.origin.clone();
        self.claude = Claude::Starting(
            generation,
            Box::pin(async move { start(&origin, &options).await }),
        );
    }

    /// The attempt is over.
    pub(super) fn launched(&mut self, generation: Generation, result: LaunchResult) {
        match result {
            Ok((query, info)) => {
                self.claude = Claude::Running(generation, Box::new(query));
                if let Some(hand_off) = self.hand_off.take() {
                    self.take_over(hand_off);
                }
                if mode_of(&info).is_some_and(|mode| mode != self.mode) {
                    self.set_mode(self.mode, None);
                }
                self.dispatch(Event::Launched(generation));
            }
            Err(error) => {
                self.claude = Claude::Absent;
                self.dispatch_because(Event::LaunchFailed(generation), Cause::Launch(&error));
            }
        }
    }
}

async fn start(origin: &Origin, options: &LaunchOptions) -> LaunchResult {
    Query::start(
        origin.backend.as_ref(),
        options,
        InitializeRequest::default(),
        &origin.timings.query,
    )
    .await
}

impl Actor {
    /// The fresh process is the session's now: it goes on with the prompt that made the plan, which is the plan from here on.
    fn take_over(&mut self, hand_off: HandOffPlan) {
        let HandOffPlan { mode, plan, session } = hand_off;
        self.transcript = Transcript::Unwritten(session);
        self.mode_changed(mode);
        for (id, prompt) in self.prompts.iter_mut().filter(|(_, prompt)| prompt.sent) {
            let text = format!("Implement the following plan:\n\n{plan}");
            prompt.message = OutgoingUserMessage::prompt(
                MessageUuid::from(id.to_string()),
                vec![ContentBlock::text(text)],
            );
        }
    }
}

fn mode_of(info: &InitializeResponse) -> Option<PermissionMode> {
    info.current_permission_mode
        .as_str()
        .and_then(PermissionMode::from_wire_id)
}
