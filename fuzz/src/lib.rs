//! What the fuzz targets try, and the texts that they try it on.

pub mod stream;
#[expect(dead_code, reason = "the tests of the crate share it, and use more of it")]
#[path = "../../crates/tower-agent-detect/tests/support/mod.rs"]
mod support;
pub mod text;

/// What a fuzz target checks of the pieces of a text.
pub fn checks(target: &str) -> Option<fn(&[String])> {
    Some(match target {
        "stream" => stream::check_pieces,
        _ => return None,
    })
}
