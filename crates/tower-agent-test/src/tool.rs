//! Tools whose calls a test answers.

mod fixed;
mod mock;

pub use self::{
    fixed::{StaticFuture, StaticTool},
    mock::{MockFuture, MockTool, PendingCall, ToolHandle, mock_tool},
};
