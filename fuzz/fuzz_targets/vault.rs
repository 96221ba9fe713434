//! What a vault sealed it opens, and nothing else.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tower_agent_fuzz::vault::check(input));
