//! Opening a session: the settings it starts from, its first process, and the actor that runs it.

use std::{collections::HashMap, sync::Arc};

use acp_proto::{RpcError, schema};
use claude_sdk_bridge::messages::ClaudeSessionId;
use futures::stream::FuturesUnordered;
use permission_core::settings::{HostFacts, SettingsProblem};
use tokio::sync::mpsc;

use super::{
    Command, Link, Login, NewSession, Opened, Origin, SessionHandle,
    actor::{Actor, Claude, Farewell, Transcript},
    answers::{self, TurnFacts},
    configure::Waiter,
    grants::Grants,
    outbox::Outbox,
    settings::{self, SettingsWatch},
    start::{Started, start},
};
use crate::{
    SettingsOrigin,
    client_options::{ClientOptionError, OPTIONS},
    commands,
    manager::SessionManager,
    modes::Modes,
    options::{Options, SettingsFacts},
    permission::{Asks, GuardFacts, SessionGuard, Subagents, Whose},
    setup::{Setup, SetupError},
    translate::{self, Translator},
    turn::{Event, Generation, TurnMachine},
    usage::{TurnUsage, UsageMeter},
};

/// Everything about a new session that is known before its first process is.
struct Opening {
    id: ClaudeSessionId,
    client: crate::initialize::ClientFacts,
    link: Link,
    announce_after: tokio_util::sync::CancellationToken,
    origin: Origin,
    modes: Modes,
    notes: Vec<SettingsProblem>,
    /// What the user has to know about what the client asked for.
    notices: Vec<String>,
    watch: Option<SettingsWatch>,
    guard: SessionGuard,
}

/// Opens a new session: reads the settings, starts Claude, then the actor. Dropping the future ends a process that is
/// being started.
///
/// # Errors
/// When Claude does not start.
pub(crate) async fn open(manager: Arc<SessionManager>, new: NewSession) -> Result<Opened, RpcError> {
    let mut opening = prepare(&manager, new).await;
    if let Some(mode) = opening.origin.options.permission_mode {
        let mode = opening.modes.requested(mode.wire_id()).map_err(|error| {
            RpcError::from(SetupError::Option(ClientOptionError::NotOffered {
                key: format!("{OPTIONS}permissionMode"),
                reason: error.to_string(),
            }))
        })?;
        opening.modes.set(mode);
    }
    let mode = opening.modes.current();
    let mut options = opening.origin.next(opening.watch.as_ref());
    opening.modes.launch(mode, &mut options);
    let started = start(&opening.origin, &options, &[]).await;
    let started = started.map_err(|error| answers::start_error(&error))?;
    if !opening.origin.login.takes(&started.info) {
        return Err(opening.origin.login.refused());
    }
    if opening.origin.options.settings.is_some()
        && let Some((setting, reason)) = settings::left_out(&started.settings)
    {
        return Err(SetupError::Option(ClientOptionError::LeftOut { setting, reason }).into());
    }
    let facts = SettingsFacts::read(&started.settings);
    let mut choices = Options::new(&started.info, facts, opening.client.switches);
    choices.asked(&options).map_err(SetupError::from)?;
    choices.observed_settings(&started.settings);
    Ok(opening.run(*started, choices))
}

async fn prepare(manager: &SessionManager, new: NewSession) -> Opening {
    let config = &manager.config;
    let Setup { id, wanted, notices } = new.setup;
    let watch = match config.settings.clone() {
        SettingsOrigin::Files(surroundings) => {
            SettingsWatch::start(manager.settings_watcher(), surroundings, &wanted.options).await
        }
        SettingsOrigin::Given(texts) => Some(SettingsWatch::of(texts, &wanted.options)),
    };
    let settings = settings::effective(watch.as_ref(), config.policy.as_deref());
    let host = HostFacts {
        root: config.privileges.root,
        sandboxed: config.privileges.sandboxed,
        client_opted_out: wanted.bypass_declined,
        model_supports_auto: None,
    };
    let (modes, notes) = Modes::new(settings, host);
    let session_id = schema::SessionId::new(id.as_str());
    let guard = SessionGuard::new(GuardFacts {
        policy: config.policy.clone(),
        audit: config.audit.clone(),
        whose: Whose {
            connection: format!("{} #{}", new.connection.label(), new.connection.id()),
            session: session_id.to_string(),
            cwd: wanted.options.cwd.clone(),
        },
        home: config.home.clone(),
        claude: config.claude_directory(),
        additional: wanted.options.additional_directories.clone(),
    });
    Opening {
        guard,
        id,
        notices,
        client: new.client,
        link: Link {
            connection: new.connection,
            session_id,
        },
        announce_after: new.announce_after,
        origin: Origin {
            backend: Arc::clone(&manager.backend),
            timings: config.timings.clone(),
            policy: config.policy.clone(),
            environment: config.environment.clone(),
            home: config.home.clone(),
            login: Login::new(&config.login, new.client),
            options: wanted.options,
            greeting: wanted.greeting,
        },
        modes,
        notes,
        watch,
    }
}

impl Opening {
    fn run(self, started: Started, choices: Options) -> Opened {
        let (sender, commands) = Link::channel();
        let handle = SessionHandle {
            commands: sender,
            owner: self.link.connection.id(),
        };
        let mode = started.mode();
        let mut actor = self.actor(started, choices, commands);
        actor.dispatch(Event::Adopted(Generation(1)));
        if mode.is_some_and(|mode| mode != actor.modes.current()) {
            actor.set_mode(actor.modes.current(), Waiter::Nobody);
        }
        let opened = Opened {
            id: actor.link.session_id.clone(),
            modes: actor.modes.state(),
            options: actor.option_list(),
            handle,
        };
        tokio::spawn(actor.run());
        opened
    }

    fn actor(mut self, started: Started, options: Options, commands: mpsc::Receiver<Command>) -> Actor {
        let mode = started.mode();
        let Started {
            query,
            info,
            settings,
            early,
        } = started;
        self.guard.settings_told(&settings);
        let supports_auto = options.supports_auto(options.model());
        self.notices.extend(self.modes.started(mode, supports_auto));
        let mut greetings = vec![commands::update(&info.commands)];
        greetings.extend(
            self.notes
                .iter()
                .map(|note| translate::warning(&note.to_string())),
        );
        greetings.extend(self.notices.iter().map(|notice| translate::warning(notice)));
        let session_id = self.link.session_id.clone();
        let cwd = self.origin.options.cwd.clone();
        Actor {
            translator: Translator::new(session_id, cwd, self.client.extensions.terminal),
            options,
            origin: self.origin,
            link: self.link,
            commands,
            claude: Claude::Running(Generation(1), Box::new(query)),
            early,
            turn: TurnMachine::new(),
            prompts: HashMap::new(),
            unheard: Vec::new(),
            asks: Asks::default(),
            guard: self.guard,
            grants: Grants::default(),
            modes: self.modes,
            client: self.client,
            watch: self.watch,
            transcript: Transcript::Unwritten(self.id),
            calls: FuturesUnordered::new(),
            outbox: Outbox::held(),
            escalation: None,
            announce_after: Some(self.announce_after),
            greetings,
            subagents: Subagents::default(),
            facts: TurnFacts::default(),
            meter: UsageMeter::new(),
            turn_usage: TurnUsage::default(),
            hand_off: None,
            closing: Vec::new(),
            farewell: Farewell::No,
        }
    }
}
