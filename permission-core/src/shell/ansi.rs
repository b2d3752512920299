//! `$'…'`: the escapes of C.
//!
//! Place in the flow: `scan` comes here behind `$'`. An escape that names no character is kept as it is written.

use std::str::Chars;

/// The text up to the closing quote. `None` without one, and for bytes that are no characters.
pub(super) fn decode(chars: &mut Chars<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\'' => return Some(text),
            '\\' => {
                let escaped = chars.next()?;
                escape(escaped, chars, &mut text)?;
            }
            c => text.push(c),
        }
    }
}

fn escape(escaped: char, chars: &mut Chars<'_>, text: &mut String) -> Option<()> {
    let plain = match escaped {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => escaped,
        'x' => return byte(digits(chars, 16, 2)?, text),
        'u' => return character(digits(chars, 16, 4)?, text),
        'U' => return character(digits(chars, 16, 8)?, text),
        '0'..='7' => {
            let first = escaped.to_digit(8)?;
            let rest = chars
                .as_str()
                .chars()
                .take(2)
                .take_while(|c| c.is_digit(8))
                .count();
            let number = (0..rest).try_fold(first, |number, _| Some(number * 8 + chars.next()?.to_digit(8)?));
            return byte(number?, text);
        }
        'c' => return byte(u32::from(chars.next()?) & 0x1f, text),
        other => {
            text.push('\\');
            other
        }
    };
    text.push(plain);
    Some(())
}

fn digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let count = chars
        .as_str()
        .chars()
        .take(most)
        .take_while(|c| c.is_digit(radix))
        .count();
    let number = (0..count).try_fold(0_u32, |number, _| {
        Some(number.wrapping_mul(radix) + chars.next()?.to_digit(radix)?)
    })?;
    (count > 0).then_some(number)
}

/// A NUL ends the text early, and a byte above ASCII is half a character: neither is followed.
fn byte(number: u32, text: &mut String) -> Option<()> {
    if matches!(number, 1..=0x7f) {
        return character(number, text);
    }
    None
}

fn character(number: u32, text: &mut String) -> Option<()> {
    text.push(char::from_u32(number).filter(|c| *c != '\0')?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_what_bash_makes_of_them() {
        let rows = [
            (r"\x72m'", Some("rm")),
            (r"\162m'", Some("rm")),
            (r"\u0072m'", Some("rm")),
            (r"\U00000072m'", Some("rm")),
            (r"a\nb\t'", Some("a\nb\t")),
            (r"it\'s'", Some("it's")),
            (r"\q'", Some("\\q")),
            (r"\xff'", None),
            (r"a\0b'", None),
            (r"open", None),
        ];
        for (text, expected) in rows {
            assert_eq!(decode(&mut text.chars()).as_deref(), expected, "{text}");
        }
    }
}
