//! Events that pass through a hook.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tower_agent_core::{
    Collector, Error, ModelBody, ModelEvent, ModelRequest, ModelResponse, Reply, RunBody, RunEvent,
    RunRequest, RunResponse,
};

use super::layer::Settings;
use crate::{
    FailMode, IntoKeep,
    blame::{after_failed, raised, warn_failed},
    contain::contain,
    enforce::{failed_after, flatten},
};

/// What a hook on events must know of one.
pub(super) trait Event: Send + 'static {
    /// Whether an answer without it would be half an answer.
    fn is_end(&self) -> bool;
}

impl Event for ModelEvent {
    fn is_end(&self) -> bool {
        matches!(self, Self::Finish { .. })
    }
}

impl Event for RunEvent {
    fn is_end(&self) -> bool {
        matches!(self, Self::Finished { .. })
    }
}

/// A closure on events and how it is called.
pub(super) struct Editor<H> {
    pub(super) hook: H,
    pub(super) settings: Settings,
}

impl<H> Editor<H> {
    /// Shows the hook an event, and tells whether it goes on.
    fn edit<T: Event, K: IntoKeep>(&self, event: &mut T) -> Result<bool, Error>
    where
        H: Fn(&mut T) -> K,
    {
        let Settings { name, mode } = &self.settings;
        let end = event.is_end();
        let keep = contain(name, "on_event", || (self.hook)(event).into_keep());
        match flatten(name, "on_event", keep) {
            Ok(keep) => Ok(keep || end),
            Err(error) if *mode == FailMode::Closed => Err(after_failed(name, error)),
            Err(error) => {
                warn_failed(&error, "the event goes on");
                Ok(true)
            }
        }
    }

    /// A whole reply is taken to pieces, edited and put together again.
    fn edit_reply<K: IntoKeep>(&self, reply: Reply) -> Result<Reply, Error>
    where
        H: Fn(&mut ModelEvent) -> K,
    {
        let unfit = |error: Error| raised(&self.settings.name, "on_event", error);
        let mut collector = Collector::new();
        for mut event in reply.into_events() {
            if self.edit(&mut event)? {
                collector.push(event).map_err(unfit)?;
            }
        }
        collector.finish().map_err(unfit)
    }
}

/// Sends a model's answer through a hook. `request` is there if an answer may have to be withheld.
pub(super) fn edit_model<H, K>(
    response: ModelResponse,
    editor: Editor<H>,
    request: Option<&ModelRequest>,
) -> ModelResponse
where
    H: Fn(&mut ModelEvent) -> K + Send + 'static,
    K: IntoKeep,
{
    let name = editor.settings.name.clone();
    let mut failure = None;
    let mut response = response.map_body(|body| match body {
        ModelBody::Full(reply) => match editor.edit_reply(Reply::clone(&reply)) {
            Ok(edited) => ModelBody::full(edited),
            Err(error) => {
                failure = Some(error);
                ModelBody::Full(reply)
            }
        },
        ModelBody::Stream(stream) => ModelBody::stream(Edited { stream, editor, over: false }),
    });
    if let Some(error) = failure {
        failed_after(&name, request, &mut response, error);
    }
    response
}

/// Sends a run's steps through a hook.
pub(super) fn edit_run<H, K>(
    response: RunResponse,
    editor: Editor<H>,
    _: Option<&RunRequest>,
) -> RunResponse
where
    H: Fn(&mut RunEvent) -> K + Send + 'static,
    K: IntoKeep,
{
    response
        .map_body(|body| RunBody::new(Edited { stream: body.into_stream(), editor, over: false }))
}

/// A stream of which a hook sees each event.
struct Edited<T, H> {
    stream: Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>,
    editor: Editor<H>,
    over: bool,
}

/// The stream is pinned on its own, and nothing else is.
impl<T, H> Unpin for Edited<T, H> {}

impl<T: Event, H, K> Stream for Edited<T, H>
where
    H: Fn(&mut T) -> K,
    K: IntoKeep,
{
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.over {
            let Some(mut event) = ready!(self.stream.as_mut().poll_next(cx)).transpose()? else {
                self.over = true;
                break;
            };
            match self.editor.edit(&mut event) {
                Ok(true) => return Poll::Ready(Some(Ok(event))),
                Ok(false) => {}
                Err(error) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        Poll::Ready(None)
    }
}
