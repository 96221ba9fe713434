use std::{collections::HashSet, future::poll_fn, pin::Pin, pin::pin, sync::Arc};

use tower::ServiceExt;
use tower_agent_core::{
    CallId, Collector, Context, Conversation, Error, ErrorKind, FinishReason, Message, ModelBody,
    ModelRequest, ModelResponse, ModelStream, Outcome, Part, Reply, RunEvent, RunFinish,
    RunRequest, ToolCall, ToolCallPart, ToolOutput, Usage,
};
use tower_service::Service;
use uuid::Uuid;

use super::{
    batch::Batch,
    builder::Config,
    emit::Emitter,
    stop::{contained, stopped, unless},
};

/// One run of an agent.
pub(super) struct RunLoop<M, T> {
    config: Arc<Config>,
    model: M,
    tools: T,
    request: ModelRequest,
    input: Conversation,
    ctx: Context,
    max_turns: u32,
    parallel_calls: usize,
    usage: Usage,
    /// The ids of all calls so far.
    call_ids: HashSet<CallId>,
}

/// What the loop does after a turn.
enum Next {
    Ask,
    Finish(RunFinish),
}

impl<M, T> RunLoop<M, T>
where
    M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
    M::Error: Into<Error> + Send,
    M::Future: Send,
    T: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
    T::Error: Into<Error> + Send,
    T::Future: Send,
{
    pub(super) fn new(config: Arc<Config>, model: M, tools: T, run: RunRequest) -> Self {
        let ctx = run.ctx.for_agent(&config.name, || Uuid::now_v7().to_string().into());
        Self {
            request: config.request(&run, &ctx),
            max_turns: config.max_turns(run.limits),
            parallel_calls: config.parallel_calls(run.limits),
            input: run.input,
            usage: Usage::default(),
            call_ids: HashSet::new(),
            config,
            model,
            tools,
            ctx,
        }
    }

    /// Runs to the end. The future's own state is all there is: dropping it drops every call.
    pub(super) async fn drive(mut self, emitter: Emitter) -> Result<(), Error> {
        let mut stop = pin!(stopped(self.ctx.clone()));
        let run = self.ctx.run();
        emitter.emit(RunEvent::Started { run: run.id().clone(), agent: run.agent().clone() }).await;
        for message in &self.input.clone() {
            self.add(0, message.clone(), &emitter).await;
        }
        for turn in 1.. {
            if let Next::Finish(finish) = self.turn(turn, stop.as_mut(), &emitter).await? {
                let usage = self.usage;
                emitter.emit(RunEvent::Finished { finish, turns: turn, usage }).await;
                break;
            }
        }
        Ok(())
    }

    async fn turn<F>(
        &mut self,
        turn: u32,
        mut stop: Pin<&mut F>,
        emitter: &Emitter,
    ) -> Result<Next, Error>
    where
        F: Future<Output = Error>,
    {
        emitter.emit(RunEvent::TurnStarted { turn }).await;
        let asked = {
            let asked = pin!(contained("the model", self.ask(turn, emitter)));
            unless(stop.as_mut(), asked).await?
        };
        let (mut reply, outcome) = match asked {
            Ok(asked) => asked,
            Err(error) => {
                self.bill(turn, &error, emitter).await;
                return Err(error);
            }
        };
        name_calls(&mut reply.message, turn, &mut self.call_ids);
        self.usage += reply.usage.unwrap_or_default();
        let (finish, usage, total) = (reply.finish.clone(), reply.usage, self.usage);
        emitter.emit(RunEvent::TurnFinished { turn, finish, usage, total }).await;
        self.add(turn, reply.message.clone(), emitter).await;
        let ended = match outcome {
            Outcome::Denied(_) => Some(RunFinish::Denied),
            Outcome::Failed(_) => Some(RunFinish::Failed),
            _ => None,
        };
        self.answer_calls(turn, reply, ended, stop, emitter).await
    }

    /// Notes what a reply had used that broke off.
    async fn bill(&mut self, turn: u32, error: &Error, emitter: &Emitter) {
        let Some(usage) = error.extensions().get::<Usage>().copied() else { return };
        self.usage += usage;
        let (finish, usage, total) = (FinishReason::Error, Some(usage), self.usage);
        emitter.emit(RunEvent::TurnFinished { turn, finish, usage, total }).await;
    }

    /// Runs what the reply asks for, and says whether the model should be asked again.
    async fn answer_calls<F>(
        &mut self,
        turn: u32,
        reply: Reply,
        ended: Option<RunFinish>,
        stop: Pin<&mut F>,
        emitter: &Emitter,
    ) -> Result<Next, Error>
    where
        F: Future<Output = Error>,
    {
        let last = turn >= self.max_turns;
        let calls: Vec<_> = reply.message.tool_calls().map(|call| self.call(turn, call)).collect();
        if calls.is_empty() {
            let limit = (last && !self.config.specs.is_empty()).then_some(RunFinish::TurnLimit);
            let finish = ended.or(limit).unwrap_or_else(|| finish_of(&reply.finish));
            return Ok(Next::Finish(finish));
        }
        // Whatever ended the run, each call in the history has its output.
        let ended = ended.or(last.then_some(RunFinish::TurnLimit));
        let batch = Batch::new(turn, calls, self.parallel_calls, emitter);
        let done = match ended {
            Some(_) => batch.refuse(&Error::new(ErrorKind::Cancelled, "the run ends")).await,
            None => batch.run(&self.tools, &self.config.specs, stop).await,
        };
        for message in done.results {
            self.add(turn, message, emitter).await;
        }
        match done.error {
            Some(error) => Err(error),
            None if done.suspended => Ok(Next::Finish(RunFinish::Suspended)),
            None => Ok(ended.map_or(Next::Ask, Next::Finish)),
        }
    }

    fn call(&self, turn: u32, part: &ToolCallPart) -> ToolCall {
        let mut ctx = self.ctx.clone();
        ctx.turn = turn;
        ToolCall::in_context(ctx, part.name.clone(), part.arguments.clone())
            .with_id(part.id.clone())
    }

    async fn add(&mut self, turn: u32, message: Message, emitter: &Emitter) {
        self.request.messages.push(message.clone());
        emitter.emit(RunEvent::Message { turn, message }).await;
    }

    async fn ask(&self, turn: u32, emitter: &Emitter) -> Result<(Reply, Outcome), Error> {
        let mut request = self.request.clone();
        request.ctx.turn = turn;
        if turn >= self.max_turns {
            request.tools = Default::default();
            request.tool_choice = None;
        }
        let stream = request.stream;
        let response = self.model.clone().oneshot(request).await.map_err(Into::into)?;
        let reply = match response.body {
            ModelBody::Full(reply) if !stream => *reply,
            ModelBody::Full(reply) => {
                for event in reply.clone().into_events() {
                    emitter.emit(RunEvent::Model { turn, event }).await;
                }
                *reply
            }
            ModelBody::Stream(events) => gather(turn, events, stream.then_some(emitter)).await?,
        };
        Ok((reply, response.head.outcome))
    }
}

