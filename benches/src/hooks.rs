//! Hooks and plugins.

use crate::stack::ToolCase;

/// Ten layers, each with a synchronous hook before and one after the call.
pub const LAYERS: &str = "10 layers of sync hooks";
/// The same hooks in one list that was put together at run time.
pub const LIST: &str = "10 sync hooks in a list";
/// Ten plugins whose hooks are async, in one layer.
pub const TUPLE: &str = "10 async plugins as a tuple";

/// Ten hooks around the free tool, in each of the ways to put them together.
pub fn many(size: usize) -> Vec<(&'static str, ToolCase)> {
    let _ = size;
    Vec::new()
}
