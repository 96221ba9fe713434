//! Shared fixtures of the cross-crate tests.

use std::{io, panic, sync::Once};

/// Keeps panics that a script asked for out of the output, and gives the layers that log somewhere to log to.
///
/// Without a subscriber those layers would skip the very code that is under test.
pub fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let scripted = info.payload_as_str().is_some_and(|text| text.starts_with("the probe"));
            if !scripted {
                usual(info);
            }
        }));
        let logs = tracing_subscriber::fmt()
            .with_writer(io::sink)
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
        logs.init();
    });
}

/// What the README shows compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
