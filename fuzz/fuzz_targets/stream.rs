//! A text in pieces is masked as it is whole.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tower_agent_fuzz::stream::check(input));
