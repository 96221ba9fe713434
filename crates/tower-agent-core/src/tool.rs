//! What a tool call takes and gives.

mod call;
mod content;
mod output;
mod spec;

pub use self::{
    call::ToolCall,
    content::{Content, Resource},
    output::ToolOutput,
    spec::{Annotations, ToolOrigin, ToolSpec, Tools},
};
