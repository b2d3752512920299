//! What the name of a model says, in any of its spellings: `opus`, `Opus 5.5`, `opus[1m]`, `claude-sonnet-4-5-20250929`,
//! `us.anthropic.claude-opus-4-1-20250805-v1:0`.
//!
//! Place in the flow: lets `models` compare names that are not equal. Must not know which models exist.

/// The hint in a name that asks for the long context window.
const LONG_CONTEXT: &str = "1m";

/// A name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelName {
    family: String,
    version: Vec<String>,
    long_context: bool,
}

impl ModelName {
    /// Takes a name apart; `None` when it names no family.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let parts: Vec<&str> = text
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|part| !part.is_empty())
            .collect();
        // Before it stand a provider and a region.
        let start = parts.iter().rposition(|part| *part == "claude");
        let name = parts.get(start.map_or(0, |at| at + 1)..).unwrap_or_default();
        let (mut family, mut version) = (Vec::new(), Vec::new());
        for part in name.iter().take_while(|part| !is_release(part)) {
            match *part {
                LONG_CONTEXT | "context" | "latest" => {}
                number if is_number(number) => version.push(number.to_owned()),
                word => family.push(word),
            }
        }
        if family.is_empty() {
            return None;
        }
        Some(Self {
            family: family.join("-"),
            version,
            long_context: name.contains(&LONG_CONTEXT),
        })
    }

    /// Whether the name asks for the long context window.
    pub(super) fn long_context(&self) -> bool {
        self.long_context
    }

    /// Whether somebody who says `self` can mean `other`: the family, and the version if one is said. The window is
    /// a hint, to choose between models that are meant.
    pub(super) fn can_mean(&self, other: &Self) -> bool {
        self.family == other.family && (self.version.is_empty() || self.version == other.version)
    }

    /// Whether `self`, as an entry of an allow list, allows `other`: an entry allows every version that extends it.
    pub(super) fn allows(&self, other: &Self) -> bool {
        self.family == other.family
            && other.version.starts_with(&self.version)
            && (!self.long_context || other.long_context)
    }
}

/// The name that people read, with the version that the model's full name tells if it lacks one.
pub(super) fn with_version(name: &str, full: Option<&str>) -> String {
    let lacking = || {
        let (short, full) = (ModelName::parse(name)?, ModelName::parse(full?)?);
        let lacks = short.family == full.family && short.version.is_empty() && !full.version.is_empty();
        let end = name
            .to_lowercase()
            .find(&short.family)?
            .checked_add(short.family.len())?;
        let (before, after) = name.split_at_checked(end).filter(|_| lacks)?;
        Some(format!("{before} {}{after}", full.version.join(".")))
    };
    lacking().unwrap_or_else(|| name.to_owned())
}

/// A date or a provider's revision, which nobody means when they name a model.
fn is_release(part: &str) -> bool {
    let revision = part.strip_prefix('v').is_some_and(is_number);
    revision || (part.len() >= 6 && is_number(part))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, String, bool)> {
        ModelName::parse(text).map(|name| (name.family, name.version.join("."), name.long_context))
    }

    #[test]
    fn every_spelling_says_family_version_and_window() {
        let cases = [
            ("opus", ("opus", "", false)),
            ("OPUS", ("opus", "", false)),
            ("opus[1m]", ("opus", "", true)),
            ("Opus 5.5", ("opus", "5.5", false)),
            ("Sonnet 4.5 (1M context)", ("sonnet", "4.5", true)),
            ("claude-opus-5-5", ("opus", "5.5", false)),
            ("claude-sonnet-4-5-20250929[1m]", ("sonnet", "4.5", true)),
            ("claude-sonnet-4-5[1m]", ("sonnet", "4.5", true)),
            ("claude-3-5-haiku-latest", ("haiku", "3.5", false)),
            ("claude-haiku-4-5@20251001", ("haiku", "4.5", false)),
            (
                "us.anthropic.claude-opus-4-1-20250805-v1:0",
                ("opus", "4.1", false),
            ),
            ("global.anthropic.claude-opus-4-6-v1", ("opus", "4.6", false)),
            ("my-gateway-model", ("my-gateway-model", "", false)),
            ("gw-opus[1m]", ("gw-opus", "", true)),
        ];
        for (text, (family, version, long)) in cases {
            let expected = Some((family.to_owned(), version.to_owned(), long));
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_gets_the_version_that_it_lacks() {
        for (name, full, expected) in [
            ("Opus", "claude-opus-5-5", "Opus 5.5"),
            ("Haiku", "claude-haiku-4-5-20251001", "Haiku 4.5"),
            (
                "Sonnet (1M context)",
                "claude-sonnet-5-5[1m]",
                "Sonnet 5.5 (1M context)",
            ),
            ("Opus 4.5", "claude-opus-4-5", "Opus 4.5"),
            (
                "Default (recommended)",
                "claude-opus-5-5",
                "Default (recommended)",
            ),
            ("My Opus", "claude-opus-5-5", "My Opus"),
            ("GW X", "gw-x", "GW X"),
            ("", "claude-opus-5-5", ""),
        ] {
            assert_eq!(with_version(name, Some(full)), expected);
        }
        assert_eq!(with_version("Opus", None), "Opus");
    }

    #[test]
    fn a_name_without_a_family_is_none() {
        for text in ["", " ", "claude", "claude-5-5", "5.5", "[1m]", "20250929", "---"] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_said_version_is_meant_exactly() {
        let can_mean = |said: &str, is: &str| {
            ModelName::parse(said)
                .unwrap()
                .can_mean(&ModelName::parse(is).unwrap())
        };
        assert!(can_mean("opus", "claude-opus-5-5"));
        assert!(can_mean("opus[1m]", "claude-opus-5-5"));
        assert!(can_mean("Opus 5.5", "claude-opus-5-5"));
        assert!(!can_mean("claude-sonnet-5", "claude-sonnet-5-5"));
        assert!(!can_mean("claude-sonnet-5-5", "sonnet"));
        assert!(!can_mean("opus", "gw-opus"));
    }

    #[test]
    fn an_entry_of_an_allow_list_allows_what_extends_it() {
        let allows = |entry: &str, model: &str| {
            ModelName::parse(entry)
                .unwrap()
                .allows(&ModelName::parse(model).unwrap())
        };
        assert!(allows("opus", "claude-opus-5-5"));
        assert!(allows("claude-opus-5", "claude-opus-5-5"));
        assert!(allows("opus", "opus[1m]"));
        assert!(!allows("opus[1m]", "opus"));
        assert!(!allows("claude-opus-5-5", "claude-opus-5"));
        assert!(!allows("claude-opus-4-1", "claude-opus-5-5"));
    }
}
