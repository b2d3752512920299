//! Reads the system's process table: who is whose child, and who carries our mark. Used by `tree` to find what
//! belongs to a Claude. Only reads; never signals. Where there is no `/proc` the table is empty.

/// A process at one moment. Number and start time together name it for good: numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ProcessId {
    pub(super) pid: i32,
    /// Clock ticks from boot to the start of the process.
    pub(super) started: u64,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: ProcessId,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) state: ProcessState,
}

/// Whether a process still does anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessState {
    /// It runs, sleeps or is stopped.
    Living,
    /// It has ended and waits for its parent to notice.
    #[cfg_attr(
        not(any(target_os = "linux", test)),
        expect(dead_code, reason = "there is no table to read it from")
    )]
    Zombie,
}

/// Every process of the system; empty where there is no `/proc`.
#[cfg(target_os = "linux")]
pub(super) fn read() -> Vec<Row> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(row)
        .collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read() -> Vec<Row> {
    Vec::new()
}

/// The row of one process, if it exists.
#[cfg(target_os = "linux")]
pub(super) fn row(pid: i32) -> Option<Row> {
    // The name in the second field may hold any byte, so the text is read lossily.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn row(_pid: i32) -> Option<Row> {
    None
}

/// Whether the process was started with `entry` (`NAME=value`) in its environment.
#[cfg(target_os = "linux")]
pub(super) fn carries(pid: i32, entry: &str) -> bool {
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
        environ
            .split(|byte| *byte == 0)
            .any(|found| found == entry.as_bytes())
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn carries(_pid: i32, _entry: &str) -> bool {
    false
}

/// Reads `/proc/PID/stat`. The second field is the program's name in parentheses and may itself hold blanks and
/// parentheses: the fields that count follow the last `)`.
#[cfg(any(target_os = "linux", test))]
fn parse(pid: i32, stat: &str) -> Option<Row> {
    /// Fields after the name: state, parent, group, session, fifteen others, start time.
    const BETWEEN_SESSION_AND_START: usize = 15;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = match fields.next()? {
        "Z" | "X" | "x" => ProcessState::Zombie,
        _ => ProcessState::Living,
    };
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started = fields.nth(BETWEEN_SESSION_AND_START)?.parse().ok()?;
    Some(Row {
        id: ProcessId { pid, started },
        parent,
        group,
        session,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stat: &str, expected: Option<(i32, i32, i32, u64, ProcessState)>) {
        let found = parse(7, stat).map(|row| (row.parent, row.group, row.session, row.id.started, row.state));
        assert_eq!(found, expected, "{stat}");
    }

    #[test]
    fn stat_lines_are_read_after_the_last_parenthesis() {
        let tail = "0 -1 4194560 98 0 0 0 0 0 0 0 20 0 1 0 4711 2703360 203 18446744073709551615";
        check(
            &format!("7 (sh) S 6 5 4 {tail}"),
            Some((6, 5, 4, 4711, ProcessState::Living)),
        );
        check(
            &format!("7 (a) b (c) R 6 5 4 {tail}"),
            Some((6, 5, 4, 4711, ProcessState::Living)),
        );
        check(
            &format!("7 (sh) Z 6 5 4 {tail}"),
            Some((6, 5, 4, 4711, ProcessState::Zombie)),
        );
        check("7 (sh) S 6 5 4 0 -1", None);
        check("7 sh", None);
        check("", None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_table_holds_this_process_and_its_environment_is_readable() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let own = row(pid).unwrap();
        assert_eq!(own.state, ProcessState::Living);
        assert!(read().iter().any(|row| row.id == own.id));
        let (name, value) = std::env::vars().find(|(_, value)| !value.is_empty()).unwrap();
        assert!(carries(pid, &format!("{name}={value}")));
        assert!(!carries(pid, "CLAUDE_ACP_QUERY=no-such-mark"));
    }
}
