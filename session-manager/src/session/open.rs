//! Opening a session: the settings it starts from, its first process, and the actor that runs it.

use std::sync::Arc;

use acp_proto::{RpcError, schema};
use claude_sdk_bridge::messages::control::{ControlRequest, GetContextUsage};
use claude_sdk_bridge::query::Query;
use permission_core::settings::HostFacts;

use super::actor::Actor;
use super::choices::Choices;
use super::outlet::Outlet;
use super::process::{Process, Transcript};
use super::questions::{Client, Questions};
use super::settings::{self, Settings, Texts};
use super::start::{Origin, Started, Told, start};
use super::{Current, Login, NewSession, Opened, SessionHandle, answers};
use crate::client_options::{ClientOptionError, OPTIONS, Wanted};
use crate::history::{self, Keeper, Shown};
use crate::manager::SessionManager;
use crate::modes::Modes;
use crate::options::{Options, SettingsFacts};
use crate::permission::{GuardFacts, SessionGuard, Whose};
use crate::setup::SetupError;
use crate::translate::{self, Translator};
use crate::usage::UsageMeter;
use crate::{SettingsOrigin, commands};

/// Opens a new session: reads the settings, starts Claude, then the actor. Dropping the future ends a process that is
/// being started.
///
/// # Errors
/// When Claude does not start.
pub(crate) async fn open(manager: Arc<SessionManager>, new: NewSession) -> Result<Opened, RpcError> {
    let wanted = &new.setup.wanted;
    let settings = read_settings(&manager, wanted).await;
    let (mut modes, mut notes) = modes(&manager, &new, &settings)?;
    let origin = Origin {
        backend: Arc::clone(&manager.backend),
        timings: manager.config.timings.clone(),
        login: Login::new(&manager.config.login, new.client),
        greeting: wanted.greeting.clone(),
    };
    let first = first_process(&origin, &new, &settings, &mut modes);
    let (started, mut shown) = tokio::try_join!(first, replayed(&new))?;
    let Started { mut query, told } = *started;
    let chosen = chosen(&new, &told)?;

    notes.extend(new.setup.notices.iter().cloned());
    notes.extend(modes.started(told.mode(), chosen.supports_auto(chosen.model())));
    let id = schema::SessionId::new(new.setup.id.as_str());
    let mut outlet = Outlet::new(new.connection.clone(), id.clone(), new.announce_after.clone());
    let mut first = vec![commands::update(&told.info.commands)];
    first.extend(notes.iter().map(|note| translate::warning(note)));
    if new.is_replayed() {
        first.extend(window(&mut shown.meter, &mut query).await);
        outlet.show_first(first).await?;
    } else {
        outlet.show(first);
    }
    let mut questions = questions(&manager, &new);
    questions.settings_told(&told.settings);
    let keeper = Keeper::new(
        manager.config.records(),
        new.setup.id,
        new.record,
        modes.current(),
        new.lock,
    );
    let transcript = Transcript::of(&wanted.options.session, keeper.conversation());
    let choices = Choices::new(
        (modes, chosen),
        settings,
        wanted.options.clone(),
        new.client.switches,
    );
    let (handle, commands) = SessionHandle::new(new.connection.id());
    let current = Current::of(&choices);
    let process = Process::new(origin, query, transcript);
    let actor = Actor::new(process, questions, (choices, keeper), (shown, outlet), &told);
    tokio::spawn(actor.run(commands));
    Ok(Opened { id, current, handle })
}

/// Starts Claude with what the client wants, and beside that with what was chosen before.
async fn first_process(
    origin: &Origin,
    new: &NewSession,
    settings: &Settings,
    modes: &mut Modes,
) -> Result<Box<Started>, RpcError> {
    let mut options = new.setup.wanted.options.clone();
    settings.enforce(&mut options);
    let kept = new.record.options.clone().unless(&options).relaunch();
    kept.apply(&mut options);
    modes.launch(modes.current(), &mut options);
    let started = start(origin, &options, &kept.then).await;
    started.map_err(|failure| answers::launch_error(&failure, &origin.login))
}

/// The options of a session whose first process has told these.
fn chosen(new: &NewSession, told: &Told) -> Result<Options, SetupError> {
    let wanted = &new.setup.wanted.options;
    if wanted.settings.is_some()
        && let Some((setting, reason)) = settings::left_out(&told.settings)
    {
        return Err(SetupError::Option(ClientOptionError::LeftOut { setting, reason }));
    }
    let facts = SettingsFacts::read(&told.settings);
    let mut chosen = Options::new(&told.info, facts, new.client.switches);
    chosen.asked(wanted)?;
    chosen.restore(new.record.options.clone().unless(wanted));
    chosen.observed_settings(&told.settings);
    Ok(chosen)
}

/// What the client is shown before anything happens: the conversation that the session goes on with, if it wants that.
async fn replayed(new: &NewSession) -> Result<Shown, RpcError> {
    let id = schema::SessionId::new(new.setup.id.as_str());
    let cwd = new.setup.wanted.options.cwd.clone();
    let mut shown = Shown::new(Translator::new(id.clone(), cwd, new.client.extensions.terminal));
    let stored = new.stored.iter().filter(|stored| stored.replayed);
    for transcript in stored.flat_map(|stored| &stored.transcripts) {
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
    new: &NewSession,
    settings: &Settings,
) -> Result<(Modes, Vec<String>), SetupError> {
    let wanted = &new.setup.wanted;
    let privileges = manager.config.privileges;
    let host = HostFacts {
        root: privileges.root,
        sandboxed: privileges.sandboxed,
        client_opted_out: wanted.bypass_declined,
        model_supports_auto: None,
    };
    let (mut modes, problems) = Modes::new(settings.effective(), host);
    let mut problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if let Some(mode) = wanted.options.permission_mode {
        let mode = modes.requested(mode.wire_id()).map_err(|error| {
            SetupError::Option(ClientOptionError::NotOffered {
                key: format!("{OPTIONS}permissionMode"),
                reason: error.to_string(),
            })
        })?;
        modes.set(mode);
    } else if let Some(kept) = &new.record.mode {
        match modes.requested(kept) {
            Ok(mode) => drop(modes.set(mode)),
            Err(error) => problems.push(format!(
                "The conversation is not in the mode it was left in: {error}."
            )),
        }
    }
    Ok((modes, problems))
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
