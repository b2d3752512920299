//! The lines of a transcript with their places in the file, in flat memory: a line that is too long to be held is only
//! measured. What is written while we read is not looked at.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

/// Longer lines are not held as a whole by [`Lines`].
const HELD_BYTES: u64 = 1 << 20;

/// Files beside a transcript are smaller.
const SMALL_BYTES: u64 = 1 << 20;

/// What stands in a small file beside a transcript. Nothing in what is no file, or a large one.
pub(super) fn small(path: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(path).ok()?;
    let is_small = metadata.is_file() && metadata.len() <= SMALL_BYTES;
    is_small.then(|| std::fs::read(path).ok())?
}

/// Where a line stands, without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Goes through a file line by line.
pub(super) struct Lines {
    reader: BufReader<Take<File>>,
    offset: u64,
    buffer: Vec<u8>,
}

/// A line: whole, or only its place.
pub(super) enum Line<'a> {
    Held(Span, &'a [u8]),
    Long(Span),
}

impl Lines {
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self {
            reader: BufReader::with_capacity(1 << 16, file.take(bytes)),
            offset: 0,
            buffer: Vec::new(),
        })
    }

    /// The next line that is not empty.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let span = loop {
            match self.read()? {
                None => return Ok(None),
                Some((span, true)) => return Ok(Some(Line::Long(span))),
                Some((span, false)) if span.bytes > 0 => break span,
                Some(_) => {}
            }
        };
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        Ok(Some(Line::Held(span, line)))
    }

    /// Reads one line into the buffer, or past it where it is too long. Says where it stands and which of the two it was.
    fn read(&mut self) -> io::Result<Option<(Span, bool)>> {
        self.buffer.clear();
        let offset = self.offset;
        let held = (&mut self.reader)
            .take(HELD_BYTES)
            .read_until(b'\n', &mut self.buffer)?;
        let mut bytes = u64::try_from(held).unwrap_or(u64::MAX);
        let mut ended = self.buffer.last() == Some(&b'\n');
        let long = !ended && bytes == HELD_BYTES;
        while !ended {
            let piece = self.reader.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |end| end + 1);
            ended = end.is_some();
            self.reader.consume(taken);
            bytes += u64::try_from(taken).unwrap_or(u64::MAX);
        }
        self.offset = offset + bytes;
        let bytes = bytes.saturating_sub(u64::from(ended));
        let at_end = bytes == 0 && !ended;
        Ok((!at_end).then_some((Span { offset, bytes }, long)))
    }
}

/// One line, or a piece of it, of a file that is open.
///
/// # Errors
/// When it cannot be read.
pub(super) fn part(file: &mut File, span: Span) -> io::Result<Take<&mut File>> {
    file.seek(SeekFrom::Start(span.offset))?;
    Ok(file.take(span.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(content: &[u8]) -> Vec<(u64, u64, Option<Vec<u8>>)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let mut lines = Lines::open(file.path()).unwrap();
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(match line {
                Line::Held(span, text) => (span.offset, span.bytes, Some(text.to_vec())),
                Line::Long(span) => (span.offset, span.bytes, None),
            });
        }
        let mut open = File::open(file.path()).unwrap();
        for (offset, bytes, text) in &seen {
            let span = Span {
                offset: *offset,
                bytes: *bytes,
            };
            let mut again = Vec::new();
            part(&mut open, span).unwrap().read_to_end(&mut again).unwrap();
            assert!(!again.contains(&b'\n'));
            assert!(text.as_ref().is_none_or(|text| *text == again));
        }
        seen
    }

    #[test]
    fn lines_have_their_places_and_empty_ones_are_left_out() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(spans(b""), []);
        assert_eq!(spans(b"\n\n"), []);
        assert_eq!(
            spans(b"ab\n\ncd\nhalf"),
            [(0, 2, some("ab")), (4, 2, some("cd")), (7, 4, some("half"))]
        );
    }

    #[test]
    fn a_line_too_long_to_hold_is_measured() {
        let long = usize::try_from(HELD_BYTES).unwrap();
        for (more, ending) in [(0, ""), (0, "\n"), (1, "\nx\n"), (70_000, "\nx"), (long, "")] {
            let content = format!("a\n{}{ending}", "y".repeat(long + more));
            let seen = spans(content.as_bytes());
            assert_eq!(seen[1], (2, HELD_BYTES + u64::try_from(more).unwrap(), None));
            assert_eq!(seen.len(), 2 + usize::from(ending.contains('x')));
        }
        let held = format!("{}\nx", "y".repeat(long - 1));
        assert!(spans(held.as_bytes()).iter().all(|(.., text)| text.is_some()));
    }
}
