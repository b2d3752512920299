//! Opening a session: the settings it starts from, its first process, and the actor that runs it.

use std::sync::Arc;

use acp_proto::{RpcError, schema};
use permission_core::settings::HostFacts;

use super::{
    Login, NewSession, Opened, SessionHandle,
    actor::Actor,
    answers,
    choices::Choices,
    outlet::Outlet,
    process::Process,
    questions::{Client, Questions},
    settings::{self, Settings, Texts},
    start::{Origin, Started, start},
};
use crate::{
    SettingsOrigin,
    client_options::{ClientOptionError, OPTIONS, Wanted},
    commands,
    manager::SessionManager,
    modes::Modes,
    options::{Options, SettingsFacts},
    permission::{GuardFacts, SessionGuard, Whose},
    setup::SetupError,
    translate::{self, Translator},
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
    let started = start(&origin, &options, &[]).await;
    let started = started.map_err(|failure| answers::launch_error(&failure, &origin.login))?;
    let Started { query, told } = *started;
    if wanted.options.settings.is_some()
        && let Some((setting, reason)) = settings::left_out(&told.settings)
    {
        return Err(SetupError::Option(ClientOptionError::LeftOut { setting, reason }).into());
    }
    let facts = SettingsFacts::read(&told.settings);
    let mut chosen = Options::new(&told.info, facts, new.client.switches);
    chosen.asked(&options).map_err(SetupError::from)?;
    chosen.observed_settings(&told.settings);

    let started_in = modes.started(told.mode(), chosen.supports_auto(chosen.model()));
    let id = schema::SessionId::new(new.setup.id.as_str());
    let mut outlet = Outlet::new(new.connection.clone(), id.clone(), new.announce_after.clone());
    outlet.show([commands::update(&told.info.commands)]);
    let notes = problems.iter().chain(&new.setup.notices).chain(&started_in);
    outlet.show(notes.map(|note| translate::warning(note)));
    let mut questions = questions(&manager, &new);
    questions.settings_told(&told.settings);
    let translator = Translator::new(
        id.clone(),
        wanted.options.cwd.clone(),
        new.client.extensions.terminal,
    );
    let choices = Choices::new(
        (modes, chosen),
        settings,
        wanted.options.clone(),
        new.client.switches,
    );
    let (handle, commands) = SessionHandle::new(new.connection.id());
    let opened = Opened {
        id,
        modes: choices.modes().state(),
        options: choices.options(),
        handle,
    };
    let process = Process::new(origin, query, new.setup.id);
    let actor = Actor::new(process, questions, choices, (translator, outlet), told.mode());
    tokio::spawn(actor.run(commands));
    Ok(opened)
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
        cwd: options.cwd.clone(),
        home: config.home.clone(),
    };
    Questions::new(guard, client)
}
