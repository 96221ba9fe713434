//! Host tower-agent agents and model stacks in axum.
//!
//! Every part is a router without state that merges into an app of yours, whatever its state:
//!
//! | part | routes |
//! | --- | --- |
//! | [`run_router`] | `POST /v1/runs`: JSON in, the events of the run out; `GET /v1/runs/{id}/events` to read on, where it is [`resumable`](RunRouter::resumable) |
//! | [`chat_router`] | `POST /v1/chat/completions`, `GET /v1/models`: OpenAI's API, for agents and for model stacks |
//! | [`messages_router`] | `POST /v1/messages`: Anthropic's API, for the same |
//! | [`responses_router`] | `POST /v1/responses`: OpenAI's Responses, for the same |
//! | [`gemini_router`] | `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`: Gemini's API, for the same |
//! | [`proxy_router`] | all of these APIs in front of the providers that they belong to |
//! | [`stack_router`] | `GET /stack`: what the stacks are made of |
//! | [`metrics_router`] | `GET /metrics`: Prometheus' text format |
//! | [`health_router`] | `GET /healthz`, `GET /readyz` |
//!
//! and [`serve`] puts the app on a socket as streams need it.
//!
//! # Example
//!
//! ```
//! use std::{collections::BTreeMap, time::Duration};
//! use axum::{Router, body::{Body, to_bytes}, http::Request};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent_axum::{
//!     ApiError, Identity, Limits, RunStore, health_router, run_router, serve, stack_router,
//! };
//! use tower_agent_core::{Error, Message, RunBody, RunEvent, RunFinish, RunRequest, RunResponse};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An `Agent` of tower-agent in its stack; a closure stands in for it here.
//! let agent = ServiceBuilder::new().load_shed().concurrency_limit(64).service_fn(|_: RunRequest| async {
//!     Ok::<_, Error>(RunResponse::new(RunBody::from_events(vec![
//!         RunEvent::Message { turn: 1, message: Message::assistant("Hello!") },
//!         RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Default::default() },
//!     ])))
//! });
//!
//! let runs = RunStore::new().max_runs_per_user(4);
//! let limits = Limits::new().calls_per_user(4).rate_per_user(60, Duration::from_secs(60));
//! let app: Router = Router::new()
//!     .merge(
//!         run_router(agent.clone())
//!             .identity(|parts| {
//!                 let user = parts.headers.get("x-user").and_then(|user| user.to_str().ok());
//!                 let user = user.ok_or_else(|| ApiError::unauthorized("send `X-User`"))?;
//!                 Ok::<_, ApiError>(Identity::default().with_user(user))
//!             })
//!             .limits(limits)
//!             .deadline(Duration::from_secs(300))
//!             .resumable(runs.clone()),
//!     )
//!     .merge(stack_router(BTreeMap::from([("run", ["load_shed", "concurrency_limit", "agent"])])))
//!     .merge(health_router().ready("agent", agent));
//!
//! let request = Request::post("/v1/runs")
//!     .header("content-type", "application/json")
//!     .header("accept", "application/json")
//!     .header("x-user", "ada")
//!     .body(Body::from(r#"{"text": "Hi"}"#))?;
//! let response = app.clone().oneshot(request).await?;
//! let transcript = to_bytes(response.into_body(), 1 << 20).await?;
//! assert!(std::str::from_utf8(&transcript)?.contains("Hello!"));
//! # if false {
//!
//! // Hosting it for real:
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
//! let stop = async { std::future::pending().await };
//! let grace = Duration::from_secs(10);
//! serve(listener, app).with_runs(runs).with_graceful_shutdown(stop, grace).await?;
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! # Placement
//!
//! Two kinds of layers meet here. Those around a *router* see HTTP: tracing, compression, CORS, a limit of connections.
//! Those around the *agent* see runs: load shedding, budgets, audits, time-outs. With tower-http's layers:
//!
//! - `TraceLayer`, `SetSensitiveHeadersLayer`, `CorsLayer`: around the whole app.
//! - `RequestBodyLimitLayer`: around the whole app if it has routes of its own; these routers have a limit anyway
//!   ([`body_limit`](RunRouter::body_limit)). Where the layer is tighter and goes by `Content-Length`, it answers by
//!   itself, in plain text. Under [`serve()`], the client gets to read that once it has sent what it was about to.
//! - `TimeoutLayer`: ends at the head of a response, so it does not bound a stream. Give runs a
//!   [`deadline`](RunRouter::deadline).
//! - `RequestBodyTimeoutLayer`: around these routers, against callers that never finish their upload.
//! - `CompressionLayer`: it leaves `text/event-stream` alone by default, and should.
//! - `CatchPanicLayer`: outermost but for tracing. A panic inside a stream ends the connection all the same; contain it
//!   in the stack with tower-agent's own.
//!
//! # Limits
//!
//! What a caller may ask for is decided where it is known who that is, from the app's own authentication: an
//! [`identity`](RunRouter::identity) first, then [`Limits`], which count over all routers that share them, then the body, up to
//! its [limit](RunRouter::body_limit). A [`RunStore`] bounds what is kept of runs. What the agent may use, in tokens, calls and
//! time, is for layers around it.
//!
//! The routers send no CORS headers and take nothing but JSON, so that no foreign page can use them from a browser; a host
//! that wants it otherwise adds `CorsLayer`. Who binds to more than loopback should have an [`identity`](RunRouter::identity):
//! without one, everybody may ask.
//!
//! # Errors
//!
//! [`ApiError`] is the one error of all answers that are not what was asked for, in the shape of the route's dialect, and
//! holds the table from [`ErrorKind`](tower_agent_core::ErrorKind) to status. Callers read an error's model text and never its internals;
//! those go to the log (`tracing`, as errors for a 5xx), and the [`Error`](tower_agent_core::Error) itself stands in the
//! response's extensions for layers around the router.
//!
//! # Cancellation
//!
//! A response's body is the run: nothing is spawned, queued or read ahead. A slow reader slows its run down, and one that
//! goes away drops it and cancels the token in its context. The one exception is a run that was made
//! [`resumable`](RunRouter::resumable): a [`RunStore`] owns it, in bounds.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod options;
#[macro_use]
mod models;
#[macro_use]
mod dialect;

mod body;
mod chat;
mod error;
mod gemini;
mod health;
mod identity;
mod limits;
mod messages;
mod metrics;
mod proxy;
mod report;
mod responses;
mod run;
mod serve;
mod sse;
mod stack;

pub use self::{
    chat::{ChatRouter, chat_router},
    error::ApiError,
    gemini::{GeminiRouter, gemini_router},
    health::{HealthRouter, health_router},
    limits::Limits,
    messages::{MessagesRouter, messages_router},
    metrics::metrics_router,
    models::Models,
    options::RUN_ID,
    proxy::{ProxyRouter, proxy_router},
    responses::{ResponsesRouter, responses_router},
    run::{RunRouter, RunStore, run_router},
    serve::{Serve, ServeFuture, serve},
    stack::stack_router,
};
/// Who asks; see [`identity`](RunRouter::identity).
pub use tower_agent_core::Identity;
