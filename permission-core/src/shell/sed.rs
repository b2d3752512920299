//! Scripts of sed and programs of awk: whether they only transform text.
//!
//! Place in the flow: `escapes` asks. Must say no to whatever it does not know.

/// Whether the script only substitutes, deletes and prints.
pub(super) fn is_plain_script(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ";{}".contains(c));
        let Some(after) = after_address(rest) else {
            return false;
        };
        rest = after;
        let mut chars = rest.chars();
        let Some(command) = chars.next() else {
            return true;
        };
        rest = chars.as_str();
        match command {
            'd' | 'D' | 'p' | 'P' | 'q' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' => {
                if !rest.is_empty() && !rest.starts_with([';', '\n', ' ', '}']) {
                    return false;
                }
            }
            's' | 'y' => match after_substitution(rest) {
                Some(after) => rest = after,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Whether the program neither runs commands nor opens files of its own.
pub(super) fn is_plain_program(program: &str) -> bool {
    let ways_out = [
        "system", "getline", "|", ">", "@load", "@include", "close", "ENVIRON",
    ];
    !ways_out.iter().any(|way| program.contains(way))
}

fn after_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "$,!~+ ".contains(c));
        match rest.strip_prefix('/') {
            Some(pattern) => rest = after_delimiter(pattern, '/')?,
            None => return Some(rest),
        }
    }
}

fn after_substitution(text: &str) -> Option<&str> {
    let delimiter = text
        .chars()
        .next()
        .filter(|c| !c.is_alphanumeric() && !"\\\n".contains(*c))?;
    let rest = text.strip_prefix(delimiter)?;
    let rest = after_delimiter(after_delimiter(rest, delimiter)?, delimiter)?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiIM".contains(c));
    let ends = rest.is_empty() || rest.starts_with([';', '\n', ' ', '}']);
    ends.then_some(rest)
}

fn after_delimiter(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == delimiter {
            return Some(chars.as_str());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_transforming_scripts_are_plain() {
        let plain = [
            "s/a/b/",
            "s|a|b|g; 3d",
            "/x/,/y/p",
            "1,5p",
            "$d",
            "s/a\\/b/c/gI",
            "n;d",
            "",
            "/a/!d",
        ];
        let other = [
            "s/x/id/e",
            "e id",
            "1e id",
            "w f",
            "s/a/b/w f",
            "r f",
            "s/a/b/ge",
            "s/a",
            "a text",
            "s/a/b/;e",
            "/x/e",
            "s/a[/]b/c/e",
        ];
        for script in plain {
            assert!(is_plain_script(script), "{script}");
        }
        for script in other {
            assert!(!is_plain_script(script), "{script}");
        }
    }
}
