//! Feeds random bytes to the readers of a client's answer to a permission request and to a form.
#![no_main]

#[path = "../checks.rs"]
#[expect(dead_code, reason = "each target uses one of the checks")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::response(bytes);
});
