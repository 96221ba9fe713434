//! The peer's pipeline of plugins around the same tool, and its agent in the same run.

mod agent;
mod pipeline;

pub use self::{agent::run, pipeline::pipeline};
