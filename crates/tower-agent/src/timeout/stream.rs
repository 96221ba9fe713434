use std::{
    any::TypeId,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tower_agent_core::{Error, EventStream, Output, RunEvent};

use super::limits::{By, Until};

/// A run knows its deadline. It gets this much longer to answer the calls that are open.
const GRACE: Duration = Duration::from_secs(1);

pin_project! {
    /// A stream that ends with an error when it stalls or takes too long in all.
    pub(super) struct Limited<T> {
        stream: Option<EventStream<T>>,
        #[pin]
        sleep: Option<Sleep>,
        // Until when somebody waits for the next event, while somebody does.
        wait: Option<Until>,
        end: Option<Until>,
        idle: Option<Duration>,
    }
}

impl<T: Send + 'static> Limited<T> {
    pub(super) fn around<R: Output<Event = T>>(
        output: R,
        end: Option<Until>,
        idle: Option<Duration>,
    ) -> R {
        if end.is_none() && idle.is_none() {
            return output;
        }
        let is_run = TypeId::of::<T>() == TypeId::of::<RunEvent>();
        let end = end.map(|end| if is_run { end.later(GRACE) } else { end });
        output.map_stream(|stream| {
            Box::pin(Self { stream: Some(stream), sleep: None, wait: None, end, idle })
        })
    }
}

impl<T> Stream for Limited<T> {
    type Item = Result<T, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let Some(stream) = this.stream else { return Poll::Ready(None) };
        if let Poll::Ready(item) = stream.as_mut().poll_next(cx) {
            *this.wait = None;
            // A stream that is always ready never comes to ask the timer.
            let over =
                this.end.filter(|end| matches!(item, Some(Ok(_))) && end.at <= Instant::now());
            return Poll::Ready(match over {
                Some(end) => {
                    *this.stream = None;
                    Some(Err(end.error()))
                }
                None => item,
            });
        }
        if this.wait.is_none() {
            let idle = this.idle.and_then(|idle| Until::after(Instant::now(), idle, By::Idle));
            *this.wait = Until::first(idle, *this.end);
        }
        let Some(wait) = *this.wait else { return Poll::Pending };
        if poll_until(this.sleep.as_mut(), wait.at, cx).is_pending() {
            return Poll::Pending;
        }
        *this.stream = None;
        Poll::Ready(Some(Err(wait.error())))
    }
}

/// Waits until a time that may have moved since the timer was set. A timer that goes off too early is moved
/// then and not before, so a stream of many events does not move it for each of them.
fn poll_until(mut sleep: Pin<&mut Option<Sleep>>, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        let Some(mut timer) = sleep.as_mut().as_pin_mut() else {
            sleep.set(Some(sleep_until(at)));
            continue;
        };
        if timer.deadline() > at || (timer.is_elapsed() && timer.deadline() < at) {
            timer.as_mut().reset(at);
        }
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if timer.deadline() >= at {
            return Poll::Ready(());
        }
    }
}
