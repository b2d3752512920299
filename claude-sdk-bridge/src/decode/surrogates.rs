//! Half surrogate pairs in JSON text. The model's stream is cut anywhere, also inside an emoji written as two escapes;
//! JSON allows the halves, strict readers do not. Each half becomes U+FFFD.

use std::borrow::Cow;

/// Whether `json` may hold an escape of a surrogate, paired or not. Cheap, with false alarms.
pub(super) fn suspicious(json: &str) -> bool {
    json.contains("\\ud") || json.contains("\\uD")
}

/// A line as text that can be read: what is no UTF-8 in it and each half of a surrogate pair are replaced.
pub(crate) fn sound(line: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(line) {
        Cow::Borrowed(text) => repair(text),
        Cow::Owned(text) => Cow::Owned(repair(&text).into_owned()),
    }
}

/// `json` with every unpaired surrogate escape replaced. Anything else stays as it is, valid or not.
pub(super) fn repair(json: &str) -> Cow<'_, str> {
    if !suspicious(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let (unit, after) = take_escape(escape);
        rest = match unit {
            Unit::High(text) => match take_low(after) {
                Some((low, after_pair)) => {
                    out.extend(["\\", text, "\\", low]);
                    after_pair
                }
                None => replaced(&mut out, after),
            },
            Unit::Low => replaced(&mut out, after),
            Unit::Plain(text) => {
                out.extend(["\\", text]);
                after
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

enum Unit<'a> {
    /// First half of a pair.
    High(&'a str),
    /// Second half of a pair, without a first.
    Low,
    /// Any other escape, without its backslash.
    Plain(&'a str),
}

fn replaced<'a>(out: &mut String, after: &'a str) -> &'a str {
    out.push_str("\\ufffd");
    after
}

/// Splits what follows a backslash into the escape and the rest.
fn take_escape(text: &str) -> (Unit<'_>, &str) {
    let hex = text
        .starts_with('u')
        .then(|| text.get(1..5).and_then(|hex| u16::from_str_radix(hex, 16).ok()));
    let length = match hex {
        Some(Some(_)) => 5,
        _ => text.chars().next().map_or(0, char::len_utf8),
    };
    let (escape, after) = text.split_at_checked(length).unwrap_or((text, ""));
    let unit = match hex.flatten() {
        Some(0xd800..=0xdbff) => Unit::High(escape),
        Some(0xdc00..=0xdfff) => Unit::Low,
        _ => Unit::Plain(escape),
    };
    (unit, after)
}

/// The second half of a pair right at the start of `text`, with what follows it.
fn take_low(text: &str) -> Option<(&str, &str)> {
    let escape = text.strip_prefix('\\')?;
    match take_escape(escape) {
        (Unit::Low, after) => Some((escape.strip_suffix(after)?, after)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_pairs_become_replacement_characters_and_nothing_else_changes() {
        let cases = [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D\uDE00 x""#, r#""\uD83D\uDE00 x""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ud83d x""#, r#""\ufffd x""#),
            (r#""\ude00""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\u00e9""#, r#""\ufffd\u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\ud83dé\"#, r#""\ufffdé\"#),
            ("\\udé", "\\udé"),
        ];
        for (json, expected) in cases {
            assert_eq!(repair(json), expected, "{json}");
        }
    }
}
