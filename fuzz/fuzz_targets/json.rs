//! Masked JSON is JSON of the same shape.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tower_agent_fuzz::json::check(input));
