//! Swaps a part of a stack while it is in use: a new policy, a new set of hooks, without a new agent.
//!
//! The part is everything that one layer adds. It is built around the service below it, which stays; calls that run
//! go on in the stack that they began in, and each call sees exactly one of the two.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, layer::util::Identity, service_fn};
//! use tower_agent::{
//!     Error, ToolCall, ToolOutput,
//!     concurrency_limit::{ConcurrencyLimitLayer, WhenFull},
//!     reload::ReloadLayer,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let policy = ReloadLayer::<ToolCall>::new(Identity::new());
//! let handle = policy.handle();
//! let tool = ServiceBuilder::new().layer(policy).service(service_fn(
//!     |_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("done")) },
//! ));
//! tool.clone().oneshot(ToolCall::new("deploy", "{}")).await?;
//!
//! handle.replace(ConcurrencyLimitLayer::new(0).when_full(WhenFull::Reject));
//! assert!(tool.oneshot(ToolCall::new("deploy", "{}")).await.is_err());
//! # Ok(())
//! # }
//! ```
//!
//! A whole stack is a layer as well, and one handle swaps it under every service that the layer made:
//!
//! ```
//! use std::time::Duration;
//! use tower::ServiceBuilder;
//! use tower_agent::{
//!     ModelRequest, concurrency_limit::ConcurrencyLimitLayer, reload::ReloadLayer,
//!     timeout::TimeoutLayer,
//! };
//!
//! let limits = |calls, seconds| {
//!     ServiceBuilder::new()
//!         .layer(ConcurrencyLimitLayer::new(calls))
//!         .layer(TimeoutLayer::new(Duration::from_secs(seconds)))
//!         .into_inner()
//! };
//! let layer = ReloadLayer::<ModelRequest>::new(limits(8, 60));
//! let handle = layer.handle();
//! handle.replace(limits(2, 30));
//! # let _ = layer;
//! ```
//!
//! # Placement
//!
//! Around just what should be swapped; what is inside stays, with its connections and its caches.
//!
//! # Readiness
//!
//! It is ready when the present stack is; who waits for an old stack to be ready is told of the new one. A service that
//! was ready when its stack was replaced makes one more call in the old one. The new stack is built once for each service that the layer made, so its clones share what it shares.
//!
//! # Cost
//!
//! The service inside and the stack around it are boxed: two allocations for each call.
//!
//! # Errors
//!
//! None of its own.
//!
//! # Cancellation
//!
//! Dropping a call drops it in the stack that it runs in. An old stack goes when its last call is over and each clone of the
//! service was asked for readiness again.

mod layer;
mod service;
mod target;

pub use self::{
    layer::{ReloadHandle, ReloadLayer},
    service::Reload,
};
