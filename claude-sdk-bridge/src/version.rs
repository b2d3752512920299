//! Versions of Claude Code: those that this was tried with, and what only newer ones do.
//!
//! Place in the flow: Claude names its version in the answer to `initialize`, where no capability tells a difference.

/// A version of Claude Code, such as `2.1.332`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClaudeVersion(u64, u64, u64);

impl ClaudeVersion {
    /// Those that the end-to-end tests are run with; the last one is the usual one.
    pub const TRIED: [Self; 2] = [Self(2, 1, 318), Self(2, 1, 332)];

    /// The first that is known to call back before the shell lines of skills and commands. An older one takes the hook and never calls it.
    const SHELL_LINES_ASKED: Self = Self(2, 1, 332);

    /// `None` for what is no version.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::parse);
        let version = Self(parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        parts.next().is_none().then_some(version)
    }

    /// Whether the end-to-end tests are run with it.
    pub fn is_tried(self) -> bool {
        Self::TRIED.contains(&self)
    }

    /// Whether it calls back before the shell lines of skills and commands.
    pub fn asks_before_shell_lines(self) -> bool {
        self >= Self::SHELL_LINES_ASKED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        for (text, tried, asks) in [
            ("2.1.318", true, false),
            ("2.1.332", true, true),
            ("2.1.99", false, false),
            ("2.1.1000", false, true),
            ("3.0.0", false, true),
        ] {
            let version = ClaudeVersion::parse(text).unwrap();
            assert_eq!(version.is_tried(), tried, "{text}");
            assert_eq!(version.asks_before_shell_lines(), asks, "{text}");
        }
        for none in ["", "2.1", "2.1.332.0", "2.1.332-beta", "v2.1.332", "2..332"] {
            assert_eq!(ClaudeVersion::parse(none), None, "{none}");
        }
    }
}
