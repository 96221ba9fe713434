//! The vocabulary of tower-agent.
//!
//! tower-agent treats an AI agent as three [`tower::Service`]s: a tool call, a model call and an agent run.
//! This crate holds what those services exchange, and nothing else: no runtime, no provider, no layer.
//!
//! | operation | request | response |
//! | --- | --- | --- |
//! | tool call | [`ToolCall`] | [`ToolOutput`] |
//! | model call | [`ModelRequest`] | [`ModelResponse`] |
//! | agent run | [`RunRequest`] | [`RunResponse`] |
//!
//! # Two channels for failure
//!
//! What the *model* should read is `Ok`: an output whose [`Outcome`] says what happened. What the *program*
//! must see is `Err`: the one [`Error`] of all stacks, which says what went wrong ([`ErrorKind`]) and whether
//! anything may have happened already ([`Effect`]). A denial is never an `Err`, so no retry layer can eat it.
//!
//! # Cheap to move, cheap to clone
//!
//! Text, JSON, messages, tool specs and the run's context are shared handles. Cloning a request copies
//! handles, never text, and an edit copies only what it touches.
//!
//! [`tower::Service`]: https://docs.rs/tower-service

#![cfg_attr(docsrs, feature(doc_cfg))]

mod classify;
mod context;
mod error;
mod extensions;
mod identity;
mod json;
mod model;
mod operation;
mod outcome;
mod provenance;
mod run;
mod secret;
mod settle;
mod state;
mod text;
mod tool;
mod usage;

pub use self::{
    classify::{Class, Classify, DefaultClassify},
    context::{Context, Run, RunBuilder},
    error::{BoxError, Effect, Error, ErrorKind},
    extensions::Extensions,
    identity::Identity,
    json::{Json, JsonError},
    model::{
        Collector, Conversation, FinishReason, Media, MediaSource, Message, ModelBody, ModelEvent,
        ModelHead, ModelRequest, ModelResponse, ModelStream, OutputFormat, Part, PartDelta,
        PartStart, Reply, Role, Sampling, TextPart, ToolCallPart, ToolChoice, ToolResultPart,
    },
    operation::{EventStream, Operation, OperationKind, Output},
    outcome::{Denial, Failure, Outcome, Suspension},
    provenance::{Mark, Origin, Provenance},
    run::{
        RunBody, RunEvent, RunFinish, RunHead, RunLimits, RunRequest, RunResponse, RunStream,
        ToolRecord, Transcript,
    },
    secret::Secret,
    settle::{End, EndReason, OnEnd},
    state::RunState,
    text::{CallId, Str},
    tool::{Annotations, Content, Resource, ToolCall, ToolOrigin, ToolOutput, ToolSpec, Tools},
    usage::Usage,
};

/// The token with which a run is cancelled, from `tokio-util`; it needs no runtime.
pub use tokio_util::sync::CancellationToken;
