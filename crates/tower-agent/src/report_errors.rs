//! Turns errors into answers that a model can read and act on.
//!
//! A tool that fails with an `Err` ends the run; a tool that fails with a readable output lets the model try something else.
//! [`ReportErrorsLayer`] makes the second out of the first, for tools, models and agents alike. Its error type is
//! [`Infallible`]: behind it, the type says that every failure is an answer.
//!
//! ```
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ErrorKind, Outcome, ReportErrorsLayer, ToolCall, ToolOutput};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut tool = ServiceBuilder::new().layer(ReportErrorsLayer::new()).service(service_fn(|_: ToolCall| async {
//!     let error = Error::new(ErrorKind::Tool, "GET /rows: 503").with_model_text("The database is closed.");
//!     Err::<ToolOutput, _>(error)
//! }));
//!
//! let Ok(tool) = tool.ready().await;
//! let Ok(output) = tool.call(ToolCall::new("rows", "{}")).await;
//! assert!(matches!(&output.outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::Tool));
//! let text = output.joined_text();
//! assert!(text.starts_with("The tool \"rows\" failed: The database is closed."));
//! assert!(text.ends_with("Try other arguments or another approach."));
//! # }
//! ```
//!
//! The text can be one's own. The operator's text may name hosts, paths and keys; whoever shows it to a model puts a
//! [redacting layer](crate::redact) outside this one.
//!
//! ```
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{Error, ErrorKind, ReportErrorsLayer, ToolCall, ToolOutput};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let layer = ReportErrorsLayer::new().format(|report| format!("{}: {}", report.name(), report.error()));
//! let tool = ServiceBuilder::new().layer(layer).service(service_fn(|_: ToolCall| async {
//!     Err::<ToolOutput, _>(Error::new(ErrorKind::Tool, "no such row"))
//! }));
//! let Ok(output) = tool.oneshot(ToolCall::new("rows", "{}")).await;
//! assert_eq!(output.joined_text(), "rows: no such row");
//! # }
//! ```
//!
//! # Placement
//!
//! Inside redaction, so that the text of errors is scrubbed too. Outside retry: what is retried must still be an error.
//! What stands outside sees no errors any more, only outcomes, which every layer of ours counts alike.
//!
//! # Cancellation
//!
//! A call that failed because its run was cancelled, or with [`ErrorKind::Cancelled`], is no advice for a
//! model: it gets a plain text and a failure of that kind. A time-out of the tool alone is reported like any other error.
//! Nothing is held: dropping the future drops the inner one.
//!
//! # Errors
//!
//! None. An error of `poll_ready` is kept and reported by the next call, which then does not reach the service. An
//! error in the middle of a streamed body stays one: half an answer is not turned into a whole one.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::{Effect, Error, ErrorKind, Mark, Operation, OperationKind, Output, Str};

type Format = Arc<dyn Fn(&Report<'_>) -> Str + Send + Sync>;

/// Turns errors into readable answers; see the [module](self).
#[derive(Clone, Default)]
pub struct ReportErrorsLayer {
    format: Option<Format>,
}

/// What [`ReportErrorsLayer`] makes of a service.
pub struct ReportErrors<S> {
    inner: S,
    format: Option<Format>,
    /// What `poll_ready` failed with; the next call reports it.
    unready: Option<Error>,
}

/// What there is to tell about an error.
#[derive(Debug)]
pub struct Report<'a> {
    operation: OperationKind,
    name: &'a str,
    error: &'a Error,
}

impl ReportErrorsLayer {
    /// Reports in the default words: what failed and why, whether it ran, what to do next.
    #[must_use]
    pub const fn new() -> Self {
        Self { format: None }
    }

    /// Reports in words of one's own. A cancelled call is not asked about.
    #[must_use]
    pub fn format<F, T>(mut self, format: F) -> Self
    where
        F: Fn(&Report<'_>) -> T + Send + Sync + 'static,
        T: Into<Str>,
    {
        self.format = Some(Arc::new(move |report| format(report).into()));
        self
    }
}

impl<S> Layer<S> for ReportErrorsLayer {
    type Service = ReportErrors<S>;

    fn layer(&self, inner: S) -> ReportErrors<S> {
        ReportErrors { inner, format: self.format.clone(), unready: None }
    }
}

impl<S> ReportErrors<S> {
    /// Reports the errors of a service in the default words.
    pub const fn new(inner: S) -> Self {
        Self { inner, format: None, unready: None }
    }

    /// The layer with the default words.
    #[must_use]
    pub const fn layer() -> ReportErrorsLayer {
        ReportErrorsLayer::new()
    }

    inner_accessors!();
}

impl<S: Clone> Clone for ReportErrors<S> {
    /// A clone is not ready, so it has no error to report either.
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), format: self.format.clone(), unready: None }
    }
}

impl<O, S> Service<O> for ReportErrors<S>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
{
    type Response = O::Output;
    type Error = Infallible;
    type Future = ResponseFuture<O, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.unready.is_none() {
            self.unready = ready!(self.inner.poll_ready(cx)).err().map(Into::into);
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: O) -> Self::Future {
        let format = self.format.clone();
        let state = match self.unready.take() {
            Some(error) => State::Unready { error: Some(error) },
            None => State::Called { future: self.inner.call(request.clone()) },
        };
        ResponseFuture { state, request, format }
    }
}

pin_project! {
    /// The inner answer, or a readable one in place of an error.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<O, F> {
        #[pin]
        state: State<F>,
        request: O,
        format: Option<Format>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Called { #[pin] future: F },
        Unready { error: Option<Error> },
    }
}

impl<O, F, E> Future for ResponseFuture<O, F>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
{
    type Output = Result<O::Output, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let error = match this.state.project() {
            StateProjection::Called { future } => match ready!(future.poll(cx)) {
                Ok(output) => return Poll::Ready(Ok(output)),
                Err(error) => error.into(),
            },
            StateProjection::Unready { error } => match error.take() {
                Some(error) => error,
                None => return Poll::Pending,
            },
        };
        Poll::Ready(Ok(report(this.request, error, this.format.as_ref())))
    }
}

