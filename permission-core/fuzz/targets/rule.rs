//! Feeds random bytes to the reader of permission rules, and to what rules decide about.
#![no_main]

#[path = "../checks.rs"]
#[expect(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::rule(bytes);
});
