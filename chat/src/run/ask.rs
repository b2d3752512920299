//! A permission request on the terminal: shown, asked until one of its options is chosen, and answered exactly once.
//! Without a terminal it is denied. Nothing but the number of an option that is on the screen ever allows anything.

use acp_proto::schema::{PermissionOption, RequestPermissionOutcome, SelectedPermissionOutcome};

use super::Chat;
use crate::ChatError;
use crate::console::{Asking, Input};
use crate::peer::Question;
use crate::present::{question, wording};

/// What asking came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// The question is answered or gone.
    Settled,
    /// The user interrupted; the question was answered `cancelled`.
    Interrupted,
}

/// What the user did about a question.
enum Reaction {
    Line(String),
    EndOfInput,
    Interrupt,
    Withdrawn,
}

impl Chat {
    pub(super) async fn ask(&mut self, question: Question) -> Result<Asked, ChatError> {
        if question.request.options.is_empty() {
            question.answer(RequestPermissionOutcome::Cancelled);
            self.remark(wording::NO_OPTIONS).await?;
            return Ok(Asked::Settled);
        }
        let can_ask = !matches!(self.console.asking, Asking::Nowhere)
            && matches!(self.console.input, Input::Lines(_))
            && !self.input_ended;
        if !can_ask {
            let text = self.transcript.denied(&question.request);
            self.reject(question);
            self.print(&text).await?;
            return Ok(Asked::Settled);
        }
        let text = self.transcript.question(&question.request);
        self.write_question(&text).await?;
        if self.keep_typed_ahead() {
            self.ask_text(wording::TYPED_TOO_EARLY).await?;
        }
        self.ask_until_settled(question).await
    }

    async fn ask_until_settled(&mut self, question: Question) -> Result<Asked, ChatError> {
        let count = question.request.options.len();
        loop {
            self.write_question(&wording::choose(count)).await?;
            match self.reaction(&question).await {
                Reaction::Line(line) => {
                    self.transcript.line_is_over();
                    if let Some(option) = question::chosen(&line, &question.request.options) {
                        let outcome = selected(option);
                        question.answer(outcome);
                        return Ok(Asked::Settled);
                    }
                    self.ask_text(&wording::not_an_option(count)).await?;
                }
                Reaction::EndOfInput => {
                    self.input_ended = true;
                    self.reject(question);
                    self.ask_text(&format!("\n{}", wording::REJECTED_AT_END)).await?;
                    return Ok(Asked::Settled);
                }
                Reaction::Interrupt => {
                    question.answer(RequestPermissionOutcome::Cancelled);
                    self.ask_text("").await?;
                    return Ok(Asked::Interrupted);
                }
                Reaction::Withdrawn => {
                    self.ask_text(&format!("\n{}", wording::WITHDRAWN)).await?;
                    return Ok(Asked::Settled);
                }
            }
        }
    }

    async fn reaction(&mut self, question: &Question) -> Reaction {
        let Input::Lines(lines) = &mut self.console.input else {
            return Reaction::EndOfInput;
        };
        tokio::select! {
            biased;
            _ = self.console.interrupts.recv() => Reaction::Interrupt,
            () = question.withdrawn.cancelled() => Reaction::Withdrawn,
            line = lines.recv() => line.map_or(Reaction::EndOfInput, Reaction::Line),
        }
    }

    fn reject(&self, question: Question) {
        let outcome = question::rejection(&question.request.options).map(selected);
        question.answer(outcome.unwrap_or(RequestPermissionOutcome::Cancelled));
    }

    /// A line that was typed before the question was on the screen cannot be an answer to it.
    fn keep_typed_ahead(&mut self) -> bool {
        let Input::Lines(lines) = &mut self.console.input else {
            return false;
        };
        let before = self.typed_ahead.len();
        while let Ok(line) = lines.try_recv() {
            self.typed_ahead.push_back(line);
        }
        self.typed_ahead.len() > before
    }

    /// A remark where the question stands.
    async fn ask_text(&mut self, text: &str) -> Result<(), ChatError> {
        self.transcript.line_is_over();
        self.write_question(&format!("{text}\n")).await
    }
}

fn selected(option: &PermissionOption) -> RequestPermissionOutcome {
    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
}