fn report<O: Operation>(request: &O, error: Error, format: Option<&Format>) -> O::Output {
    if error.is_cancelled() || request.context().cancellation().is_cancelled() {
        let text = format!("The {} was cancelled.", noun(O::KIND));
        return request.failed(&error.with_kind(ErrorKind::Cancelled).with_model_text(text));
    }
    let report = Report { operation: O::KIND, name: request.name(), error: &error };
    let text = match format {
        Some(format) => String::from(format(&report)),
        None => report.to_string(),
    };
    let mut answer = request.failed(&error.clone().with_model_text(text));
    let mark = Mark::new("report_errors", "reported").detail(error.kind().as_str());
    answer.provenance_mut().mark(mark);
    answer
}

const fn noun(operation: OperationKind) -> &'static str {
    match operation {
        OperationKind::Tool => "call",
        OperationKind::Model => "request",
        OperationKind::Run => "run",
    }
}

impl Report<'_> {
    /// Which kind of operation failed.
    #[must_use]
    pub const fn operation(&self) -> OperationKind {
        self.operation
    }

    /// The name of the tool, model or agent.
    #[must_use]
    pub const fn name(&self) -> &str {
        self.name
    }

    /// The error. Its `Display` is for operators; [`Error::model_text`] is what a model may read.
    #[must_use]
    pub const fn error(&self) -> &Error {
        self.error
    }

    /// Whether it ran, where the usual text of the kind does not say so already.
    fn ran(&self) -> &'static str {
        match (self.error.effect(), self.error.kind()) {
            (Effect::Unknown, _) => {
                " It may have taken effect all the same; check before you repeat it."
            }
            (Effect::Completed, _) => " It ran to its end; do not repeat it blindly.",
            (Effect::NotStarted, kind) if says_so(kind) => "",
            (Effect::NotStarted, _) => " It did not run.",
        }
    }

    fn advice(&self) -> &'static str {
        match self.error.kind() {
            ErrorKind::InvalidArguments => " Correct the arguments and call it again.",
            ErrorKind::Overloaded | ErrorKind::RateLimited { .. } | ErrorKind::Unavailable => {
                " Go on with something else meanwhile."
            }
            ErrorKind::NotFound | ErrorKind::Unauthorized => {
                " Repeating it will not help. Try another approach."
            }
            _ => " Try other arguments or another approach.",
        }
    }
}

/// Whether the usual text of a kind says that nothing ran.
const fn says_so(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Overloaded
            | ErrorKind::RateLimited { .. }
            | ErrorKind::InvalidArguments
            | ErrorKind::NotFound
            | ErrorKind::Unauthorized
            | ErrorKind::Unavailable
    )
}

/// The default words.
impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.error.model_text();
        match self.operation {
            OperationKind::Tool => {
                write!(f, "The tool {:?} failed: {cause}{}{}", self.name, self.ran(), self.advice())
            }
            OperationKind::Model => write!(f, "The model {:?} failed: {cause}", self.name),
            OperationKind::Run if self.name.is_empty() => write!(f, "The agent failed: {cause}"),
            OperationKind::Run => write!(f, "The agent {:?} failed: {cause}", self.name),
        }
    }
}

impl fmt::Debug for ReportErrorsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportErrorsLayer").field("own_words", &self.format.is_some()).finish()
    }
}

impl<S: fmt::Debug> fmt::Debug for ReportErrors<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportErrors")
            .field("inner", &self.inner)
            .field("own_words", &self.format.is_some())
            .field("unready", &self.unready)
            .finish()
    }
}

impl<O, F> fmt::Debug for ResponseFuture<O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
