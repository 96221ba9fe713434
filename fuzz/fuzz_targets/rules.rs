//! Whatever is written as rules, it makes a detector or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tower_agent_fuzz::rules::check(input));
