use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::PollSemaphore;
use tower::util::Oneshot;
use tower_agent_core::{Error, ErrorKind, Operation, Output};
use tower_service::Service;

use super::{layer::Pool, service::Permits};

pin_project! {
    /// The answer, which holds the call's permits to the end of its stream.
    pub struct ResponseFuture<S: Service<O>, O> {
        #[pin]
        state: State<S, O>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S: Service<O>, O> {
        Refused { refusal: Refusal },
        Waiting { wait: Option<Wait<S, O>> },
        Late {
            #[pin]
            inner: Oneshot<S, O>,
            permits: Option<Permits>,
        },
        Running {
            #[pin]
            inner: S::Future,
            permits: Option<Permits>,
        },
    }
}

/// Which limit a call ran into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) max: usize,
    pub(super) by_name: bool,
}

impl Refusal {
    fn error(self) -> Error {
        let what = if self.by_name { "of this name " } else { "" };
        let message = format!("as many calls {what}as may ({}) run already", self.max);
        Error::new(ErrorKind::Overloaded, message).with_layer("concurrency_limit").with_model_text(
            "Too many calls run at the same time; this one did not run. Call it again when others are done.",
        )
    }
}

/// A call that waits for its permits: first for the one of its name, lest calls of a slow tool keep all others out.
pub(super) struct Wait<S, O> {
    service: S,
    request: O,
    own: Option<Turn>,
    all: Turn,
}

struct Turn {
    queue: PollSemaphore,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    fn new(pool: &Pool) -> Self {
        Self { queue: PollSemaphore::new(Arc::clone(&pool.permits)), permit: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.permit.is_none() {
            self.permit = ready!(self.queue.poll_acquire(cx));
        }
        Poll::Ready(())
    }
}

impl<S, O> Wait<S, O> {
    pub(super) fn new(service: S, request: O, own: Option<&Pool>, all: &Pool) -> Self {
        Self { service, request, own: own.map(Turn::new), all: Turn::new(all) }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(own) = &mut self.own {
            ready!(own.poll(cx));
        }
        self.all.poll(cx)
    }
}

impl<S: Service<O>, O> ResponseFuture<S, O> {
    pub(super) fn running(inner: S::Future, permits: Permits) -> Self {
        Self { state: State::Running { inner, permits: Some(permits) } }
    }

    pub(super) fn refused(refusal: Refusal) -> Self {
        Self { state: State::Refused { refusal } }
    }

    pub(super) fn waiting(wait: Wait<S, O>) -> Self {
        Self { state: State::Waiting { wait: Some(wait) } }
    }
}

impl<S, O> Future for ResponseFuture<S, O>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let (result, permits) = match state.as_mut().project() {
                StateProj::Refused { refusal } => return Poll::Ready(Err(refusal.error())),
                StateProj::Waiting { wait } => {
                    if let Some(wait) = wait {
                        ready!(wait.poll(cx));
                    }
                    let Some(wait) = wait.take() else { return Poll::Pending };
                    let permits =
                        wait.all.permit.map(|all| (all, wait.own.and_then(|own| own.permit)));
                    let inner = Oneshot::new(wait.service, wait.request);
                    state.set(State::Late { inner, permits });
                    continue;
                }
                StateProj::Late { inner, permits } => (ready!(inner.poll(cx)), permits),
                StateProj::Running { inner, permits } => (ready!(inner.poll(cx)), permits),
            };
            let permits = permits.take();
            return Poll::Ready(match result {
                Ok(output) => Ok(output.on_end(move |_| drop(permits))),
                Err(error) => Err(error.into()),
            });
        }
    }
}

impl<S: Service<O>, O> fmt::Debug for ResponseFuture<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Refused { .. } => "refused",
            State::Waiting { .. } => "waiting",
            State::Late { .. } | State::Running { .. } => "running",
        };
        f.debug_struct("ResponseFuture").field("state", &state).finish()
    }
}
