//! What the fuzz targets try, and the texts that they try it on.

pub mod json;
pub mod rules;
pub mod stream;
#[path = "../../crates/tower-agent-detect/tests/support/mod.rs"]
mod support;
pub mod text;
pub mod vault;

/// Something that is checked of a text in pieces, and panics where it does not hold.
pub type Check = fn(&[String]);

/// What a fuzz target checks, and the pieces of the text that an input stands for.
pub fn target(name: &str) -> Option<(Check, fn(&[u8]) -> Vec<String>)> {
    Some(match name {
        "json" => (json::check_pieces, |input| json::texts(input).to_vec()),
        "rules" => (rules::check_pieces, |input| vec![text::text(input)]),
        "stream" => (stream::check_pieces, |input| text::pieces(input, str::to_owned)),
        "vault" => (vault::check_pieces, vault::pieces_of),
        _ => return None,
    })
}
