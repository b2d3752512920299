//! The grammar of bash, as brush-parser knows it.
//!
//! Place in the flow: behind `limits`, before `walk`. Must not use its word parser (exponential) nor what it prints.

use std::io::Cursor;
use std::panic;

use brush_parser::ast::Program;
use brush_parser::{Parser, ParserOptions};

use super::{Doubt, limits};

/// The program that the text is.
pub(super) fn read(text: &str) -> Result<Program, Doubt> {
    limits::check(text)?;
    let options = ParserOptions {
        enable_extended_globbing: false,
        tilde_expansion_at_word_start: false,
        ..ParserOptions::default()
    };
    // Some texts that no shell would run make it panic; such a text is one that cannot be read.
    let parsed = panic::catch_unwind(|| Parser::new(Cursor::new(text.as_bytes()), &options).parse_program());
    match parsed {
        Ok(Ok(program)) => Ok(program),
        Ok(Err(_)) | Err(_) => Err(Doubt::Unparsable),
    }
}
