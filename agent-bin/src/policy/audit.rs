//! The record of decisions: one line of JSON each, appended whole. Whoever asked for a decision is told when it cannot be
//! recorded.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use session_manager::{Audit, DecisionRecord};

/// A file that decisions are appended to.
#[derive(Debug)]
pub(crate) struct AuditFile {
    file: Mutex<Appended>,
}

#[derive(Debug)]
struct Appended {
    file: File,
    /// The last line did not come out whole.
    torn: bool,
}

impl AuditFile {
    /// Opens the file, and creates it for its owner only.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // A pipe that nobody reads must hold nobody up, neither here nor when it is full.
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NOCTTY
            | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
        Ok(Self {
            file: Mutex::new(Appended { file, torn: false }),
        })
    }
}

impl Audit for AuditFile {
    fn record(&self, decision: &DecisionRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(decision)?;
        line.push(b'\n');
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if appended.torn {
            line.insert(0, b'\n');
        }
        let written = appended.file.write_all(&line);
        appended.torn = written.is_err();
        written
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;
    use std::{fs, thread};

    use permission_core::PermissionMode;
    use serde_json::Value;
    use session_manager::RecordedOutcome;

    use super::*;

    const WRITERS: usize = 8;
    const RECORDS: usize = 200;

    fn decision(session: usize, ms: usize) -> DecisionRecord {
        DecisionRecord {
            time: "2026-01-01T00:00:00Z".to_owned(),
            connection: "stdio #1".to_owned(),
            session: session.to_string(),
            cwd: "/repo".into(),
            tool: "Bash".to_owned(),
            tool_use_id: "toolu_1".to_owned(),
            agent: None,
            mode: PermissionMode::Default,
            stage: "rules".to_owned(),
            outcome: RecordedOutcome::Deny,
            rule: None,
            reason: Some("a line\nand another".repeat(50)),
            ms: u64::try_from(ms).unwrap(),
        }
    }

    #[test]
    fn lines_of_many_sessions_stay_whole_and_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        fs::write(&path, "earlier\n").unwrap();
        let audit = Arc::new(AuditFile::open(&path).unwrap());
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let audit = Arc::clone(&audit);
                thread::spawn(move || {
                    for number in 0..RECORDS {
                        audit.record(&decision(writer, number)).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("earlier"));
        let mut next = [0; WRITERS];
        for line in lines {
            let record: Value = serde_json::from_str(line).unwrap();
            let writer: usize = record["session"].as_str().unwrap().parse().unwrap();
            assert_eq!(record["ms"], next[writer]);
            next[writer] += 1;
        }
        assert_eq!(next, [RECORDS; WRITERS]);
    }

    #[test]
    fn a_record_is_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        AuditFile::open(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_recorded_is_told() {
        let full = AuditFile::open(Path::new("/dev/full")).unwrap();
        assert_eq!(
            full.record(&decision(0, 0)).unwrap_err().kind(),
            io::ErrorKind::StorageFull
        );
        assert!(
            full.record(&decision(0, 1)).is_err(),
            "again, until there is space"
        );
    }

    #[test]
    fn after_a_torn_line_the_next_one_begins_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        fs::write(&path, "{\"half").unwrap();
        let audit = AuditFile::open(&path).unwrap();
        audit.file.lock().unwrap().torn = true;
        audit.record(&decision(0, 0)).unwrap();
        audit.record(&decision(0, 1)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (3, "{\"half"));
        assert!(
            lines[1..]
                .iter()
                .all(|line| serde_json::from_str::<Value>(line).is_ok())
        );
    }

    #[test]
    fn nothing_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(AuditFile::open(&pipe).is_err(), "nobody reads it");
        assert!(AuditFile::open(directory.path()).is_err());
        assert!(AuditFile::open(&directory.path().join("nowhere/a")).is_err());
    }
}
