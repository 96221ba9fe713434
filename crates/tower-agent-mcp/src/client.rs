#![doc = include_str!("docs/client.md")]

mod answers;
mod builder;
mod call;
mod child;
mod endpoint;
mod events;
mod exchange;
mod fault;
mod host;
mod http;
mod level;
mod lines;
mod list;
mod names;
mod open;
mod options;
mod pending;
mod questions;
mod raw;
mod raw_http;
mod rounds;
mod servers;
mod service;
mod session;
mod shared;
mod snapshot;
mod stderr;
mod tap;
#[cfg(feature = "tls")]
mod tls;

pub use self::{
    answers::{Answers, RequestMeta},
    builder::Builder,
    child::Child,
    endpoint::{Endpoint, Streams},
    events::{Log, OnLog, OnProgress, Progress, ServerEvent},
    http::Http,
    options::{Backoff, Limits, Protocol},
    questions::{Ask, Asking, Question},
    servers::{Servers, ServersFuture},
    service::{McpClient, ResponseFuture},
    snapshot::{Refused, ServerInfo, Snapshot, Status},
};
