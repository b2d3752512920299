//! Whether a file can be run as the CLI, as far as looking at it tells: there, a file, executable, and whatever it needs
//! to run (dynamic loader, script interpreter) there as well. The last part finds the CLI that was built for another
//! system, which would otherwise only fail once it is started.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Enough for a script's first line and for the headers of a program.
const HEAD_BYTES: u64 = 4096;

/// Why a file cannot be run as the CLI. Reads as the rest of a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Nothing there.
    #[error("does not exist")]
    Missing,
    /// A directory.
    #[error("is a directory")]
    Directory,
    /// No regular file.
    #[error("is not a regular file")]
    NotAFile,
    /// The user may not run it.
    #[error("is not executable")]
    NotExecutable,
    /// What the file needs to run is missing: it was made for another system.
    #[error("needs `{}`, which this system does not have", .0.display())]
    InterpreterMissing(PathBuf),
    /// It is the program that looks for the CLI.
    #[error("is this program itself")]
    IsThisProgram,
    /// The path is relative, and would mean another file in every working directory.
    #[error("is not an absolute path")]
    Relative,
    /// It cannot be looked at.
    #[error("cannot be looked at: {0}")]
    Unreadable(String),
}

/// Looks at `file`; `path` is where a script's interpreter is searched.
pub(super) fn check(file: &Path, path: Option<&OsStr>) -> Result<(), Unusable> {
    if !file.is_absolute() {
        return Err(Unusable::Relative);
    }
    let metadata = std::fs::metadata(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unusable::Missing,
        _ => Unusable::Unreadable(error.to_string()),
    })?;
    if metadata.is_dir() {
        return Err(Unusable::Directory);
    }
    if !metadata.is_file() {
        return Err(Unusable::NotAFile);
    }
    access(file, Access::EXEC_OK).map_err(|_| Unusable::NotExecutable)?;
    match head(file).and_then(|head| interpreter(&head, path)) {
        Some(missing) if !missing.exists() => Err(Unusable::InterpreterMissing(missing)),
        _ => Ok(()),
    }
}

/// The beginning of a file; a program need not be readable to be run.
fn head(file: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)
        .ok()?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)
        .ok()?;
    Some(head)
}

/// What the kernel or `env` would start to run the file.
fn interpreter(head: &[u8], path: Option<&OsStr>) -> Option<PathBuf> {
    match head.strip_prefix(b"#!") {
        Some(rest) => script_interpreter(rest.split(|byte| *byte == b'\n').next()?, path),
        None => elf_interpreter(head),
    }
}

fn script_interpreter(line: &[u8], path: Option<&OsStr>) -> Option<PathBuf> {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let program = PathBuf::from(OsStr::from_bytes(words.next()?));
    if program.file_name() != Some(OsStr::new("env")) || !program.exists() {
        return Some(program);
    }
    let name = OsString::from(OsStr::from_bytes(
        words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?,
    ));
    let found = std::env::split_paths(path?)
        .map(|directory| directory.join(&name))
        .find(|file| file.is_file());
    Some(found.unwrap_or_else(|| PathBuf::from(name)))
}

/// The dynamic loader a 64-bit little-endian ELF program asks for.
fn elf_interpreter(head: &[u8]) -> Option<PathBuf> {
    const PT_INTERP: u64 = 3;
    head.strip_prefix(b"\x7fELF\x02\x01")?;
    let table = number(head, 0x20, 8)?;
    let entry_bytes = number(head, 0x36, 2)?;
    let entries = number(head, 0x38, 2)?;
    let entry = (0..entries)
        .filter_map(|index| table.checked_add(index.checked_mul(entry_bytes)?))
        .find(|entry| number(head, *entry, 4) == Some(PT_INTERP))?;
    let start = usize::try_from(number(head, entry.checked_add(8)?, 8)?).ok()?;
    let length = usize::try_from(number(head, entry.checked_add(0x20)?, 8)?).ok()?;
    let name = head.get(start..start.checked_add(length)?)?;
    let name = name.strip_suffix(b"\0").unwrap_or(name);
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// A little-endian number of `width` bytes.
fn number(head: &[u8], at: u64, width: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = head.get(at..at.checked_add(width)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| (value << 8) | u64::from(*byte)),
    )
}
