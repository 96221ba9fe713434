//! What tests of agents and of their layers need: a model that follows a script, tools whose calls a test
//! answers itself, and a leaf service that finds out whether a layer keeps tower's contract.
//!
//! | to test | use |
//! | --- | --- |
//! | an agent, or a layer around a model | [`ScriptedModel`]: exact replies, streams, delays, errors |
//! | an agent, or a layer around a tool | [`StaticTool`], or [`mock_tool`] to answer each call by hand |
//! | a layer's readiness, clones, drops and permits | [`assert_service_contract`], [`Probe`] |
//! | that a stack can be shared | [`assert_clone_send_sync`] |
//! | a codec, a store, anything that must keep values | `strategies` (feature `proptest`) |
//!
//! Nothing here opens a socket or reads the clock; delays are [`tokio::time`], so a paused clock makes them
//! instant.
//!
//! ```
//! use tower_agent_core::{ModelRequest, ToolCall};
//! use tower_agent_test::{ScriptedModel, StaticTool, Turn};
//! use tower_service::Service;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent_core::Error> {
//! let mut model = ScriptedModel::tool_call("c1", "now", "{}").then(Turn::text("It is noon."));
//! let mut now = StaticTool::text("now", "12:00");
//!
//! let asked = model.call(ModelRequest::default()).await?.body.collect().await?;
//! let call = asked.message.tool_calls().next().expect("the script asks for the clock");
//! let output = now.call(ToolCall::new(call.name.clone(), call.arguments.clone())).await?;
//! assert_eq!(output.joined_text(), "12:00");
//!
//! let answer = model.call(ModelRequest::default()).await?.body.collect().await?;
//! assert_eq!(answer.message.text(), "It is noon.");
//! model.handle().assert_used_up();
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod auto_traits;
mod contract;
mod model;
mod panics;
mod probe;
mod sample;
#[cfg(feature = "proptest")]
pub mod strategies;
mod tool;

pub use self::{
    auto_traits::{assert_clone_send_sync, assert_clone_send_sync_value},
    contract::assert_service_contract,
    model::{ModelHandle, ScriptFuture, ScriptedModel, Step, Turn},
    probe::{Counts, Plan, Probe, ProbeBuilder, ProbeFuture, ProbeHandle},
    sample::{Drained, Piece, PieceStream, Sample},
    tool::{MockFuture, MockTool, PendingCall, StaticFuture, StaticTool, ToolHandle, mock_tool},
};
