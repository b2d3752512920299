//! Makes text from the agent safe to print: a model, a file or a tool's output may hold escape sequences that move
//! the cursor, retitle the window, write to the clipboard or repaint a question. Every character that can do more
//! than be seen becomes a visible stand-in. Works character by character, so that a sequence cut in two by a chunk
//! boundary is caught as well.

use std::borrow::Cow;

/// Text that may span lines: line breaks and tabs stay, a carriage return in front of a line break goes.
pub fn block(text: &str) -> Cow<'_, str> {
    if !text
        .chars()
        .any(|character| character == '\r' || is_hazard(character))
    {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            character if is_hazard(character) => stand_in(character, &mut safe),
            character => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// Text for one line: line breaks become `⏎`, tabs and runs of spaces one space.
pub fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (number, part) in text.trim().lines().enumerate() {
        if number > 0 {
            safe.push_str(" ⏎ ");
        }
        let mut words = part.split([' ', '\t']).filter(|word| !word.is_empty());
        if let Some(first) = words.next() {
            push_safe(first, &mut safe);
        }
        for word in words {
            safe.push(' ');
            push_safe(word, &mut safe);
        }
    }
    safe
}

fn push_safe(text: &str, safe: &mut String) {
    for character in text.chars() {
        if is_hazard(character) {
            stand_in(character, safe)
        } else {
            safe.push(character)
        }
    }
}

/// What a terminal acts on instead of showing, and what makes it show something else than is there.
fn is_hazard(character: char) -> bool {
    let acted_on = character.is_control() && character != '\n' && character != '\t';
    acted_on
        || matches!(character,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' // invisible marks
            | '\u{2028}' | '\u{2029}' // line and paragraph separators
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction overrides
            | '\u{2060}'..='\u{2064}' | '\u{feff}' // invisible operators
            | '\u{fff9}'..='\u{fffb}' // interlinear annotation
            | '\u{e0000}'..='\u{e007f}') // tag characters
}

fn stand_in(character: char, safe: &mut String) {
    let picture = match character {
        '\u{00}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => safe.push(picture),
        None => safe.push_str(&format!("<U+{:04X}>", u32::from(character))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_becomes_visible() {
        let check = |text: &str, expected: &str| assert_eq!(block(text), expected, "{text:?}");
        check(
            "plain ünïcode 👩‍👩‍👧 text\n\twith tab",
            "plain ünïcode 👩‍👩‍👧 text\n\twith tab",
        );
        check("\u{1b}[2J\u{1b}]0;owned\u{7}", "␛[2J␛]0;owned␇");
        check("\u{1b}]52;c;cm0gLXJm\u{1b}\\", "␛]52;c;cm0gLXJm␛\\");
        check("windows\r\nlines", "windows\nlines");
        check("rm -rf /\rls", "rm -rf /␍ls");
        check("back\u{8}space \u{7f} nul \u{0}", "back␈space ␡ nul ␀");
        check("eight-bit \u{9b}31m", "eight-bit <U+009B>31m");
        check("safe\u{202e}elif", "safe<U+202E>elif");
        check("zero\u{200b}width \u{e0041}tag", "zero<U+200B>width <U+E0041>tag");
        check("one\u{2028}two", "one<U+2028>two");
    }

    #[test]
    fn a_sequence_cut_by_a_chunk_boundary_is_caught() {
        assert_eq!(format!("{}{}", block("red \u{1b}"), block("[31m")), "red ␛[31m");
    }

    #[test]
    fn one_line_stays_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(line(text), expected, "{text:?}");
        check("  npm   test\t-- --run ", "npm test -- --run");
        check("echo a\necho b\r\n", "echo a ⏎ echo b");
        check("a\u{1b}[1Ab\rc", "a␛[1Ab␍c");
        check("\n\n", "");
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(block("clean\ntext"), Cow::Borrowed(_)));
    }
}
