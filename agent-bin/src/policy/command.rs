//! `policy`: whether a file is a policy, and what would become of a tool call. Nothing is started, and no hook runs.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use claude_sdk_bridge::{
    paths::FileSystemPaths,
    settings::{Locations, SettingsText, read_all},
};
use permission_core::{
    explain::{Account, ExplainedSession, explain},
    settings::{HostFacts, SettingsFile},
};

use super::{load, text_of, tried, words};
use crate::{
    agent,
    args::{ExplainArgs, PolicyCommand},
    exit,
};

/// Does what was asked for; gives the exit code.
///
/// # Errors
/// When a policy cannot be used, there is no such directory, or the answer cannot be written.
pub(crate) fn run(command: PolicyCommand) -> anyhow::Result<u8> {
    let (mut out, mut complaints) = (io::stdout().lock(), io::stderr().lock());
    let answered = match command {
        PolicyCommand::Check { files } => check(&files, &mut out, &mut complaints),
        PolicyCommand::Explain(args) => tell(&account(args)?, &mut out, &mut complaints),
    };
    answered
        .and_then(|code| out.flush().map(|()| code))
        .context("the answer cannot be written to standard output")
}

/// Files without a mistake go to `out`, the mistakes of the others to `complaints`, a line each.
pub(super) fn check(files: &[PathBuf], out: &mut impl Write, complaints: &mut impl Write) -> io::Result<u8> {
    let mut code = exit::DONE;
    for file in files {
        match text_of(file).map(|text| tried(file, &text)) {
            Ok(Ok(policy)) => writeln!(out, "{}", words::summary(file, &policy))?,
            Ok(Err(mistakes)) => {
                code = exit::FAILED;
                for mistake in mistakes {
                    writeln!(complaints, "{mistake}")?;
                }
            }
            Err(why) => {
                code = exit::FAILED;
                writeln!(complaints, "{}", words::not_usable(file, &why))?;
            }
        }
    }
    Ok(code)
}

fn tell(account: &Account, out: &mut impl Write, complaints: &mut impl Write) -> io::Result<u8> {
    for warning in &account.warnings {
        writeln!(complaints, "{}", words::warning(warning))?;
    }
    writeln!(out, "{account}")?;
    Ok(exit::DONE)
}

/// What would become of the call, in a session that a client would open in the directory now.
fn account(args: ExplainArgs) -> anyhow::Result<Account> {
    let policy = args.policy.as_deref().map(load).transpose()?;
    let mut policy = policy.map(|(policy, _)| policy);
    let cwd = directory(args.cwd)?;
    let surroundings = agent::settings();
    let texts = read_all(&Locations::of(&surroundings, Path::new(&cwd)));
    let settings: Vec<SettingsFile> = texts.iter().map(SettingsText::parse).collect();
    let claude = surroundings.claude_directory();
    if let (Some(policy), Some(claude)) = (&mut policy, claude.as_deref().and_then(Path::to_str)) {
        policy.protected.push(claude.to_owned());
    }
    let policy = policy.map(Arc::new);
    let plans = claude.map(|claude| claude.join("plans"));
    let privileges = agent::privileges();
    let session = ExplainedSession {
        cwd: &cwd,
        home: surroundings.home.as_deref().and_then(Path::to_str),
        plans: plans.as_deref().and_then(Path::to_str),
        settings: &settings,
        host: HostFacts {
            root: privileges.root,
            sandboxed: privileges.sandboxed,
            client_opted_out: false,
            model_supports_auto: None,
        },
        mode: args.mode,
        policy: policy.as_ref(),
        paths: &FileSystemPaths,
    };
    Ok(explain(&session, &args.tool, &args.input))
}

fn directory(given: Option<PathBuf>) -> anyhow::Result<String> {
    let path = match given {
        Some(given) => given,
        None => std::env::current_dir()
            .context("cannot use the current directory; change to another one, or use `--cwd`")?,
    };
    anyhow::ensure!(path.is_dir(), words::no_directory(&path));
    // As Claude will tell it.
    let absolute = path.canonicalize()?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| anyhow::anyhow!(words::CWD_NOT_TEXT))
}
