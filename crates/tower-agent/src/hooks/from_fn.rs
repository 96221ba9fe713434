use std::{
    fmt,
    future::{Future, poll_fn},
    mem,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower::{ServiceExt, util::BoxCloneSyncService};
use tower_agent_core::{Error, Operation};
use tower_service::Service;

use crate::contain::{Contained, contain_async, inside};

/// Runs an async closure around each call, as axum's function of the same name.
///
/// # When
/// In the place of the service inside, which runs when and if the closure [runs](Next::run) it: not at all, once, or
/// several times with [clones](Next) of `next`.
///
/// # What is available
/// The request, owned, and the rest of the stack as [`Next`].
///
/// # What an error does
/// An `Err` ends the call with that error, the very same if it came from `next`. A panic of the closure becomes an
/// error of kind [`Hook`](crate::ErrorKind::Hook) that names the hook; whether anything ran is
/// [unknown](crate::Effect::Unknown). A panic of the service inside is not the closure's and goes on.
///
/// # What may be returned
/// A `Result` with the answer: the one of `next`, edited or not, or another one. To refuse, return
/// `Ok(request.denied(..))` ([`Operation::denied`]). `?` takes any [`BoxError`](crate::BoxError).
///
/// The instance of the service that is ready moves into the closure's future, and with it whatever permit it holds.
/// Each such layer clones and boxes all that is below it on each call: where a decision needs no `await`,
/// [`before`](super::before()) and its kin do it for nothing.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, ToolCall, ToolOutput, hooks::from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(from_fn(|call: ToolCall, next| async move {
///         let name = call.name.clone();
///         let output = next.run(call).await?;
///         Ok(ToolOutput::text(format!("{name} says: {}", output.joined_text())))
///     }))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("noon")) }));
///
/// let output = stack.oneshot(ToolCall::new("clock", "{}")).await?;
/// assert_eq!(output.joined_text(), "clock says: noon");
/// # Ok(())
/// # }
/// ```
///
/// Several tries, and a name for the blame:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Effect, Error, ErrorKind, Message, ModelRequest, ModelResponse, Reply, hooks::{Next, from_fn},
/// };
///
/// async fn insist(request: ModelRequest, next: Next<ModelRequest>) -> Result<ModelResponse, Error> {
///     for attempt in 1..3 {
///         let mut request = request.clone();
///         request.ctx.attempt = attempt;
///         match next.clone().run(request).await {
///             Err(error) if error.effect() == Effect::NotStarted => {}
///             result => return result,
///         }
///     }
///     next.run(request).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new().layer(from_fn(insist).named("insist")).service(service_fn(
///     |request: ModelRequest| async move {
///         if request.ctx.attempt == 1 {
///             return Err(Error::new(ErrorKind::Overloaded, "come back later"));
///         }
///         Ok(ModelResponse::full(Reply::new(Message::assistant("Hello!"))))
///     },
/// ));
///
/// let response = stack.oneshot(ModelRequest::new("demo", vec![])).await?;
/// assert_eq!(response.body.collect().await?.message.text(), "Hello!");
/// # Ok(())
/// # }
/// ```
pub const fn from_fn<O, F, Fut>(hook: F) -> FromFnLayer<F>
where
    O: Operation,
    F: Fn(O, Next<O>) -> Fut,
    Fut: Future<Output = Result<O::Output, Error>>,
{
    FromFnLayer::new(hook)
}

hook_layer! {
    /// The layer of [`from_fn`].
    FromFnLayer,
    /// The service of [`from_fn`]. It clones the service inside and moves the one that is ready into [`Next`].
    FromFn,
    "from_fn"
}

impl<O, S, F, Fut> Service<O> for FromFn<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
    F: Fn(O, Next<O>) -> Fut,
    Fut: Future<Output = Result<O::Output, Error>>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = FromFnFuture<Fut>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        let clone = self.inner.clone();
        let next = Next::new(mem::replace(&mut self.inner, clone));
        let name = &self.settings.name;
        let state = match contain_async(name, "from_fn", || (self.hook)(request, next)) {
            Ok(hook) => State::Hook { hook },
            Err(error) => State::Failed { error: Some(error) },
        };
        FromFnFuture { state }
    }
}

/// The rest of the stack, for a closure that runs around it.
///
/// It stands for an instance of the service that is ready. Clones share it: whichever runs first takes it, and each
/// later one waits until the service is ready again. So a clone that is kept back holds up nobody.
pub struct Next<O: Operation>(Arc<Mutex<Instance<O>>>);

struct Instance<O: Operation> {
    service: BoxCloneSyncService<O, O::Output, Error>,
    ready: bool,
}

impl<O: Operation> Next<O> {
    fn new<S>(ready: S) -> Self
    where
        S: Service<O, Response = O::Output> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let service = BoxCloneSyncService::new(ready.map_err(Into::into));
        Self(Arc::new(Mutex::new(Instance { service, ready: true })))
    }

    /// Calls the service inside, once it is ready.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn run(self, request: O) -> Result<O::Output, Error> {
        let Instance { mut service, ready } = self.take();
        if !ready {
            poll_fn(|cx| inside(|| service.poll_ready(cx))).await?;
        }
        let mut future = inside(|| service.call(request));
        poll_fn(|cx| inside(|| future.as_mut().poll(cx))).await
    }

    /// The last handle takes the instance as it is, another one leaves a clone behind, which is not ready.
    fn take(self) -> Instance<O> {
        match Arc::try_unwrap(self.0) {
            Ok(instance) => instance.into_inner().unwrap_or_else(PoisonError::into_inner),
            Err(shared) => {
                let mut left = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let service = left.service.clone();
                mem::replace(&mut *left, Instance { service, ready: false })
            }
        }
    }
}

impl<O: Operation> Clone for Next<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: Operation> fmt::Debug for Next<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

pin_project! {
    /// The future of [`from_fn`].
    pub struct FromFnFuture<Fut> {
        #[pin]
        state: State<Fut>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<Fut> {
        Hook { #[pin] hook: Contained<Fut> },
        Failed { error: Option<Error> },
    }
}

impl<Fut, T> Future for FromFnFuture<Fut>
where
    Fut: Future<Output = Result<T, Error>>,
{
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProj::Hook { hook } => {
                Poll::Ready(ready!(hook.poll(cx)).and_then(|result| result))
            }
            StateProj::Failed { error } => {
                error.take().map_or(Poll::Pending, |error| Poll::Ready(Err(error)))
            }
        }
    }
}

impl<Fut> fmt::Debug for FromFnFuture<Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnFuture").finish_non_exhaustive()
    }
}
