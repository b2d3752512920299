//! Bytes to lines, with a cap.
//!
//! Place in the flow: the reader feeds what it read and takes lines out. A line over the cap costs that line only: its
//! bytes are thrown away as they come. It must not look at the content of a line, apart from line feeds.

use std::io::BufRead;

use bytes::BytesMut;

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;
/// A buffer that grew beyond this for one long line is given back when it is empty.
const KEEP_BYTES: usize = 1024 * 1024;

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub(super) struct Framer {
    buffer: BytesMut,
    /// So many bytes at the start of the buffer hold no line feed.
    scanned: usize,
    max_line_bytes: usize,
    mode: Mode,
}

/// What came out of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A line without its line feed (and without a carriage return before it); not blank.
    Line(BytesMut),
    /// A line longer than the cap; reported once, when it is known to be too long.
    TooLong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Collecting,
    /// Inside a line that is too long.
    Discarding,
}

impl Framer {
    pub(super) fn new(max_line_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            max_line_bytes,
            mode: Mode::Collecting,
        }
    }

    /// The buffer to append the next bytes to.
    pub(super) fn spare(&mut self) -> &mut BytesMut {
        // Takes back the memory of the lines that are done, if their owners are.
        self.buffer.reserve(READ_BYTES);
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP_BYTES {
            self.buffer = BytesMut::with_capacity(READ_BYTES);
        }
        &mut self.buffer
    }

    /// The next frame in what was fed so far.
    pub(super) fn next(&mut self) -> Option<Frame> {
        while let Some(at) = self.find_line_feed() {
            let line = self.buffer.split_to(at + 1);
            self.scanned = 0;
            match std::mem::replace(&mut self.mode, Mode::Collecting) {
                Mode::Discarding => {}
                Mode::Collecting if at > self.max_line_bytes => return Some(Frame::TooLong),
                Mode::Collecting => {
                    if let Some(line) = content(line) {
                        return Some(Frame::Line(line));
                    }
                }
            }
        }
        self.check_length()
    }

    /// The first byte of the line that is coming in, unless that is blank so far.
    pub(super) fn first_byte(&self) -> Option<u8> {
        self.buffer.trim_ascii_start().first().copied()
    }

    /// The last line, when the stream ended without a line feed.
    pub(super) fn finish(&mut self) -> Option<Frame> {
        let rest = self.buffer.split();
        self.scanned = 0;
        match self.mode {
            Mode::Discarding => None,
            Mode::Collecting => content(rest).map(Frame::Line),
        }
    }

    /// The buffer holds no line feed. Whether what it holds is too long already.
    fn check_length(&mut self) -> Option<Frame> {
        match self.mode {
            Mode::Discarding => {
                self.buffer.clear();
                self.scanned = 0;
                None
            }
            Mode::Collecting if self.buffer.len() > self.max_line_bytes => {
                self.mode = Mode::Discarding;
                self.buffer = BytesMut::new();
                self.scanned = 0;
                Some(Frame::TooLong)
            }
            Mode::Collecting => None,
        }
    }

    /// Looks only at bytes it has not looked at before: a long line that comes in pieces is scanned once.
    fn find_line_feed(&mut self) -> Option<usize> {
        let fresh = self.buffer.get(self.scanned..)?;
        let before = self.scanned;
        let mut rest = fresh;
        // The standard library's way to its memchr. Reading from memory cannot fail.
        let passed = rest.skip_until(b'\n').unwrap_or(0);
        self.scanned += passed;
        let found = passed > 0 && fresh.get(passed - 1) == Some(&b'\n');
        found.then(|| before + passed - 1)
    }
}

/// The line without its end, unless it is blank.
fn content(mut line: BytesMut) -> Option<BytesMut> {
    let length = line.trim_ascii_end().len();
    line.truncate(length);
    (!line.trim_ascii_start().is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that comes out when the bytes arrive in these chunks.
    fn frames<'a>(max_line_bytes: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut framer = Framer::new(max_line_bytes);
        let mut frames = Vec::new();
        for chunk in chunks {
            framer.spare().extend_from_slice(chunk);
            while let Some(frame) = framer.next() {
                frames.push(frame);
            }
            assert!(
                framer.buffer.len() <= max_line_bytes,
                "more is kept than one line"
            );
        }
        frames.extend(framer.finish());
        frames.into_iter().map(shown).collect()
    }

    fn shown(frame: Frame) -> String {
        match frame {
            Frame::Line(line) => String::from_utf8_lossy(&line).into_owned(),
            Frame::TooLong => "TOO LONG".to_owned(),
        }
    }

    #[test]
    fn lines_end_with_a_line_feed_or_with_the_stream() {
        let table: [(&str, &[&str]); 8] = [
            ("", &[]),
            ("a\nb\n", &["a", "b"]),
            ("a\r\nb\r\n", &["a", "b"]),
            ("a\nb", &["a", "b"]),
            ("\n\n \t\r\na\n\n", &["a"]),
            (" a \n", &[" a"]),
            ("é\n", &["é"]),
            ("a\rb\n", &["a\rb"]),
        ];
        for (bytes, expected) in table {
            assert_eq!(frames(10, [bytes.as_bytes()]), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_line_over_the_cap_costs_that_line_only() {
        let table: [(&str, &[&str]); 6] = [
            ("1234\n", &["1234"]),
            ("12345\nok\n", &["TOO LONG", "ok"]),
            (
                "a\n123456789\n12345678901234567890\nb\n",
                &["a", "TOO LONG", "TOO LONG", "b"],
            ),
            ("12345", &["TOO LONG"]),
            ("1234567890", &["TOO LONG"]),
            ("1234", &["1234"]),
        ];
        for (bytes, expected) in table {
            assert_eq!(frames(4, [bytes.as_bytes()]), expected, "{bytes:?} at once");
            assert_eq!(
                frames(4, bytes.as_bytes().chunks(1)),
                expected,
                "{bytes:?} byte by byte"
            );
        }
    }

    #[test]
    fn the_memory_of_a_long_line_is_given_back() {
        let mut framer = Framer::new(64 * KEEP_BYTES);
        let mut line = vec![b'x'; 8 * KEEP_BYTES];
        line.push(b'\n');
        framer.spare().extend_from_slice(&line);
        assert!(framer.buffer.capacity() > KEEP_BYTES);
        drop(framer.next());
        framer.spare();
        assert!(framer.buffer.capacity() <= KEEP_BYTES);
    }

    #[test]
    fn a_long_line_in_pieces_is_scanned_once() {
        let mut framer = Framer::new(KEEP_BYTES);
        for _ in 0..8 {
            framer.spare().extend_from_slice(&[b'x'; 1000]);
            assert_eq!(framer.next(), None);
            assert_eq!(framer.scanned, framer.buffer.len());
        }
    }

    proptest! {
        #[test]
        fn the_cuts_of_the_stream_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'a'), Just(0xff)], 0..200),
            cuts in proptest::collection::vec(1usize..20, 1..20),
            max in 1usize..12,
        ) {
            let mut expected = Vec::new();
            for line in bytes.split(|byte| *byte == b'\n') {
                if line.len() > max {
                    expected.push("TOO LONG".to_owned());
                } else if !line.trim_ascii().is_empty() {
                    expected.push(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
                }
            }
            let mut chunks = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(frames(max, chunks), expected);
        }
    }
}
