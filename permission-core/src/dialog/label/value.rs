//! What may stand verbatim in a label: text that shows what it is and does not read like the label's own grammar.
//!
//! Place in the flow: every value in a part passes here. Must not repair a text: one that fails has no label.

/// What a label says about an effect. After a separator it would begin a new part.
const PART_BEGINNINGS: [&str; 3] = ["don't ask again for ", "allow ", "turn on "];
const SEPARATORS: [&str; 2] = [" and ", ", "];
const SCOPE: &str = " for this session";
/// Words that tell one kind of shell or skill rule from another.
const KIND_BEGINNINGS: [&str; 3] = ["the command ", "commands matching ", "the skill "];

/// Whether a label may print the text as it stands.
pub(crate) fn is_showable(text: &str) -> bool {
    let ends_plainly = !text.starts_with(' ') && !text.ends_with([' ', ',']);
    !text.is_empty() && ends_plainly && !text.chars().any(is_deceptive) && !reads_like_grammar(text)
}

/// Characters that are invisible, reorder the text around them, or look like a blank and are none.
fn is_deceptive(c: char) -> bool {
    let other_space = c.is_whitespace() && c != ' ';
    let invisible = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}');
    c.is_control() || other_space || invisible
}

/// Compares as a person reads: in any case, with either apostrophe, runs of blanks as one. The blanks around the
/// text are those that the label puts there.
fn reads_like_grammar(text: &str) -> bool {
    let words: Vec<String> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect();
    let spoken = format!(" {} ", words.join(" "));
    let begins_a_part = SEPARATORS.iter().any(|separator| {
        PART_BEGINNINGS
            .iter()
            .any(|beginning| spoken.contains(&format!("{separator}{beginning}")))
    });
    let begins_a_kind = KIND_BEGINNINGS
        .iter()
        .any(|kind| spoken.trim_start().starts_with(kind));
    begins_a_part || begins_a_kind || spoken.contains(SCOPE)
}
