//! Limits how many calls run at a time, to the end of their streams.
//!
//! The permit of tower's own `concurrency_limit` is free again where a stream begins. Here it lives in the
//! body, so that a streamed answer counts as running until it ended, failed or was dropped. Besides the limit for
//! all there can be one for each name; both hold.
//!
//! All services made from one layer and its clones share its permits.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ModelRequest, ModelResponse, concurrency_limit::ConcurrencyLimitLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let limit = ConcurrencyLimitLayer::new(8);
//! let model = ServiceBuilder::new()
//!     .layer(&limit)
//!     .service(service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::stream(futures_util::stream::empty())) }));
//!
//! let response = model.oneshot(ModelRequest::new("demo", vec![])).await?;
//! assert_eq!(limit.in_flight(), 1);
//! drop(response);
//! assert_eq!(limit.in_flight(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! At most two crawls among eight calls, and an error at once instead of a wait:
//!
//! ```
//! use tower_agent::concurrency_limit::{ConcurrencyLimitLayer, WhenFull};
//!
//! let tools = ConcurrencyLimitLayer::new(8).for_name("crawl", 2).when_full(WhenFull::Reject);
//! # let _ = tools;
//! ```
//!
//! # Placement
//!
//! Inside retry, so that no permit is held through a back-off, and outside the timeout, so that the wait for a permit
//! is not taken from the call's time.
//!
//! # Readiness
//!
//! With [`WhenFull::Queue`] the service is ready when it holds a permit, as tower's is: a caller that asks for
//! readiness and then neither calls nor drops the service keeps a permit. A call whose name has no permit free
//! gives that permit back, waits for one of each, and only then asks a clone of the inner service for readiness.
//! With [`WhenFull::Reject`] it is ready when the inner service is.
//!
//! # Errors
//!
//! With [`WhenFull::Reject`]: [`Overloaded`](tower_agent_core::ErrorKind::Overloaded) with the effect
//! [`NotStarted`](tower_agent_core::Effect::NotStarted).
//!
//! # Cancellation
//!
//! Dropping the call, or the answer's stream, gives the permits back; dropping a call that waits gives its place up.

mod future;
mod layer;
mod service;

pub use self::{
    future::ResponseFuture,
    layer::{ConcurrencyLimitLayer, WhenFull},
    service::ConcurrencyLimit,
};
