use std::{
    any::Any,
    future::{Future, pending},
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
};

use futures_util::{
    FutureExt,
    future::{Either, select},
};
use tokio::time::{Instant, sleep_until};
use tower_agent_core::{Context, Effect, Error, ErrorKind};

use crate::panic_text::panic_text;

/// Resolves when the run has to stop, with the reason.
pub(super) async fn stopped(ctx: Context) -> Error {
    let deadline = async {
        match ctx.deadline() {
            Some(deadline) => sleep_until(Instant::from_std(deadline)).await,
            None => pending().await,
        }
    };
    match select(pin!(ctx.cancellation().cancelled()), pin!(deadline)).await {
        Either::Left(_) => Error::new(ErrorKind::Cancelled, "the run was cancelled"),
        Either::Right(_) => Error::new(ErrorKind::Timeout, "the run's deadline has passed"),
    }
}

/// Runs a future unless the run has to stop first. The future stays where it is: those of a run are large.
pub(super) async fn unless<F: Future>(
    stop: Pin<&mut impl Future<Output = Error>>,
    future: Pin<&mut F>,
) -> Result<F::Output, Error> {
    match select(stop, future).await {
        Either::Left((error, _)) => Err(error),
        Either::Right((output, _)) => Ok(output),
    }
}

/// Runs a future and turns its panic into an error that does not repeat the panic's text to a model.
pub(super) fn contained<T, F>(what: &str, future: F) -> impl Future<Output = Result<T, Error>>
where
    F: Future<Output = Result<T, Error>>,
{
    AssertUnwindSafe(future)
        .catch_unwind()
        .map(move |result| result.unwrap_or_else(|payload| Err(panicked(what, &*payload))))
}

fn panicked(what: &str, payload: &(dyn Any + Send)) -> Error {
    let text = format!("{what} panicked: {}", panic_text(payload));
    Error::new(ErrorKind::Panic, text).with_effect(Effect::Unknown)
}
