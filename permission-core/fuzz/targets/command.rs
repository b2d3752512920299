//! Feeds random bytes to the analysis of shell commands.
#![no_main]

#[path = "../checks.rs"]
#[expect(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::command(bytes);
});
