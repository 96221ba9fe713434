//! The hooks around a model call, whole or streamed.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{StreamExt, stream::unfold};
use tokio::time::Instant;
use tower_agent_core::{
    Collector, Error, ModelBody, ModelEvent, ModelRequest, ModelResponse, ModelStream, Reply,
};
use tower_service::Service;

use super::{
    Plugin, PluginService, ResponseFuture, Shared,
    run::Entered,
    stack::{After, Before},
    trail::Trail,
};

impl<S, P> Service<ModelRequest> for PluginService<S, P>
where
    S: Service<ModelRequest, Response = ModelResponse> + Clone + Send + 'static,
    S::Error: Into<Error>,
    S::Future: Send,
    P: Plugin,
{
    type Response = ModelResponse;
    type Error = Error;
    type Future = ResponseFuture<ModelResponse>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: ModelRequest) -> Self::Future {
        let inner = self.take_ready();
        let shared = self.shared.clone();
        ResponseFuture::new(around(shared, inner, request))
    }
}

async fn around<S, P>(
    shared: Arc<Shared<P>>,
    mut inner: S,
    mut request: ModelRequest,
) -> Result<ModelResponse, Error>
where
    S: Service<ModelRequest, Response = ModelResponse>,
    S::Error: Into<Error>,
    P: Plugin,
{
    let trail = Trail::new(request.clone());
    let mut call =
        Call { entered: Entered::new(Arc::clone(&shared), trail), start: Instant::now() };
    let mut before =
        Before { names: &shared.names, trail: &mut call.entered.trail, request: &mut request };
    let result = match shared.plugin.model_before(&mut before).await {
        Some(stop) => stop.map(|answer| *answer),
        None => inner.call(request).await.map_err(Into::into),
    };
    let result = if call.entered.trail.gathers { gather(result).await } else { result };
    let ModelResponse { head, body } = match result {
        Ok(response) => response,
        Err(error) => call.answer(error).await?,
    };
    let body = match body {
        ModelBody::Full(reply) => ModelBody::full(call.reply(*reply).await.0?),
        ModelBody::Stream(stream) => call.observe(stream),
    };
    Ok(ModelResponse { head, body })
}

/// Makes a streamed reply whole, so that hooks can change it.
async fn gather(result: Result<ModelResponse, Error>) -> Result<ModelResponse, Error> {
    let ModelResponse { head, body } = result?;
    let reply = body.collect().await?;
    Ok(ModelResponse { head, body: ModelBody::full(reply) })
}

/// A call on its way up.
struct Call<P: Plugin> {
    entered: Entered<Arc<Shared<P>>, P, ModelRequest>,
    start: Instant,
}

impl<P: Plugin> Call<P> {
    fn took(&self) -> Duration {
        self.start.elapsed()
    }

    /// Asks the error hooks. The plugins outside the one that answers have yet to see the answer, which is
    /// gathered like any other reply; an answer that breaks off is an error for those outside.
    async fn answer(&mut self, mut error: Error) -> Result<ModelResponse, Error> {
        loop {
            let (result, answered) = self.ask(error).await;
            let Some(index) = answered else { return result };
            self.entered.trail.enter_again(index + 1);
            if !self.entered.trail.gathers {
                return result;
            }
            match gather(result).await {
                Ok(response) => return Ok(response),
                Err(broken) => error = broken,
            }
            self.entered.trail.leave(index);
        }
    }

    /// Tells every error hook of an error that nobody can answer any more.
    async fn fail(&mut self, error: &Error) {
        while let (_, Some(index)) = self.ask(error.clone()).await {
            self.entered.trail.enter_again(index);
        }
    }

    /// Asks the error hooks until one answers, and says which one it was.
    async fn ask(&mut self, error: Error) -> (Result<ModelResponse, Error>, Option<usize>) {
        let took = self.took();
        let Shared { plugin, names } = &*self.entered.shared;
        let mut result = Err(error);
        let mut after = After::new(names, &mut self.entered.trail, &mut result, took);
        plugin.model_error(&mut after).await;
        let answered = after.answered;
        (result, answered)
    }

    /// Shows the whole reply to the after-hooks, and tells whether one of them withheld it.
    async fn reply(&mut self, reply: Reply) -> (Result<Reply, Error>, Option<Error>) {
        let took = self.took();
        let Shared { plugin, names } = &*self.entered.shared;
        let mut result = Ok(reply);
        let mut after = After::new(names, &mut self.entered.trail, &mut result, took);
        plugin.model_after(&mut after).await;
        let withheld = after.withheld;
        (result, withheld)
    }

    /// Passes events on and shows the reply to the hooks at the end.
    fn observe(self, stream: ModelStream) -> ModelBody {
        let observed = Observed { stream, call: self, collector: Collector::new(), over: false };
        ModelBody::stream(unfold(Box::new(observed), |mut observed| async move {
            observed.next().await.map(|event| (event, observed))
        }))
    }
}

struct Observed<P: Plugin> {
    stream: ModelStream,
    call: Call<P>,
    collector: Collector,
    over: bool,
}

impl<P: Plugin> Observed<P> {
    async fn next(&mut self) -> Option<Result<ModelEvent, Error>> {
        if self.over {
            return None;
        }
        let error = match self.stream.next().await {
            Some(Ok(event)) => match self.collector.push(event.clone()) {
                Ok(()) => return Some(Ok(event)),
                Err(error) => error,
            },
            Some(Err(error)) => error,
            None => {
                self.over = true;
                let reply = match std::mem::take(&mut self.collector).finish() {
                    Ok(reply) => reply,
                    // The reader finds out for itself that the reply is not whole.
                    Err(error) => {
                        self.call.fail(&error).await;
                        return None;
                    }
                };
                return self.call.reply(reply).await.1.map(Err);
            }
        };
        self.over = true;
        // What was handed out cannot be taken back, so an answer comes too late.
        self.call.fail(&error).await;
        Some(Err(error))
    }
}
