//! `policy`: whether a file is a policy, and what would become of a tool call. Nothing is started, and no hook runs.

use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use claude_sdk_bridge::paths::FileSystemPaths;
use claude_sdk_bridge::settings::{Locations, SettingsText, read_all};
use permission_core::explain::{Account, ExplainedSession, Verdict, explain};
use permission_core::settings::{HostFacts, SettingsFile};
use permission_core::{main_parameter, misspelled};
use serde_json::{Value, json};

use super::{load, text_of, tried, wording};
use crate::args::{ExplainArgs, Given, PolicyCommand, object};
use crate::exit;

/// More of standard input is not read.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// Does what was asked for; gives the exit code.
///
/// # Errors
/// When a policy cannot be used, there is no such directory, or the answer cannot be written.
pub(crate) fn run(command: PolicyCommand) -> anyhow::Result<u8> {
    let (mut out, mut complaints) = (io::stdout().lock(), io::stderr().lock());
    let answered = match command {
        PolicyCommand::Check { files } => check(&files, &mut out, &mut complaints),
        PolicyCommand::Explain(args) => match called(&args)? {
            Ok(call) => tell(&account(&args, &call)?, args.json, &mut out, &mut complaints),
            Err(why) => writeln!(complaints, "{}", wording::not_a_call(&why)).map(|()| exit::MISUSED),
        },
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
            Ok(Ok(policy)) => writeln!(out, "{}", wording::summary(file, &policy))?,
            Ok(Err(mistakes)) => {
                code = exit::FAILED;
                for mistake in mistakes {
                    writeln!(complaints, "{mistake}")?;
                }
            }
            Err(why) => {
                code = exit::FAILED;
                writeln!(complaints, "{}", wording::not_usable(file, &why))?;
            }
        }
    }
    Ok(code)
}

fn tell(account: &Account, json: bool, out: &mut impl Write, complaints: &mut impl Write) -> io::Result<u8> {
    if json {
        writeln!(out, "{}", account.to_json())?;
    } else {
        for warning in &account.warnings {
            writeln!(complaints, "{}", wording::warning(warning))?;
        }
        writeln!(out, "{account}")?;
    }
    Ok(match account.verdict {
        Verdict::Runs => exit::DONE,
        Verdict::Asked | Verdict::Classified => exit::ASKED,
        Verdict::Denied => exit::DENIED,
    })
}

/// The call that is explained, or why nobody could make it.
fn called(args: &ExplainArgs) -> anyhow::Result<Result<(String, Value), String>> {
    let tool = args.tool.as_deref().unwrap_or("Bash");
    let input = match (&args.command, &args.input) {
        (Some(Given::Here(command)), _) => Ok(json!({ "command": command })),
        (Some(Given::Stdin), _) => Ok(json!({ "command": stdin()?.trim_end_matches('\n') })),
        (None, Some(Given::Stdin)) => object(&stdin()?),
        (None, Some(Given::Here(input))) => Ok(input.clone()),
        (None, None) => Ok(json!({})),
    };
    Ok(
        input.and_then(|input| match (misspelled(tool), main_parameter(tool)) {
            (Some(meant), _) => Err(wording::misspelled_tool(tool, meant)),
            (None, Some(parameter)) if !input.get(parameter).is_some_and(Value::is_string) => {
                Err(wording::no_parameter(tool, parameter))
            }
            (None, _) => Ok((tool.to_owned(), input)),
        }),
    )
}

fn stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let read = io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text);
    read.context("standard input cannot be read; give the value as an argument")?;
    Ok(text)
}

/// What would become of the call, in a session that a client would open in the directory now.
fn account(args: &ExplainArgs, (tool, input): &(String, Value)) -> anyhow::Result<Account> {
    let policy = args.policy.as_deref().map(load).transpose()?;
    let mut policy = policy.map(|(policy, _)| policy);
    let cwd = directory(args.cwd.as_deref())?;
    let surroundings = crate::surroundings::settings();
    let texts = read_all(&Locations::of(&surroundings, Path::new(&cwd)));
    let settings: Vec<SettingsFile> = texts.iter().map(SettingsText::parse).collect();
    let claude = surroundings.claude_directory();
    if let (Some(policy), Some(claude)) = (&mut policy, claude.as_deref().and_then(Path::to_str)) {
        policy.protected.push(claude.to_owned());
    }
    let policy = policy.map(Arc::new);
    let plans = claude.map(|claude| claude.join("plans"));
    let privileges = crate::surroundings::privileges();
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
    Ok(explain(&session, tool, input))
}

fn directory(given: Option<&Path>) -> anyhow::Result<String> {
    let path = match given {
        Some(given) => given.to_owned(),
        None => std::env::current_dir()
            .context("cannot use the current directory; change to another one, or use `--cwd`")?,
    };
    anyhow::ensure!(path.is_dir(), wording::no_directory(&path));
    // As Claude will tell it.
    let absolute = path.canonicalize()?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| anyhow::anyhow!(wording::CWD_NOT_TEXT))
}
