#![doc = include_str!("docs/client.md")]

mod answers;
mod builder;
mod call;
mod child;
mod endpoint;
mod events;
mod exchange;
mod fault;
mod http;
mod lines;
mod list;
mod names;
mod options;
mod raw;
mod raw_http;
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
    events::{Log, OnProgress, Progress, ServerEvent},
    http::Http,
    options::{Backoff, Limits, Protocol},
    servers::{Servers, ServersFuture},
    service::{McpClient, ResponseFuture},
    snapshot::{Refused, ServerInfo, Snapshot, Status},
};
