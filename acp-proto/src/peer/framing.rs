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
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP_BYTES {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(READ_BYTES);
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
