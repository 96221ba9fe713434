use std::{
    any::Any,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{Class, Error, EventStream, Output, ToolOutput};
use tracing::Span;

use super::{
    entry::{Entry, Report, size_of_output},
    layer::Show,
};

pin_project! {
    /// The answer, whose end is logged.
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        entry: Option<Entry>,
        results: Option<Show<ToolOutput>>,
    }
}

impl<F> ResponseFuture<F> {
    pub(super) const fn silent(inner: F) -> Self {
        Self { inner, entry: None, results: None }
    }

    pub(super) const fn new(inner: F, entry: Entry, results: Option<Show<ToolOutput>>) -> Self {
        Self { inner, entry: Some(entry), results }
    }
}

impl<F, R, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<R, E>>,
    R: Output,
    E: Into<Error>,
{
    type Output = Result<R, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(entry) = this.entry else {
            return this.inner.poll(cx).map_err(Into::into);
        };
        let result = ready!(entry.watch(|| this.inner.poll(cx))).map_err(Into::into);
        let Some(entry) = this.entry.take() else { return Poll::Ready(result) };
        Poll::Ready(match result {
            Ok(output) => Ok(log_end(output, entry, this.results.as_ref())),
            Err(error) => {
                entry.end(&Report::of_error(&error));
                Err(error)
            }
        })
    }
}

fn log_end<R: Output>(output: R, entry: Entry, results: Option<&Show<ToolOutput>>) -> R {
    let tool = (&output as &dyn Any).downcast_ref::<ToolOutput>();
    let size = tool.map(size_of_output);
    let result = results.zip(tool).map(|(show, output)| show.text(output));
    let head = Class::from(output.outcome());
    let span = entry.span().clone();
    let output = output.map_stream(|stream| Box::pin(InSpan { stream, span }));
    output.on_end(move |end| {
        entry.end(&Report { size, result, ..Report::of_end(head, &end) });
    })
}

/// A stream whose work happens in the span of its call.
struct InSpan<T> {
    stream: EventStream<T>,
    span: Span,
}

impl<T> Stream for InSpan<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { stream, span } = &mut *self;
        span.in_scope(|| stream.as_mut().poll_next(cx))
    }
}

impl<F: fmt::Debug> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture")
            .field("inner", &self.inner)
            .field("entry", &self.entry)
            .finish_non_exhaustive()
    }
}
