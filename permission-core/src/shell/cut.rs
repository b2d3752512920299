//! Takes here-documents and single-quoted strings out of a text, so that the grammar does not read what is only data.
//!
//! Place in the flow: before `grammar`. Each part is replaced by a mark; `walk` must meet every mark where such a part
//! can stand, or the cut was wrong and the text is read whole. Must not be believed before that.

/// Encloses a mark; the guard refuses texts that hold this character.
const MARK: char = '\u{1}';

/// A text with marks, and what they stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut {
    pub(super) text: String,
    parts: Vec<String>,
}

impl Cut {
    /// The text as it is.
    pub(super) fn nothing(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            parts: Vec::new(),
        }
    }

    /// Takes out whatever looks like data.
    pub(super) fn of(text: &str) -> Self {
        let mut cut = Self::default();
        cut.here_documents(text);
        let lines = std::mem::take(&mut cut.text);
        cut.quotes(&lines);
        cut
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The number of a mark, if the text is nothing but a mark (a here-document ends with a line break).
    pub(super) fn mark(&self, text: &str) -> Option<usize> {
        let number = text
            .strip_suffix('\n')
            .unwrap_or(text)
            .strip_prefix(MARK)?
            .strip_suffix(MARK)?;
        number.parse().ok().filter(|number| *number < self.parts.len())
    }

    pub(super) fn part(&self, number: usize) -> &str {
        self.parts.get(number).map(String::as_str).unwrap_or_default()
    }

    /// The text with every mark replaced by what it stands for.
    pub(super) fn restored(&self, text: &str) -> String {
        let mut restored = String::new();
        let mut inside = false;
        for piece in text.split(MARK) {
            match (inside, piece.parse::<usize>()) {
                (true, Ok(number)) => restored.push_str(self.part(number)),
                (true, Err(_)) | (false, _) => restored.push_str(piece),
            }
            inside = !inside;
        }
        restored
    }

    fn take(&mut self, part: String) {
        self.text.push(MARK);
        self.text.push_str(&self.parts.len().to_string());
        self.text.push(MARK);
        self.parts.push(part);
    }

    /// Replaces the lines between a line with `<<WORD` and the line `WORD`.
    fn here_documents(&mut self, text: &str) {
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            self.text.push_str(line);
            for end in Delimiter::all_in(line) {
                let mut ahead = lines.clone();
                if !ahead.any(|line| end.is(line)) {
                    break;
                }
                let mut body = String::new();
                while let Some(line) = lines.next_if(|line| !end.is(line)) {
                    body.push_str(line);
                }
                if let Some(body) = body.strip_suffix('\n') {
                    self.take(body.to_owned());
                    self.text.push('\n');
                }
                self.text.extend(lines.next());
            }
        }
    }

    /// Replaces what stands between single quotes, as far as that can be told without a grammar.
    fn quotes(&mut self, text: &str) {
        let mut chars = text.chars();
        let (mut double, mut previous) = (false, ' ');
        while let Some(c) = chars.next() {
            self.text.push(c);
            match c {
                '\\' => self.text.extend(chars.next()),
                '"' => double = !double,
                '\'' if !double => {
                    let plain = previous != '$';
                    let rest = chars.as_str();
                    let Some((inner, _)) = rest.split_once('\'') else {
                        continue;
                    };
                    // A mere name is nothing to hide, and it may be the end of a here-document.
                    if plain && !inner.chars().all(is_name) && !inner.contains(MARK) {
                        self.take(inner.to_owned());
                    } else {
                        self.text.push_str(inner);
                    }
                    self.text.push('\'');
                    chars.nth(inner.chars().count());
                }
                _ => {}
            }
            previous = c;
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether every `<<` of the text begins a here-document with a plain end that is there: the grammar's reader does not
/// come back from some others.
pub(super) fn here_documents_end(text: &str) -> bool {
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let ends = Delimiter::all_in(line);
        let announced = line.split(|c| c != '<').filter(|run| run.len() == 2).count();
        let odd = line.split(|c| c != '<').any(|run| run.len() > 3) || line.contains("\\<<");
        let missing = |end: &Delimiter| !lines.clone().any(|line| end.is(line));
        if odd || announced != ends.len() || ends.iter().any(missing) {
            return false;
        }
    }
    true
}

/// The end of a here-document.
struct Delimiter {
    word: String,
    tabs: bool,
}

impl Delimiter {
    /// Those that a line announces, in order.
    fn all_in(line: &str) -> Vec<Self> {
        let mut found = Vec::new();
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("<<") {
            rest = after;
            if let Some(string) = after.strip_prefix('<') {
                rest = string;
                continue;
            }
            let (tabs, after) = match after.strip_prefix('-') {
                Some(after) => (true, after),
                None => (false, after),
            };
            let after = after.trim_start_matches([' ', '\t']);
            let (quote, after) = match after.chars().next() {
                Some(quote @ ('\'' | '"')) => (Some(quote), after.get(1..).unwrap_or_default()),
                Some(_) | None => (None, after),
            };
            let word: String = after.chars().take_while(|c| is_name(*c)).collect();
            let end = after.get(word.len()..).and_then(|end| end.chars().next());
            let closed = quote.is_none_or(|quote| end == Some(quote));
            if !word.is_empty() && closed {
                found.push(Self { word, tabs });
            }
        }
        found
    }

    fn is(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = if self.tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        line == self.word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_taken_out_and_can_be_put_back() {
        let rows = [
            ("cat <<'E'\n(((\nE\nls", "cat <<'E'\n\u{1}0\u{1}\nE\nls"),
            ("cat <<-E\n\ta\n\tE\n", "cat <<-E\n\u{1}0\u{1}\n\tE\n"),
            ("cat <<E\nE\n", "cat <<E\nE\n"),
            ("cat <<E\nnever ends", "cat <<E\nnever ends"),
            ("cat <<<E\nE\n", "cat <<<E\nE\n"),
            (
                "cat <<A <<B\n1\nA\n2\nB\n",
                "cat <<A <<B\n\u{1}0\u{1}\nA\n\u{1}1\u{1}\nB\n",
            ),
            ("echo 'a b' c", "echo '\u{1}0\u{1}' c"),
            ("echo \"it's\" 'x y'", "echo \"it's\" '\u{1}0\u{1}'"),
            ("echo \\'a 'b c'", "echo \\'a '\u{1}0\u{1}'"),
            ("echo $'a' ''", "echo $'a' ''"),
            ("echo 'open", "echo 'open"),
        ];
        for (text, expected) in rows {
            let cut = Cut::of(text);
            assert_eq!(cut.text, expected, "{text}");
            assert_eq!(cut.restored(&cut.text), text);
        }
    }
}
