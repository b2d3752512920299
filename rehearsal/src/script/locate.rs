//! Finds the place of a mistake in a script: from line and column to a path such as `turns[0].steps[2].tool`.
//!
//! Place in the flow: `script::error` puts the path into the message. It reads the text up to the mistake and no
//! further, so it works for broken JSON too. It must not judge the text.

/// The path to the value at `line`:`column` (both from 1), empty at the top.
pub(crate) fn path_at(text: &str, line: usize, column: usize) -> String {
    let mut walker = Walker::default();
    let mut lines = text.split('\n');
    for _ in 1..line {
        if let Some(whole) = lines.next() {
            whole.bytes().for_each(|byte| walker.byte(byte));
        }
    }
    if let Some(last) = lines.next() {
        last.bytes().take(column).for_each(|byte| walker.byte(byte));
    }
    walker.path()
}

enum Level {
    Object { key: String, key_next: bool },
    Array { index: usize },
}

#[derive(Default)]
struct Walker {
    levels: Vec<Level>,
    /// The string that is being read, and whether its next byte is escaped.
    string: Option<(Vec<u8>, bool)>,
}

impl Walker {
    fn byte(&mut self, byte: u8) {
        match &mut self.string {
            Some((text, escaped)) => match byte {
                _ if *escaped => {
                    *escaped = false;
                    text.push(byte);
                }
                b'\\' => *escaped = true,
                b'"' => self.end_string(),
                _ => text.push(byte),
            },
            None => self.outside_string(byte),
        }
    }

    fn outside_string(&mut self, byte: u8) {
        match byte {
            b'"' => self.string = Some((Vec::new(), false)),
            b'{' => self.levels.push(Level::Object {
                key: String::new(),
                key_next: true,
            }),
            b'[' => self.levels.push(Level::Array { index: 0 }),
            b'}' | b']' => {
                self.levels.pop();
            }
            b',' => match self.levels.last_mut() {
                Some(Level::Object { key_next, .. }) => *key_next = true,
                Some(Level::Array { index }) => *index += 1,
                None => {}
            },
            _ => {}
        }
    }

    fn end_string(&mut self) {
        let Some((text, _)) = self.string.take() else {
            return;
        };
        if let Some(Level::Object { key, key_next }) = self.levels.last_mut()
            && *key_next
        {
            *key = String::from_utf8_lossy(&text).into_owned();
            *key_next = false;
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            match level {
                Level::Object { key, .. } if key.is_empty() => {}
                Level::Object { key, .. } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                Level::Array { index } => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::path_at;

    #[track_caller]
    fn check(text: &str, line: usize, column: usize, expected: &str) {
        assert_eq!(path_at(text, line, column), expected);
    }

    #[test]
    fn a_position_becomes_the_path_of_the_value_around_it() {
        check("{\"turns\": [{\"steps\": [", 1, 22, "turns[0].steps[0]");
        check("{\"turns\": [{}, {\"steps\": [1, 2", 1, 30, "turns[1].steps[1]");
        check("{\n \"turns\": [\n  {\"pr", 3, 6, "turns[0]");
        check("{\"a\": {\"b\": \"x, y}\", \"c\": 1", 1, 26, "a.c");
        check("{\"quoted \\\" key\": 1", 1, 19, "quoted \" key");
        check("", 1, 0, "");
        check("{", 9, 9, "");
    }
}
