//! What a model call takes and gives.

mod collect;
mod event;
mod message;
mod reply;
mod request;

pub use self::{
    collect::Collector,
    event::{FinishReason, ModelEvent, PartDelta, PartStart},
    message::{
        Conversation, Media, MediaSource, Message, Part, Role, TextPart, ToolCallPart,
        ToolResultPart,
    },
    reply::{ModelBody, ModelHead, ModelResponse, ModelStream, Reply},
    request::{ModelRequest, OutputFormat, Sampling, ToolChoice},
};
