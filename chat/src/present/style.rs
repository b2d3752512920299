//! The few terminal styles the chat uses, and when it uses none. The only place that writes escape sequences.

use std::ffi::OsStr;

/// Whether text is decorated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// No escape sequence at all: not a terminal, or the user asked for none.
    Plain,
    /// Colours and weights.
    Colour,
}

impl Style {
    /// What suits an output, by the `NO_COLOR` convention and what `TERM` says.
    pub(crate) fn of_output(is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let refused = no_color.is_some_and(|value| !value.is_empty());
        let dumb = term.is_some_and(|term| term == "dumb");
        if is_terminal && !refused && !dumb {
            Self::Colour
        } else {
            Self::Plain
        }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", "22", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", "22", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", "39", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", "39", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", "39", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.wrap("36", "39", text)
    }

    /// A style never spans a line break, so that a pager or a cut-off output cannot leak it.
    fn wrap(self, on: &str, off: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => text
                .split('\n')
                .map(|line| {
                    if line.is_empty() {
                        String::new()
                    } else {
                        format!("\u{1b}[{on}m{line}\u{1b}[{off}m")
                    }
                })
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_that_is_not_dumb_and_no_refusal() {
        let check = |terminal, no_color: Option<&str>, term: Option<&str>, expected| {
            let style = Style::of_output(terminal, no_color.map(OsStr::new), term.map(OsStr::new));
            assert_eq!(
                style, expected,
                "terminal {terminal}, NO_COLOR {no_color:?}, TERM {term:?}"
            );
        };
        check(true, None, Some("xterm-256color"), Style::Colour);
        check(true, Some(""), Some("xterm"), Style::Colour);
        check(true, Some("1"), Some("xterm"), Style::Plain);
        check(true, None, Some("dumb"), Style::Plain);
        check(true, None, None, Style::Colour);
        check(false, None, Some("xterm"), Style::Plain);
    }

    #[test]
    fn a_style_is_closed_before_every_line_break() {
        assert_eq!(
            Style::Colour.red("a\n\nb"),
            "\u{1b}[31ma\u{1b}[39m\n\n\u{1b}[31mb\u{1b}[39m"
        );
        assert_eq!(Style::Plain.red("a\nb"), "a\nb");
    }
}
