//! The hooks around a run.

use std::{
    ops::Deref,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::{StreamExt, stream::unfold};
use tower_agent_core::{
    End, EndReason, Error, Outcome, RunBody, RunEvent, RunRequest, RunResponse, RunStream, Usage,
};
use tower_service::Service;

use super::{
    Plugin, PluginService, ResponseFuture, Shared,
    stack::{Before, contained_now},
    trail::{Observe, Snapshot, Trail},
};

impl<S, P> Service<RunRequest> for PluginService<S, P>
where
    S: Service<RunRequest, Response = RunResponse> + Clone + Send + 'static,
    S::Error: Into<Error>,
    S::Future: Send,
    P: Plugin,
{
    type Response = RunResponse;
    type Error = Error;
    type Future = ResponseFuture<RunResponse>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, run: RunRequest) -> Self::Future {
        let inner = self.take_ready();
        let shared = self.shared.clone();
        ResponseFuture::new(around(shared, inner, run))
    }
}

async fn around<S, P>(
    shared: Arc<Shared<P>>,
    mut inner: S,
    mut run: RunRequest,
) -> Result<RunResponse, Error>
where
    S: Service<RunRequest, Response = RunResponse>,
    S::Error: Into<Error>,
    P: Plugin,
{
    let names = Arc::clone(&shared);
    let mut watch = Watch { entered: Entered::new(shared, Trail::new(run.clone())), usage: None };
    let mut before =
        Before { names: &names.names, trail: &mut watch.entered.trail, request: &mut run };
    let result = match names.plugin.run_before(&mut before).await {
        Some(stop) => stop.map(|answer| *answer),
        None => inner.call(run).await.map_err(Into::into),
    };
    match result {
        Ok(response) => {
            let outcome = response.head.outcome.clone();
            Ok(response.map_body(|body| watch.body(body, outcome)))
        }
        Err(error) => {
            watch.ended(EndReason::Failed(error.kind()));
            Err(error)
        }
    }
}

/// Sees a run through to its end, whichever it is.
struct Watch<P: Plugin> {
    entered: Entered<Arc<Shared<P>>, P, RunRequest>,
    usage: Option<Usage>,
}

struct Watched<P: Plugin> {
    stream: RunStream,
    watch: Watch<P>,
    outcome: Outcome,
    complete: bool,
    over: bool,
}

impl<P: Plugin> Watch<P> {
    fn body(self, body: RunBody, outcome: Outcome) -> RunBody {
        let stream = body.into_stream();
        let watched = Watched { stream, watch: self, outcome, complete: false, over: false };
        RunBody::new(unfold(Box::new(watched), |mut watched| async move {
            watched.next().await.map(|event| (event, watched))
        }))
    }

    fn ended(&mut self, reason: EndReason) {
        let end = End::new(reason).with_usage(self.usage);
        self.entered.leave_all("after_run", |plugin, run| plugin.run_ended(run, &end));
    }
}

impl<P: Plugin> Watched<P> {
    async fn next(&mut self) -> Option<Result<RunEvent, Error>> {
        if self.over {
            return None;
        }
        match self.stream.next().await {
            Some(Ok(event)) => Some(self.show(event).await),
            Some(Err(error)) => Some(self.fail(error)),
            None => {
                self.over = true;
                self.end(EndReason::CutOff);
                None
            }
        }
    }

    async fn show(&mut self, mut event: RunEvent) -> Result<RunEvent, Error> {
        match &event {
            RunEvent::TurnFinished { total, .. } => self.watch.usage = Some(*total),
            RunEvent::Finished { usage, finish, .. } => {
                (self.watch.usage, self.complete) = (Some(*usage), true);
                if self.outcome.is_success() {
                    self.outcome = finish.outcome();
                }
            }
            _ => {}
        }
        let entered = &self.watch.entered;
        let shared = &entered.shared;
        let mut observe = Observe {
            names: &shared.names,
            entered: entered.trail.entered(),
            index: shared.names.len(),
            ctx: &entered.trail.last().ctx,
            event: &mut event,
            error: None,
        };
        shared.plugin.run_event(&mut observe).await;
        match observe.error {
            Some(error) => self.fail(error),
            None => Ok(event),
        }
    }

    /// The run is as complete as its last event, whatever comes after that.
    fn end(&mut self, otherwise: EndReason) {
        let complete =
            self.complete.then(|| EndReason::Complete(std::mem::take(&mut self.outcome)));
        self.watch.ended(complete.unwrap_or(otherwise));
    }

    fn fail(&mut self, error: Error) -> Result<RunEvent, Error> {
        self.over = true;
        self.watch.ended(EndReason::Failed(error.kind()));
        Err(error)
    }
}

impl<P: Plugin> Drop for Watched<P> {
    fn drop(&mut self) {
        // Whoever has the last event has the whole run.
        self.end(EndReason::Dropped);
    }
}

impl<P: Plugin> Drop for Watch<P> {
    fn drop(&mut self) {
        self.ended(EndReason::Dropped);
    }
}

/// The plugins that a call entered. Those that it has not left when this is dropped learn of it.
pub(super) struct Entered<R, P, O>
where
    R: Deref<Target = Shared<P>>,
    P: Plugin,
    O: Snapshot,
{
    pub(super) shared: R,
    pub(super) trail: Trail<O>,
}

impl<R, P, O> Entered<R, P, O>
where
    R: Deref<Target = Shared<P>>,
    P: Plugin,
    O: Snapshot,
{
    pub(super) const fn new(shared: R, trail: Trail<O>) -> Self {
        Self { shared, trail }
    }

    /// Leaves every plugin, innermost first, with one last hook each.
    fn leave_all(
        &mut self,
        name: &'static str,
        mut hook: impl FnMut(&dyn super::ended::Ended, &O),
    ) {
        let Shared { plugin, names } = &*self.shared;
        let entered = self.trail.entered();
        let mut index = names.len();
        let trail = &mut self.trail;
        if entered == 0 {
            return;
        }
        plugin.each_ended(&mut |plugin| {
            index = index.saturating_sub(1);
            if index < entered {
                trail.leave(index);
                contained_now(names, index, name, || hook(plugin, trail.seen(index)));
            }
        });
    }
}

impl<R, P, O> Drop for Entered<R, P, O>
where
    R: Deref<Target = Shared<P>>,
    P: Plugin,
    O: Snapshot,
{
    fn drop(&mut self) {
        self.leave_all("on_dropped", |plugin, request| {
            plugin.call_dropped(O::KIND, request.context())
        });
    }
}
