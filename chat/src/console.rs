//! The user's side of a chat: where text goes, where lines come from, where questions can be asked and how an
//! interrupt arrives. [`Console::stdio`] is the real one; tests build theirs from buffers and channels. Must not know
//! what the text means.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::present::style::Style;
use crate::present::wording;

/// Lines typed ahead that are kept before the terminal itself keeps them.
const LINES_AHEAD: usize = 16;
/// A line that comes so soon after another one was not typed behind it, but pasted with it.
const PASTED: Duration = Duration::from_millis(50);
const PROMPT_BYTES: u64 = 16 * 1024 * 1024;

/// What a chat reads from and writes to.
pub struct Console {
    pub(crate) output: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) asking: Asking,
    pub(crate) style: Style,
    pub(crate) input: Input,
    pub(crate) interrupts: mpsc::Receiver<()>,
}

/// Where questions go.
pub(crate) enum Asking {
    /// To the output, which is a terminal.
    Output,
    /// To a terminal beside an output that is not one.
    Beside(Box<dyn AsyncWrite + Send + Unpin>),
    /// Nowhere: nobody could read or answer them.
    Nowhere,
}

/// Where prompts and answers come from.
pub(crate) enum Input {
    /// A terminal, line by line; lines that were pasted together come together.
    Lines(mpsc::Receiver<String>),
    /// Anything else: all of it is one prompt.
    Piped(Box<dyn AsyncRead + Send + Unpin>),
}

impl Console {
    /// Standard input, output and error, and Ctrl-C. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When the thread that reads the terminal or the signal handler cannot be set up.
    pub fn stdio() -> io::Result<Self> {
        let (reads, writes) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        let asking = match (reads, writes, io::stderr().is_terminal()) {
            (true, true, _) => Asking::Output,
            (true, false, true) => Asking::Beside(Box::new(tokio::io::stderr())),
            _ => Asking::Nowhere,
        };
        let no_color = std::env::var_os("NO_COLOR");
        let style = Style::of_output(writes, no_color.as_deref(), std::env::var_os("TERM").as_deref());
        let input = if reads {
            Input::Lines(pasted_together(terminal_lines()?))
        } else {
            Input::Piped(Box::new(tokio::io::stdin()))
        };
        Ok(Self {
            output: Box::new(tokio::io::stdout()),
            asking,
            style,
            input,
            interrupts: interrupts()?,
        })
    }

    /// Writes to the output and makes it visible.
    pub(crate) async fn write(&mut self, text: &str) -> io::Result<()> {
        write_to(&mut self.output, text).await
    }

    /// Writes where questions go.
    pub(crate) async fn write_question(&mut self, text: &str) -> io::Result<()> {
        match &mut self.asking {
            Asking::Beside(terminal) => write_to(terminal, text).await,
            Asking::Output | Asking::Nowhere => self.write(text).await,
        }
    }
}

impl Input {
    /// Everything that is piped in; nothing when input is a terminal.
    pub(crate) async fn piped_prompt(&mut self) -> io::Result<Option<String>> {
        match self {
            Self::Lines(_) => Ok(None),
            Self::Piped(input) => {
                let mut bytes = Vec::new();
                input
                    .take(PROMPT_BYTES.saturating_add(1))
                    .read_to_end(&mut bytes)
                    .await?;
                if u64::try_from(bytes.len()).is_ok_and(|length| length > PROMPT_BYTES) {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        wording::prompt_too_long(PROMPT_BYTES),
                    ));
                }
                Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
            }
        }
    }
}

async fn write_to(writer: &mut (dyn AsyncWrite + Send + Unpin), text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writer.write_all(text.as_bytes()).await?;
    writer.flush().await
}

/// Reads the terminal on a thread of its own, since a read of a terminal cannot be called off; the thread ends with
/// its input or the process.
fn terminal_lines() -> io::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(LINES_AHEAD);
    std::thread::Builder::new()
        .name("terminal".to_owned())
        .spawn(move || {
            let mut terminal = io::stdin().lock();
            let mut bytes = Vec::new();
            while terminal
                .read_until(b'\n', &mut bytes)
                .is_ok_and(|count| count > 0)
            {
                let line = String::from_utf8_lossy(&bytes)
                    .trim_end_matches(['\n', '\r'])
                    .to_owned();
                bytes.clear();
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        })?;
    Ok(receiver)
}

/// Joins the lines of a paste. The terminal itself keeps its last line until it is ended.
fn pasted_together(mut lines: mpsc::Receiver<String>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(LINES_AHEAD);
    tokio::spawn(async move {
        while let Some(mut text) = lines.recv().await {
            while let Ok(Some(line)) = timeout(PASTED, lines.recv()).await {
                text.push('\n');
                text.push_str(&line);
            }
            if sender.send(text).await.is_err() {
                return;
            }
        }
    });
    receiver
}

fn interrupts() -> io::Result<mpsc::Receiver<()>> {
    let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            // A full channel holds as many interrupts as mean anything.
            if let Err(mpsc::error::TrySendError::Closed(())) = sender.try_send(()) {
                return;
            }
        }
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lines_that_arrive_at_once_are_one_paste_and_later_ones_are_not() {
        let (keyboard, lines) = mpsc::channel(LINES_AHEAD);
        let mut read = pasted_together(lines);
        for line in ["one", "", "three"] {
            keyboard.send(line.to_owned()).await.unwrap();
        }
        assert_eq!(read.recv().await.as_deref(), Some("one\n\nthree"));
        keyboard.send("typed".to_owned()).await.unwrap();
        assert_eq!(read.recv().await.as_deref(), Some("typed"));
        keyboard.send("last".to_owned()).await.unwrap();
        drop(keyboard);
        assert_eq!(
            (read.recv().await.as_deref(), read.recv().await),
            (Some("last"), None)
        );
    }
}
