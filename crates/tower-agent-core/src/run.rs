//! What a run of an agent takes and gives.

mod body;
mod event;
mod request;
mod transcript;

pub use self::{
    body::{RunBody, RunHead, RunResponse, RunStream},
    event::{RunEvent, RunFinish, ToolRecord},
    request::{RunLimits, RunRequest},
    transcript::Transcript,
};
