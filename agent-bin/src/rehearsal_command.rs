//! `rehearsal`: what there is to play, the format of scripts, and whether a script keeps to it. Nothing is played here,
//! and no process or session is started.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rehearsal::Script;
use rehearsal::script::{SCHEMA, Scene, names};

use crate::args::RehearsalCommand;
use crate::exit;

/// Does what was asked for; gives the exit code.
///
/// # Errors
/// When the answer cannot be written.
pub(crate) fn run(command: RehearsalCommand) -> anyhow::Result<u8> {
    let mut out = io::stdout().lock();
    let answered = match command {
        RehearsalCommand::List => list(&mut out),
        RehearsalCommand::Schema => out.write_all(SCHEMA.as_bytes()).map(|()| exit::DONE),
        RehearsalCommand::Check { files } => check(&files, &mut out, &mut io::stderr().lock()),
    };
    answered
        .and_then(|code| out.flush().map(|()| code))
        .context("the answer cannot be written to standard output")
}

fn list(out: &mut impl Write) -> io::Result<u8> {
    for name in names() {
        let script = Script::builtin(name).map_err(io::Error::other)?;
        writeln!(out, "{name:<12} {}", script.about)?;
        // The only scene of a script is the script.
        let scenes: &[Scene] = if script.scenes.len() > 1 {
            &script.scenes
        } else {
            &[]
        };
        for scene in scenes {
            writeln!(out, "  {:<10} {}", scene.name, scene.about)?;
        }
    }
    writeln!(out, "\n{HOW_TO_PLAY}")?;
    Ok(exit::DONE)
}

const HOW_TO_PLAY: &str = "\
Play one: `claude-acp chat --rehearse=NAME`, or `claude-acp --backend rehearsal=NAME` for any client.
In a session: the prompt `/rehearse NAME`, or `/rehearse SCRIPT/SCENE`.";

/// Files without a mistake go to `out`, the others to `complaints`, a line each.
fn check(files: &[PathBuf], out: &mut impl Write, complaints: &mut impl Write) -> io::Result<u8> {
    let mut code = exit::DONE;
    for file in files {
        match Script::load(file) {
            Ok(script) => writeln!(out, "{}", summary(file, &script))?,
            Err(error) => {
                code = exit::FAILED;
                writeln!(complaints, "{}", error.finding())?;
            }
        }
    }
    Ok(code)
}

fn summary(file: &Path, script: &Script) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        more => format!("{more} {noun}s"),
    };
    format!(
        "{}: no mistake, {}, {}",
        file.display(),
        counted(script.scenes.len(), "scene"),
        counted(script.turns().count(), "turn"),
    )
}
