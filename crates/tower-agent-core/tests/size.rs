//! What moves through every layer stays small.
#![cfg(test)]

use tower_agent_core::{Error, Json, ToolCall};

#[test]
fn a_tool_call_is_at_most_96_bytes_and_a_handle_one_pointer() {
    assert!(size_of::<ToolCall>() <= 96, "{}", size_of::<ToolCall>());
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Json>(), size_of::<usize>());
}