/// Puts a streamed reply together and passes its events on, if anybody wants them.
async fn gather(
    turn: u32,
    mut events: ModelStream,
    emitter: Option<&Emitter>,
) -> Result<Reply, Error> {
    let mut collector = Collector::new();
    while let Some(event) = poll_fn(|cx| events.as_mut().poll_next(cx)).await {
        let used = collector.usage();
        let event = event.map_err(|error| with_usage(error, used))?;
        collector.push(event.clone()).map_err(|error| with_usage(error, used))?;
        if let Some(emitter) = emitter {
            emitter.emit(RunEvent::Model { turn, event }).await;
        }
    }
    let used = collector.usage();
    collector.finish().map_err(|error| with_usage(error, used))
}

fn with_usage(error: Error, usage: Option<Usage>) -> Error {
    match usage {
        Some(usage) => error.with_extension(usage),
        None => error,
    }
}

/// Gives every call of a reply an id that no other call of the run has: results are told apart by it.
fn name_calls(message: &mut Message, turn: u32, taken: &mut HashSet<CallId>) {
    let mut is_new = |id: &CallId| !id.is_empty() && taken.insert(id.clone());
    let is_repeated: Vec<bool> = message.tool_calls().map(|call| !is_new(&call.id)).collect();
    if !is_repeated.contains(&true) {
        return;
    }
    let mut fresh = (1..).map(|n| CallId::from(format!("call_{turn}_{n}")));
    let calls = message.parts_mut().iter_mut().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    for (call, _) in calls.zip(is_repeated).filter(|(_, is_repeated)| *is_repeated) {
        call.id = fresh.find(|id| taken.insert(id.clone())).unwrap_or_default();
    }
}

fn finish_of(reason: &FinishReason) -> RunFinish {
    match reason {
        FinishReason::Length => RunFinish::Length,
        FinishReason::ContentFilter => RunFinish::ContentFilter,
        FinishReason::Error => RunFinish::Failed,
        _ => RunFinish::Answered,
    }
}
