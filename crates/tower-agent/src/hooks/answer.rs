use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_agent_core::Error;

pin_project! {
    /// The service's answer, or one in its place.
    #[project = OrAnswerProj]
    pub(super) enum OrAnswer<F, T> {
        Inner { #[pin] future: F },
        Answer { answer: Option<Box<Result<T, Error>>> },
    }
}

impl<F, T> OrAnswer<F, T> {
    pub(super) const fn inner(future: F) -> Self {
        Self::Inner { future }
    }

    /// The answer is the rare case and stands in a box: the future is moved through every layer above.
    pub(super) fn answer(answer: Result<T, Error>) -> Self {
        Self::Answer { answer: Some(Box::new(answer)) }
    }
}

impl<F, T, E> Future for OrAnswer<F, T>
where
    F: Future<Output = Result<T, E>>,
    E: Into<Error>,
{
    type Output = Result<T, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            OrAnswerProj::Inner { future } => future.poll(cx).map_err(Into::into),
            // Like any future, it has nothing to say after its end.
            OrAnswerProj::Answer { answer } => {
                answer.take().map_or(Poll::Pending, |answer| Poll::Ready(*answer))
            }
        }
    }
}
