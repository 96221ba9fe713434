use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::{BoxError, Error, Operation};
use tower_service::Service;

use super::answer::OrAnswer;
use crate::{
    IntoVerdict, Verdict,
    contain::{Contained, HookName, contain_async},
    enforce::{Before, flatten},
};

/// As [`before`](super::before()), for a closure that has to wait for something.
///
/// # When
/// As for [`before`](super::before()). The instance of the service inside that is ready waits for the hook, and
/// with it whatever permit it holds, so the wait should be short.
///
/// # What is available
/// A handle of the request. An edit of it has an effect only if it is returned.
///
/// # What an error does
/// As for [`before`](super::before()). A hook that fails open leaves the request as it was.
///
/// # What may be returned
/// As for [`before`](super::before()); an edit is returned as [`Verdict::modify`].
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Denial, Error, ToolCall, ToolOutput, hooks::before_async};
///
/// async fn is_open(_: &str) -> bool {
///     false
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let stack = ServiceBuilder::new()
///     .layer(before_async(|call: ToolCall| async move {
///         let refused = Denial::new("The shop is closed; nothing was ordered. Try again tomorrow.");
///         (!is_open(&call.name).await).then_some(refused)
///     }))
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("ordered")) }));
///
/// let output = stack.oneshot(ToolCall::new("order", "{}")).await?;
/// assert!(output.outcome.is_denied());
/// # Ok(())
/// # }
/// ```
///
/// Instructions that are looked up:
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, FailMode, Message, ModelRequest, ModelResponse, Reply, Verdict, hooks::before_async,
/// };
///
/// async fn house_rules() -> std::io::Result<String> {
///     Ok("Answer in one sentence.".to_owned())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let rules = before_async(|mut request: ModelRequest| async move {
///     let rules = house_rules().await?;
///     request.append_instructions(&rules);
///     Ok::<_, std::io::Error>(Verdict::modify(request))
/// });
/// let stack = ServiceBuilder::new()
///     .layer(rules.named("rules").fail_mode(FailMode::Open))
///     .service(service_fn(|request: ModelRequest| async move {
///         let text = request.instructions.unwrap_or_default();
///         Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(text))))
///     }));
///
/// let response = stack.oneshot(ModelRequest::new("demo", vec![])).await?;
/// assert_eq!(response.body.collect().await?.message.text(), "Answer in one sentence.");
/// # Ok(())
/// # }
/// ```
pub const fn before_async<O, F, Fut>(hook: F) -> BeforeAsyncLayer<F>
where
    O: Operation,
    F: Fn(O) -> Fut,
    Fut: Future,
    Fut::Output: IntoVerdict<O>,
{
    BeforeAsyncLayer::new(hook)
}

hook_layer! {
    /// The layer of [`before_async`].
    BeforeAsyncLayer,
    /// The service of [`before_async`]. It clones the service inside and moves the one that is ready into the future.
    BeforeAsync,
    "before_async"
}
fail_mode!(BeforeAsyncLayer);

impl<O, S, F, Fut> Service<O> for BeforeAsync<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output> + Clone,
    S::Error: Into<Error>,
    F: Fn(O) -> Fut,
    Fut: Future,
    Fut::Output: IntoVerdict<O>,
{
    type Response = O::Output;
    type Error = Error;
    type Future = BeforeAsyncFuture<S, O, Fut>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: O) -> Self::Future {
        let clone = self.inner.clone();
        let service = mem::replace(&mut self.inner, clone);
        let name = &self.settings.name;
        let before = Before::new(self.settings.mode, &request);
        let handed = request.clone();
        let waiting = Waiting { service, request, before, name: name.clone() };
        let state = match contain_async(name, "before_async", || (self.hook)(handed)) {
            Ok(hook) => State::Hook { hook, waiting: Some(waiting) },
            Err(error) => State::Call { call: waiting.proceed(Err(error)) },
        };
        BeforeAsyncFuture { state }
    }
}

/// The ready service and its request, while the hook decides.
struct Waiting<S, O> {
    service: S,
    request: O,
    before: Before<O>,
    name: HookName,
}

impl<S, O> Waiting<S, O>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
{
    fn proceed(mut self, verdict: Result<Verdict<O>, Error>) -> OrAnswer<S::Future, O::Output> {
        match self.before.enforce(&self.name, &mut self.request, verdict) {
            None => OrAnswer::inner(self.service.call(self.request)),
            Some(answer) => OrAnswer::answer(answer),
        }
    }
}

pin_project! {
    /// The future of [`before_async`].
    pub struct BeforeAsyncFuture<S, O, Fut>
    where
        O: Operation,
        S: Service<O>,
    {
        #[pin]
        state: State<S, O, Fut>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, O, Fut>
    where
        O: Operation,
        S: Service<O>,
    {
        Hook {
            #[pin]
            hook: Contained<Fut>,
            waiting: Option<Waiting<S, O>>,
        },
        Call {
            #[pin]
            call: OrAnswer<S::Future, O::Output>,
        },
    }
}

impl<S, O, Fut> Future for BeforeAsyncFuture<S, O, Fut>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    S::Error: Into<Error>,
    Fut: Future,
    Fut::Output: IntoVerdict<O>,
{
    type Output = Result<O::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let call = match state.as_mut().project() {
                StateProj::Call { call } => return call.poll(cx),
                StateProj::Hook { hook, waiting } => {
                    let verdict = ready!(hook.poll(cx)).map(IntoVerdict::into_verdict);
                    let Some(waiting) = waiting.take() else { return Poll::Pending };
                    let verdict: Result<Result<_, BoxError>, _> = verdict;
                    let verdict = flatten(&waiting.name, "before_async", verdict);
                    waiting.proceed(verdict)
                }
            };
            state.set(State::Call { call });
        }
    }
}

impl<S, O, Fut> fmt::Debug for BeforeAsyncFuture<S, O, Fut>
where
    O: Operation,
    S: Service<O>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BeforeAsyncFuture").finish_non_exhaustive()
    }
}
