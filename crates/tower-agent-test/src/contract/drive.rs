use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::time::timeout;
use tower_agent_core::Error;
use tower_service::Service;

use crate::{Drained, Sample, panics::panic_with};

/// After that long without progress, nothing will happen any more.
const GIVE_UP: Duration = Duration::from_secs(3600);

/// What became of a call or of the reading of a stream.
#[derive(Debug)]
pub(super) enum Seen<T> {
    Value(T),
    Error,
    Panic,
    Stuck,
}

impl<T> Seen<T> {
    pub(super) fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// Waits for a future, a panic, or until it is clear that neither comes.
pub(super) async fn watch<T>(future: impl Future<Output = T>) -> Seen<T> {
    match timeout(GIVE_UP, AssertUnwindSafe(future).catch_unwind()).await {
        Ok(Ok(value)) => Seen::Value(value),
        Ok(Err(_)) => Seen::Panic,
        Err(_) => Seen::Stuck,
    }
}

/// Waits until the service is ready; not being so for an hour is a fault.
pub(super) async fn ready<S, O>(service: &mut S, story: &str) -> Result<(), ()>
where
    S: Service<O, Error: Into<Error>>,
{
    match watch(poll_fn(|cx| service.poll_ready(cx))).await {
        Seen::Value(result) => result.map_err(|_| ()),
        Seen::Stuck => panic_with(&format!("{story}: the service never becomes ready again")),
        Seen::Panic | Seen::Error => panic_with(&format!("{story}: poll_ready panicked")),
    }
}

/// Makes a call on a service that is ready; a panic in `call` itself is one of the call.
pub(super) fn start<S, O>(service: &mut S, key: &str) -> Seen<S::Future>
where
    O: Sample,
    S: Service<O>,
{
    let request = O::sample(key);
    match catch_unwind(AssertUnwindSafe(|| service.call(request))) {
        Ok(future) => Seen::Value(future),
        Err(_) => Seen::Panic,
    }
}

/// Makes one whole call: until ready, until answered, until the stream is read.
pub(super) async fn call<S, O>(service: &mut S, key: &str, story: &str) -> Seen<Drained>
where
    O: Sample,
    S: Service<O, Response = O::Output, Error: Into<Error>>,
{
    match answer(service, key, story).await {
        Seen::Value(output) => read_output::<O>(output).await,
        Seen::Error => Seen::Error,
        Seen::Panic => Seen::Panic,
        Seen::Stuck => Seen::Stuck,
    }
}

/// Makes one call up to the head of its answer.
pub(super) async fn answer<S, O>(service: &mut S, key: &str, story: &str) -> Seen<O::Output>
where
    O: Sample,
    S: Service<O, Response = O::Output, Error: Into<Error>>,
{
    if ready(service, story).await.is_err() {
        return Seen::Error;
    }
    let future = match start(service, key) {
        Seen::Value(future) => future,
        _ => return Seen::Panic,
    };
    match watch(future).await {
        Seen::Value(Ok(output)) => Seen::Value(output),
        Seen::Value(Err(_)) | Seen::Error => Seen::Error,
        Seen::Panic => Seen::Panic,
        Seen::Stuck => Seen::Stuck,
    }
}

/// Reads an answer to its end.
pub(super) async fn read_output<O: Sample>(output: O::Output) -> Seen<Drained> {
    match O::into_steps(output) {
        Some(steps) => watch(steps.drain()).await,
        None => Seen::Value(Drained::default()),
    }
}

/// Polls a future that often, giving other tasks a turn in between.
pub(super) async fn poll_times<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(value) = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
            return Some(value);
        }
        give_way().await;
    }
    None
}

/// Lets everything else run once.
pub(super) async fn give_way() {
    let mut gave = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut gave, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
