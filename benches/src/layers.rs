//! Each layer alone.

use crate::stack::ToolCase;

/// The layers that decide at once and read nothing of the payload.
pub const SYNC: [&str; 0] = [];

/// Each layer around the free tool, set so that it lets the call and its result pass.
pub fn alone(size: usize) -> Vec<(&'static str, ToolCase)> {
    let _ = size;
    Vec::new()
}
