//! What passes through the stacks.

use serde_json::Value;
use tower_agent::{CallId, Str, ToolCall};

/// 1 KB.
pub const SMALL: usize = 1_000;
/// 100 KB.
pub const LARGE: usize = 100_000;
/// 1 MB.
pub const HUGE: usize = 1_000_000;

/// The name of the only tool.
pub const TOOL: &str = "read_file";

/// Prose in lines of 60 letters, without anything that a redaction would look at twice.
pub fn text(size: usize) -> String {
    const LINE: &str = "the quick brown fox jumps over the lazy dog and is not seen\n";
    LINE.chars().cycle().take(size).collect()
}

/// Arguments as a model writes them, about 200 B.
pub const ARGUMENTS: &str = r#"{"path":"src/middleware/timeout/service.rs","offset":0,"limit":400,"encoding":"utf-8","follow_symlinks":false,"include_line_numbers":true,"reason":"to see where the deadline is read and who holds it"}"#;

/// The same as a value.
pub fn arguments() -> Value {
    serde_json::from_str(ARGUMENTS).expect("these are JSON")
}

/// Arguments that carry a text of this size.
pub fn arguments_of(size: usize) -> Value {
    let mut arguments = arguments();
    arguments["reason"] = text(size).into();
    arguments
}

/// A call whose arguments have this size.
pub fn call(size: usize) -> ToolCall {
    let id = CallId::from("call_1");
    ToolCall::new(Str::from(TOOL), arguments_of(size).to_string()).with_id(id)
}
