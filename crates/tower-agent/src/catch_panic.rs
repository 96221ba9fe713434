//! Contains panics: one crashing tool takes neither the process nor the other calls with it.
//!
//! A panic in the call, or while it runs, becomes an answer that the model can read, with the failure
//! [`Panic`](ErrorKind::Panic). A panic in the stream of an answer ends that stream with an error.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ToolCall, ToolOutput, catch_panic::CatchPanicLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let render = ServiceBuilder::new().layer(CatchPanicLayer::new()).service(service_fn(
//!     |call: ToolCall| async move {
//!         assert!(call.arguments.value().is_ok(), "bad arguments");
//!         Ok::<_, Error>(ToolOutput::text("rendered"))
//!     },
//! ));
//! let output = render.oneshot(ToolCall::new("render", "oops")).await?;
//! assert!(output.outcome.is_failed());
//! assert!(output.joined_text().starts_with("`render` crashed"));
//! # Ok(())
//! # }
//! ```
//!
//! As an error for the program instead, for instance below a layer that retries:
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{ErrorKind, ModelRequest, ModelResponse, catch_panic::CatchPanicLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let model = ServiceBuilder::new()
//!     .layer(CatchPanicLayer::new().as_error())
//!     .service(service_fn(|request: ModelRequest| async move {
//!         let first = request.messages.first().expect("a message");
//!         Ok::<_, tower_agent::Error>(ModelResponse::full(tower_agent::Reply::new(first.clone())))
//!     }));
//! let error = model.oneshot(ModelRequest::new("demo", vec![])).await.unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Panic);
//! assert!(error.to_string().ends_with("panicked: a message"));
//! # }
//! ```
//!
//! # Placement
//!
//! Outside everything that may panic, inside what must see each outcome: metrics, trace, audit. What a panic
//! leaves behind in the service itself is the service's business; a lock that it held may be poisoned.
//! With `panic = "abort"` nothing can be contained.
//!
//! # Errors
//!
//! [`Panic`](ErrorKind::Panic), with what the panic said in the operator's text only: as an answer in place, or as an error
//! after [`as_error`](CatchPanicLayer::as_error), from readiness and from a stream.
//!
//! # Cancellation
//!
//! Dropping the call drops what is inside.

use std::{
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Effect, Error, ErrorKind, EventStream, Operation, Output};
use tower_layer::Layer;
use tower_service::Service;

use crate::panic_text::panic_text;

/// Contains panics. See the [module](self) for examples.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatchPanicLayer {
    as_error: bool,
}

impl CatchPanicLayer {
    /// Answers in place of a call that panicked.
    #[must_use]
    pub const fn new() -> Self {
        Self { as_error: false }
    }

    /// Returns an error instead, for the program to see.
    #[must_use]
    pub const fn as_error(mut self) -> Self {
        self.as_error = true;
        self
    }
}

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic::new(inner, *self)
    }
}

/// Contains panics. See the [module](self) for examples.
#[derive(Clone, Copy, Debug)]
pub struct CatchPanic<S> {
    inner: S,
    config: CatchPanicLayer,
}

impl<S> CatchPanic<S> {
    /// Contains the panics of `inner`, as the layer says.
    pub const fn new(inner: S, config: CatchPanicLayer) -> Self {
        Self { inner, config }
    }

    /// A layer that answers in place of a call that panicked.
    #[must_use]
    pub const fn layer() -> CatchPanicLayer {
        CatchPanicLayer::new()
    }

    inner_accessors!();
}

impl<O, S> Service<O> for CatchPanic<S>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = ResponseFuture<S::Future, O>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match catch(|| self.inner.poll_ready(cx)) {
            Ok(ready) => ready.map_err(Into::into),
            Err(panic) => {
                Poll::Ready(Err(panic.error("readiness").with_effect(Effect::NotStarted)))
            }
        }
    }

    fn call(&mut self, request: O) -> Self::Future {
        // What answers in place needs the request, which the call takes: handles are cloned, no text.
        let answers = Some(request.clone());
        let inner = catch(|| self.inner.call(request));
        let (inner, panic) = match inner {
            Ok(inner) => (Some(inner), None),
            Err(panic) => (None, Some(panic)),
        };
        ResponseFuture { inner, panic, request: answers, as_error: self.config.as_error }
    }
}

pin_project! {
    /// The answer, or one in place of a call that panicked.
    pub struct ResponseFuture<F, O> {
        #[pin]
        inner: Option<F>,
        panic: Option<Panicked>,
        request: Option<O>,
        as_error: bool,
    }
}

impl<F, O, E> Future for ResponseFuture<F, O>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let panic = match this.inner.as_mut().as_pin_mut().map(|inner| catch(|| inner.poll(cx))) {
            Some(Ok(Poll::Pending)) => return Poll::Pending,
            Some(Ok(Poll::Ready(result))) => {
                return Poll::Ready(result.map(guard_stream).map_err(Into::into));
            }
            Some(Err(panic)) => {
                // What panicked must not be polled again, and what it holds is given back at once.
                this.inner.set(None);
                Some(panic)
            }
            None => this.panic.take(),
        };
        let (Some(panic), Some(request)) = (panic, this.request.take()) else {
            return Poll::Pending;
        };
        let error = panic.error(&subject(&request));
        Poll::Ready(if *this.as_error { Err(error) } else { Ok(request.failed(&error)) })
    }
}

impl<F: fmt::Debug, O> fmt::Debug for ResponseFuture<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// What crashed, in words.
fn subject<O: Operation>(request: &O) -> String {
    match request.name() {
        "" => format!("the {}", O::KIND),
        name => format!("`{name}`"),
    }
}

fn guard_stream<R: Output>(output: R) -> R {
    output.map_stream(|stream| Box::pin(Guarded { stream: Some(stream) }))
}

/// A stream that ends with an error where it would have panicked.
struct Guarded<T> {
    stream: Option<EventStream<T>>,
}

impl<T> Stream for Guarded<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        match catch(|| stream.as_mut().poll_next(cx)) {
            Ok(polled) => polled,
            Err(panic) => {
                self.stream = None;
                Poll::Ready(Some(Err(panic.error("the stream"))))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.as_ref().map_or((0, Some(0)), |stream| stream.size_hint())
    }
}

/// What a panic said.
struct Panicked(String);

fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|payload| Panicked(panic_text(&*payload).to_owned()))
}

impl Panicked {
    fn error(self, subject: &str) -> Error {
        Error::new(ErrorKind::Panic, format!("{subject} panicked: {}", self.0))
            .with_layer("catch_panic")
            .with_model_text(format!(
                "{subject} crashed. Part of it may have happened already: check before you go on, and do not call it again with the same arguments."
            ))
    }
}
