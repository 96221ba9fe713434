use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::{Class, Classify, Error, Operation, Output};

use super::call::Call;

pin_project! {
    /// The answer, whose call is counted at its end.
    pub struct ResponseFuture<F, O, C> {
        #[pin]
        inner: F,
        counted: Option<(Call, C)>,
        operation: PhantomData<fn(O)>,
    }
}

impl<F, O, C> ResponseFuture<F, O, C> {
    pub(super) fn new(inner: F, call: Call, classify: C) -> Self {
        Self { inner, counted: Some((call, classify)), operation: PhantomData }
    }
}

impl<F, O, C, E> Future for ResponseFuture<F, O, C>
where
    O: Operation,
    F: Future<Output = Result<O::Output, E>>,
    E: Into<Error>,
    C: Classify<O> + Send + 'static,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let polled = match this.counted {
            Some((call, _)) => call.watch(|| this.inner.poll(cx)),
            None => return Poll::Pending,
        };
        let result = ready!(polled).map_err(Into::into);
        let Some((call, classify)) = this.counted.take() else { return Poll::Ready(result) };
        let head = classify.classify(result.as_ref());
        Poll::Ready(match result {
            Ok(output) => Ok(output.on_end(move |end| {
                let class = if head == Class::Ok { classify.classify_end(&end) } else { head };
                call.end(class, end.usage);
            })),
            Err(error) => {
                call.end(head, None);
                Err(error)
            }
        })
    }
}

impl<F: fmt::Debug, O, C> fmt::Debug for ResponseFuture<F, O, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("inner", &self.inner).finish_non_exhaustive()
    }
}
