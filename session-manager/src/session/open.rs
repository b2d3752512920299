//! Opening a session: the settings it starts from, its first process, and the actor that runs it.

use std::sync::Arc;

use acp_proto::{RpcError, errors, schema};
use claude_sdk_bridge::{
    launch::LaunchOptions,
    messages::control::{ControlRequest, GetContextUsage},
    query::Query,
};
use permission_core::settings::HostFacts;

use super::{
    Login, NewSession, Opened, SessionHandle, Stored,
    actor::Actor,
    answers,
    choices::Choices,
    outlet::Outlet,
    process::{Process, Transcript},
    questions::{Client, Questions},
    settings::{self, Settings, Texts},
    start::{Origin, Started, Told, start},
};
use crate::{
    SettingsOrigin,
    client_options::{ClientOptionError, OPTIONS, Wanted},
    commands,
    history::{self, Shown},
    manager::SessionManager,
    modes::Modes,
    options::{Options, SettingsFacts},
    permission::{GuardFacts, SessionGuard, Whose},
    setup::SetupError,
    translate::{self, Translator},
    usage::UsageMeter,
};

/// Opens a new session: reads the settings, starts Claude, then the actor. Dropping the future ends a process that is
/// being started.
///
/// # Errors
/// When Claude does not start.
pub(crate) async fn open(manager: Arc<SessionManager>, new: NewSession) -> Result<Opened, RpcError> {
    let wanted = &new.setup.wanted;
    let settings = read_settings(&manager, wanted).await;
    let (mut modes, problems) = modes(&manager, wanted, &settings)?;
    let origin = Origin {
        backend: Arc::clone(&manager.backend),
        timings: manager.config.timings.clone(),
        login: Login::new(&manager.config.login, new.client),
        greeting: wanted.greeting.clone(),
    };
    let mut options = wanted.options.clone();
    settings.enforce(&mut options);
    modes.launch(modes.current(), &mut options);
    let starting = async {
        let started = start(&origin, &options, &[]).await;
        started.map_err(|failure| answers::launch_error(&failure, &origin.login))
    };
    let (started, mut shown) = tokio::try_join!(starting, replayed(&new))?;
    let Started { mut query, told } = *started;
    let chosen = chosen(&new, &options, &told)?;
    let started_in = modes.started(told.mode(), chosen.supports_auto(chosen.model()));
    let id = schema::SessionId::new(new.setup.id.as_str());
    let mut outlet = Outlet::new(new.connection.clone(), id.clone(), new.announce_after.clone());
    let notes = problems.iter().chain(&new.setup.notices).chain(&started_in);
    let mut first = vec![commands::update(&told.info.commands)];
    first.extend(notes.map(|note| translate::warning(note)));
    if new.is_replayed() {
        // What comes behind the answer would not be part of what was loaded.
        first.extend(window(&mut shown.meter, &mut query).await);
        let told = history::send(&new.connection, &id, first).await;
        told.map_err(|closed| errors::internal(closed, None))?;
    } else {
        outlet.show(first);
    }
    let mut questions = questions(&manager, &new);
    questions.settings_told(&told.settings);
    let choices = Choices::new(
        (modes, chosen),
        settings,
        wanted.options.clone(),
        new.client.switches,
    );
    let (handle, commands) = SessionHandle::new(new.connection.id());
    let opened = Opened {
        id,
        current: choices.state(),
        handle,
    };
    let process = Process::new(origin, query, Transcript::of(new.setup.id, new.stored.is_some()));
    let actor = Actor::new(process, questions, choices, (shown, outlet), &told);
    tokio::spawn(actor.run(commands));
    Ok(opened)
}

/// The options of a session that has begun, with what its client asked for.
fn chosen(new: &NewSession, asked: &LaunchOptions, told: &Told) -> Result<Options, SetupError> {
    if new.setup.wanted.options.settings.is_some()
        && let Some((setting, reason)) = settings::left_out(&told.settings)
    {
        return Err(SetupError::Option(ClientOptionError::LeftOut { setting, reason }));
    }
    let facts = SettingsFacts::read(&told.settings);
    let mut chosen = Options::new(&told.info, facts, new.client.switches);
    chosen.asked(asked)?;
    chosen.observed_settings(&told.settings);
    Ok(chosen)
}

/// What the client is shown before anything happens: the conversation that the session goes on with, if it wants that.
async fn replayed(new: &NewSession) -> Result<Shown, RpcError> {
    let id = schema::SessionId::new(new.setup.id.as_str());
    let cwd = new.setup.wanted.options.cwd.clone();
    let mut shown = Shown::new(Translator::new(id.clone(), cwd, new.client.extensions.terminal));
    if let Some(Stored { transcript, .. }) = new.stored.as_ref().filter(|_| new.is_replayed()) {
        history::replay(transcript.clone(), &mut shown, (&new.connection, &id), true).await?;
    }
    Ok(shown)
}

/// How full the context is, once Claude has told how large it can be.
async fn window(meter: &mut UsageMeter, query: &mut Query) -> Option<schema::SessionUpdate> {
    if !meter.wants_window() {
        return None;
    }
    let request = ControlRequest::GetContextUsage(GetContextUsage {
        detail: "summary".to_owned().into(),
        ..GetContextUsage::default()
    });
    meter.window_told(query.ask(request).await.ok().as_ref())
}

async fn read_settings(manager: &SessionManager, wanted: &Wanted) -> Settings {
    let config = &manager.config;
    let texts = match &config.settings {
        SettingsOrigin::Files(surroundings) => {
            Texts::watch(manager.settings_watcher(), surroundings, &wanted.options).await
        }
        SettingsOrigin::Given(texts) => Texts::Given(texts.clone()),
    };
    Settings::new(
        texts,
        &wanted.options,
        config.policy.clone(),
        config.environment.clone(),
    )
}

/// The modes of a new session, in the one that its client asked for, and what is wrong with its settings.
fn modes(
    manager: &SessionManager,
    wanted: &Wanted,
    settings: &Settings,
) -> Result<(Modes, Vec<String>), SetupError> {
    let privileges = manager.config.privileges;
    let host = HostFacts {
        root: privileges.root,
        sandboxed: privileges.sandboxed,
        client_opted_out: wanted.bypass_declined,
        model_supports_auto: None,
    };
    let (mut modes, problems) = Modes::new(settings.effective(), host);
    if let Some(mode) = wanted.options.permission_mode {
        let mode = modes.requested(mode.wire_id()).map_err(|error| {
            SetupError::Option(ClientOptionError::NotOffered {
                key: format!("{OPTIONS}permissionMode"),
                reason: error.to_string(),
            })
        })?;
        modes.set(mode);
    }
    Ok((modes, problems.iter().map(ToString::to_string).collect()))
}

fn questions(manager: &SessionManager, new: &NewSession) -> Questions {
    let (config, options) = (&manager.config, &new.setup.wanted.options);
    let session = schema::SessionId::new(new.setup.id.as_str());
    let guard = SessionGuard::new(GuardFacts {
        policy: config.policy.clone(),
        audit: config.audit.clone(),
        whose: Whose {
            connection: format!("{} #{}", new.connection.label(), new.connection.id()),
            session: session.to_string(),
            cwd: options.cwd.clone(),
        },
        home: config.home.clone(),
        claude: config.claude_directory(),
        additional: options.additional_directories.clone(),
    });
    let client = Client {
        connection: new.connection.clone(),
        session,
    };
    Questions::new(guard, client)
}
