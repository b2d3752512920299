//! The end of a query: interrupt a running turn, end Claude's input, wait, and only then force. Its output is read all
//! the while, for a Claude that cannot write cannot end either.

use tokio::time::timeout;

use super::{Query, QueryEvent, QueryTimings, Stage};
use crate::backend::Exit;
use crate::messages::Message;
use crate::messages::control::{ControlRequest, Interrupt};

impl Query {
    /// Ends Claude, kindly first; what it still says is thrown away. Interrupting a running turn matters: at the mere
    /// end of its input Claude would go on with the turn, every permission it asks for denied.
    pub async fn close(mut self, turn_running: bool, timings: &QueryTimings) -> Exit {
        if turn_running
            && timeout(timings.interrupted_result, self.interrupt())
                .await
                .is_err()
        {
            tracing::debug!("claude did not end its turn in time after an interrupt");
        }
        self.channel.close_input();
        let wait = timings.grace.eof;
        match timeout(wait, self.until_ended()).await {
            Ok(exit) => exit,
            Err(_) => self.kill(timings).await,
        }
    }

    /// Ends Claude and everything it started: asks first, forces after the grace. May be called again.
    pub async fn kill(&mut self, timings: &QueryTimings) -> Exit {
        if let Stage::Ended(exit) = &self.stage {
            return exit.clone();
        }
        self.channel.abort_input();
        let exit = tokio::select! {
            exit = self.life.kill(&timings.grace) => exit,
            never = discard(&mut self.lines) => match never {},
        };
        self.finish(exit.clone());
        exit
    }

    /// Interrupts the turn and waits for its result.
    async fn interrupt(&mut self) {
        // The answer says only that it was heard; the result is what counts.
        let _answer = self
            .handle()
            .request(ControlRequest::Interrupt(Interrupt::default()));
        loop {
            match self.fresh().await {
                QueryEvent::Message(message) if matches!(*message, Message::Result(_)) => return,
                QueryEvent::Ended(_) => return,
                QueryEvent::ControlRequest { id, .. } => {
                    let refused = Err("the session is being closed".to_owned());
                    if let Err(error) = self.channel.answer(&id, refused) {
                        tracing::debug!(%id, %error, "could not answer a closing claude");
                    }
                }
                QueryEvent::Delta(_) | QueryEvent::Message(_) | QueryEvent::ControlCancel { .. } => {}
            }
        }
    }

    async fn until_ended(&mut self) -> Exit {
        loop {
            if let QueryEvent::Ended(exit) = self.fresh().await {
                return exit;
            }
        }
    }
}

/// Reads and forgets, for ever.
async fn discard<R: tokio::io::AsyncRead + Unpin>(
    lines: &mut super::lines::LineReader<R>,
) -> std::convert::Infallible {
    loop {
        match lines.fill().await {
            Ok(read) if read > 0 => lines.clear(),
            Ok(_) | Err(_) => std::future::pending().await,
        }
    }
}
