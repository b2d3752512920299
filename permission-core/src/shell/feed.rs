//! What commands print and what is fed to them, as text, so that code that comes through a pipe is read as code.
//!
//! Place in the flow: `walk` notes for each command what it prints and what it is fed; `runs` asks for it where a
//! command takes its program from there. Must say that a text is unknown rather than leave a part of it out.

use super::walk::Walker;
use super::word::Word;

/// All that may reach a command as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    /// Here-documents and here-strings.
    pub(super) given: Vec<Word>,
    /// What `<(…)` among its arguments prints.
    pub(super) substituted: Vec<Word>,
}

/// What stands for `<(…)` among the words of a command.
pub(super) const SUBSTITUTED: &str = "<(…)";

/// A text of which nothing is known.
pub(super) fn unknown() -> Vec<Word> {
    vec![Word::unknown("<input>")]
}

/// Whether a word names what is fed to the command instead of a file of its own.
pub(super) fn is_input(word: &Word) -> bool {
    let text = word.beginning();
    let process = |rest: &str| rest.contains("/fd/");
    matches!(text, "-" | "/dev/stdin")
        || text.starts_with("/dev/fd/")
        || text.strip_prefix("/proc/").is_some_and(process)
        || word.raw == SUBSTITUTED
}

/// What a command prints, given what it is fed.
pub(super) fn printed(words: &[Word], input: &[Word]) -> Vec<Word> {
    let Some((name, arguments)) = words.split_first() else {
        return unknown();
    };
    let text = match name.base_name().text() {
        "echo" => echoed(arguments),
        "printf" => formatted(arguments),
        "cat" | "tee" => {
            let passes = arguments.iter().all(|word| matches!(word.text(), "-" | "-u"));
            return if passes && !input.is_empty() {
                input.to_vec()
            } else {
                unknown()
            };
        }
        _ => None,
    };
    text.map_or_else(unknown, |text| vec![Word::plain(&text)])
}

fn echoed(arguments: &[Word]) -> Option<String> {
    let quiet = arguments.first().is_some_and(|word| word.text() == "-n");
    let words: Option<Vec<&str>> = arguments
        .iter()
        .skip(usize::from(quiet))
        .map(Word::literal)
        .collect();
    let words = words?;
    let option = words.first().is_some_and(|word| word.starts_with('-'));
    // Some shells read escapes without being told to.
    let text = words.join(" ");
    if option { None } else { unescaped(&text) }
}

/// `printf` with `%s` and line breaks, no more.
fn formatted(arguments: &[Word]) -> Option<String> {
    let (format, rest) = arguments.split_first()?;
    let format = unescaped(format.literal()?)?;
    let rest: Option<Vec<&str>> = rest.iter().map(Word::literal).collect();
    let mut rest = rest?.into_iter();
    if format.starts_with('-') || format.replace("%s", "").contains('%') {
        return None;
    }
    let mut text = String::new();
    loop {
        let left = rest.len();
        let mut parts = format.split("%s");
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            text.push_str(rest.next().unwrap_or_default());
            text.push_str(part);
        }
        if rest.len() == 0 || rest.len() == left {
            return Some(text);
        }
    }
}

fn unescaped(text: &str) -> Option<String> {
    let text = text.replace("\\n", "\n");
    (!text.contains('\\')).then_some(text)
}

impl Walker<'_> {
    /// All that the command may read from its standard input and other descriptors.
    pub(super) fn reaches(&self, input: &Input) -> Vec<Word> {
        let piped = self.fed.iter();
        input.given.iter().chain(piped).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_known_only_where_nothing_is_left_out() {
        let rows: &[(&[&str], Option<&str>)] = &[
            (&["echo", "rm", "k"], Some("rm k")),
            (&["echo", "-n", "rm k"], Some("rm k")),
            (&["echo", "-e", "rm k"], None),
            (&["echo", "a\\nb"], Some("a\nb")),
            (&["echo", "\\x72m"], None),
            (&["printf", "rm k\\n"], Some("rm k\n")),
            (&["printf", "%s ", "rm", "k"], Some("rm k ")),
            (&["printf", "r%s\\n", "m k"], Some("rm k\n")),
            (&["printf", "%b", "rm"], None),
            (&["printf", "a", "b"], Some("a")),
            (&["printf", "-v", "x"], None),
            (&["cat", "f"], None),
            (&["cat"], None),
            (&["rev"], None),
        ];
        for (words, expected) in rows {
            let words: Vec<Word> = words.iter().map(|word| Word::plain(word)).collect();
            let printed = printed(&words, &[]);
            assert_eq!(printed.first().and_then(Word::literal), *expected, "{words:?}");
        }
    }
}
