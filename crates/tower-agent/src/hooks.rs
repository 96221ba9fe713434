//! Closures as layers: before, after and around a call.
//!
//! Each works for all three operations: what the closure takes says for which it is meant, `&mut ToolCall` or
//! `&mut ModelResponse` say. None of them needs a name or a type of its own, but each can be
//! [named](BeforeLayer::named), and blame uses that name.
//!
//! | wish | sync: call-through, no allocation | async |
//! | --- | --- | --- |
//! | edit or refuse a request, or answer in the service's place | [`before`] | [`before_async`] |
//! | edit an answer | [`after`], [`after_call`] | [`after_async`] |
//! | answer an error | [`on_error`] | [`on_error_async`] |
//! | edit or drop an event of a reply or a run | [`on_model_event`], [`on_run_event`] | |
//! | all of it around a call, with the call as a function | | [`from_fn`] |
//! | a list that is known at run time only | [`HookList`] | a `Vec` of boxed plugins |
//!
//! # Example
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{
//!     Denial, Error, ToolCall, ToolOutput,
//!     hooks::{after, before},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let mut stack = ServiceBuilder::new()
//!     .layer(before(|call: &mut ToolCall| {
//!         (call.name == "delete").then(|| Denial::new("Nothing is deleted here. Ask the user to do it."))
//!     }))
//!     .layer(after(|output: &mut ToolOutput| output.content.truncate(20)))
//!     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("done")) }));
//!
//! let output = stack.ready().await?.call(ToolCall::new("copy", "{}")).await?;
//! assert_eq!(output.joined_text(), "done");
//! let output = stack.ready().await?.call(ToolCall::new("delete", "{}")).await?;
//! assert!(output.outcome.is_denied());
//! # use tower::Service;
//! # Ok(())
//! # }
//! ```
//!
//! Named, and with a say in what a failure means:
//!
//! ```
//! use tower_agent::{FailMode, ToolCall, hooks::before};
//!
//! let audit = before(|call: &mut ToolCall| println!("{}", call.name))
//!     .named("audit")
//!     .fail_mode(FailMode::Open);
//! # let _ = tower::ServiceBuilder::new().layer(audit);
//! ```
//!
//! # Placement
//!
//! The first layer of a `ServiceBuilder` is the outermost: its `before` runs first and its `after` last. So observers
//! stand outside of guards, or they miss what guards refuse. A hook sees what passes its place: one below a
//! layer that masks secrets sees them.
//!
//! Several async hooks belong into one layer, as a tuple of plugins: each [`before_async`] and
//! [`from_fn`] clones all that is below it on each call.
//!
//! # Errors
//!
//! A hook that fails, by returning an `Err` or by a panic, never takes the process or another call with it. What becomes
//! of its own call is its [`FailMode`](crate::FailMode): [`Split`](crate::FailMode::Split) unless set, so that a failure before the
//! call ends it and one after the call keeps its answer. The error is of kind [`Hook`](crate::ErrorKind::Hook), its
//! [`layer`](crate::Error::layer) is the hook's name, and its [`effect`](crate::Error::effect) says whether anything ran.
//! Errors of the service pass unchanged, unless [`on_error`] answers them.
//!
//! # Cancellation
//!
//! Dropping a call drops what is inside it, and a hook that waits; no hook runs any more. Nothing is spawned.

#[macro_use]
mod layer;

mod after;
mod after_async;
mod after_call;
mod answer;
mod before;
mod before_async;
mod edit;
mod from_fn;
mod hooked;
mod list;
mod on_error;
mod on_error_async;
mod on_event;

pub use self::{
    after::{After, AfterFuture, AfterLayer, after},
    after_async::{AfterAsync, AfterAsyncFuture, AfterAsyncLayer, after_async},
    after_call::{AfterCall, AfterCallFuture, AfterCallLayer, after_call},
    before::{Before, BeforeFuture, BeforeLayer, before},
    before_async::{BeforeAsync, BeforeAsyncFuture, BeforeAsyncLayer, before_async},
    from_fn::{FromFn, FromFnFuture, FromFnLayer, Next, from_fn},
    hooked::{Hooked, HookedFuture},
    list::{Hook, HookList, HookListBuilder, NameError},
    on_error::{OnError, OnErrorFuture, OnErrorLayer, on_error},
    on_error_async::{OnErrorAsync, OnErrorAsyncFuture, OnErrorAsyncLayer, on_error_async},
    on_event::{
        OnEventFuture, OnModelEvent, OnModelEventLayer, OnRunEvent, OnRunEventLayer,
        on_model_event, on_run_event,
    },
};
