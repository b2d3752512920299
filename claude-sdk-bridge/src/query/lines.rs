//! Splits what Claude writes into lines: first step of the hot path, right behind the pipe. Lines are handed out as
//! slices of the block they were read into, without a copy. It must not look into a line.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What one read asks for at most: a pipe holds no more by default.
const READ_BYTES: usize = 64 * 1024;

/// With less room than this a block is full. Short lines share a block, so that one that is kept does not keep much.
const MIN_ROOM_BYTES: usize = 8 * 1024;

/// A block that grew beyond this for a long line is given back with that line.
const KEEP_BLOCK_BYTES: usize = 4 * READ_BYTES;

/// Lines of 100 MB are real. What is longer than this is not a message, and would cost every session its memory.
pub(super) const MAX_LINE_BYTES: usize = 512 * 1024 * 1024;

/// The lines of one stream.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    stream: R,
    block: BytesMut,
    /// How much of `block` is known to hold no line end.
    searched: usize,
    /// The rest of a line that was too long is thrown away up to its end.
    skipping: bool,
    max_line_bytes: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(stream: R, max_line_bytes: usize) -> Self {
        Self {
            stream,
            block: BytesMut::new(),
            searched: 0,
            skipping: false,
            max_line_bytes,
        }
    }

    /// The next line that has already been read, without its end. Blank lines are passed over.
    pub(super) fn buffered(&mut self) -> Option<Bytes> {
        loop {
            let unsearched = self.block.get(self.searched..).unwrap_or_default();
            let Some(found) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.block.len();
                self.drop_if_too_long();
                return None;
            };
            let mut line = self.block.split_to(self.searched + found);
            self.block.advance(1);
            self.searched = 0;
            self.give_back_a_grown_block(line.len());
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.is_empty() {
                return Some(line.freeze());
            }
        }
    }

    /// Reads once. `Ok(0)` is the end of the stream. Cancel-safe.
    pub(super) async fn fill(&mut self) -> io::Result<usize> {
        if self.block.capacity() - self.block.len() < MIN_ROOM_BYTES {
            self.block.reserve(READ_BYTES);
        }
        self.stream
            .read_buf(&mut (&mut self.block).limit(READ_BYTES))
            .await
    }

    /// Throws away what was read.
    pub(super) fn clear(&mut self) {
        self.block.clear();
        self.searched = 0;
    }

    /// What stands after the last line end once the stream has ended.
    pub(super) fn rest(&mut self) -> Option<Bytes> {
        let rest = self.block.split();
        self.searched = 0;
        (!rest.is_empty() && !std::mem::take(&mut self.skipping)).then(|| rest.freeze())
    }

    fn drop_if_too_long(&mut self) {
        if self.skipping || self.block.len() > self.max_line_bytes {
            if !self.skipping {
                let limit = self.max_line_bytes;
                tracing::warn!(limit, "a line from Claude is too long and is thrown away");
            }
            self.skipping = true;
            self.block = BytesMut::new();
            self.searched = 0;
        }
    }

    /// The line keeps its block alive. What was read behind a long line moves out of it, so that the block goes with
    /// the line; at most one read stands there.
    fn give_back_a_grown_block(&mut self, line_bytes: usize) {
        if line_bytes > KEEP_BLOCK_BYTES {
            self.block = BytesMut::from(self.block.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    /// Gives its pieces one a read, however much is asked for.
    struct Pieces(VecDeque<Vec<u8>>);

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some(mut piece) = self.0.pop_front() {
                let rest = piece.split_off(piece.len().min(into.remaining()));
                into.put_slice(&piece);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            Poll::Ready(Ok(()))
        }
    }

    fn read(pieces: Vec<Vec<u8>>, max_line_bytes: usize) -> Vec<String> {
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let mut reader = LineReader::new(Pieces(pieces), max_line_bytes);
        let mut lines = Vec::new();
        let mut take = |line: Bytes| lines.push(String::from_utf8(line.to_vec()).unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            while reader.fill().await.unwrap() > 0 {
                while let Some(line) = reader.buffered() {
                    take(line);
                }
            }
        });
        reader.rest().into_iter().for_each(take);
        lines
    }

    #[test]
    fn lines_are_split_wherever_the_reads_fall() {
        let text = "one\r\n\n\ntwo\nthree";
        for at in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(at);
            assert_eq!(
                read(vec![head.to_vec(), tail.to_vec()], 100),
                ["one", "two", "three"],
                "{at}"
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_costs_that_line() {
        let long = "x".repeat(50);
        let pieces = [
            format!("one\n{long}"),
            long.clone(),
            format!("{long}\ntwo\n{long}"),
            long,
        ]
        .map(String::into_bytes);
        assert_eq!(read(pieces.to_vec(), 40), ["one", "two"]);
    }

    #[tokio::test]
    async fn a_long_line_takes_about_its_own_memory_and_gives_it_back() {
        const LONG: usize = 20 * 1024 * 1024;
        let mut text = vec![b'x'; LONG];
        text.extend_from_slice(b"\nnext\n");
        let mut reader = LineReader::new(io::Cursor::new(text), MAX_LINE_BYTES);
        let mut widest = 0;
        let long = loop {
            reader.fill().await.unwrap();
            widest = widest.max(reader.block.capacity());
            if let Some(line) = reader.buffered() {
                break line;
            }
        };
        assert_eq!(long.len(), LONG);
        assert!(widest <= 2 * LONG, "{widest}");
        assert!(
            reader.block.capacity() <= KEEP_BLOCK_BYTES,
            "{}",
            reader.block.capacity()
        );
        assert_eq!(reader.buffered().unwrap(), "next");
    }

    #[tokio::test]
    async fn short_lines_share_their_block() {
        let text = "0123456789\n".repeat(100);
        let pieces = text.as_bytes().chunks(11).map(<[u8]>::to_vec).collect();
        let mut reader = LineReader::new(Pieces(pieces), MAX_LINE_BYTES);
        let mut lines = Vec::new();
        while reader.fill().await.unwrap() > 0 {
            lines.extend(reader.buffered());
        }
        let starts: Vec<usize> = lines.iter().map(|line| line.as_ptr() as usize).collect();
        assert_eq!(starts.len(), 100);
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 11));
    }

    proptest! {
        #[test]
        fn any_reads_give_the_lines_of_the_text(pieces in prop::collection::vec("[ab\n]{0,6}", 0..12)) {
            let text = pieces.concat();
            let expected: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
            let found = read(pieces.into_iter().map(String::into_bytes).collect(), 100);
            prop_assert_eq!(found, expected);
        }
    }
}
