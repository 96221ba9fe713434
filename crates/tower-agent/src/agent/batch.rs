use std::{collections::VecDeque, future::Future, pin::Pin, time::Duration};

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use tokio::time::Instant;
use tower::ServiceExt;
use tower_agent_core::{
    Effect, Error, ErrorKind, Message, Operation, RunEvent, ToolCall, ToolOutput, ToolRecord,
    ToolResultPart, Tools,
};
use tower_service::Service;

use super::{
    emit::Emitter,
    stop::{contained, unless},
};

/// The calls of one turn. Each of them gets exactly one output.
pub(super) struct Batch<'a> {
    turn: u32,
    calls: Vec<ToolCall>,
    outputs: Vec<Option<ToolOutput>>,
    limit: usize,
    emitter: &'a Emitter,
}

/// What came of a batch.
pub(super) struct Done {
    results: Vec<ToolResultPart>,
    /// Whether a call waits for somebody.
    pub(super) suspended: bool,
    /// Why the run has to end.
    pub(super) error: Option<Error>,
}

impl Done {
    /// The results as messages, in the order of the calls. A suspended call has none yet.
    pub(super) fn results(&self) -> impl Iterator<Item = Message> + use<> {
        self.results.clone().into_iter().map(Message::tool_result)
    }
}

struct Finished {
    index: usize,
    result: Result<ToolOutput, Error>,
    took: Duration,
}

impl<'a> Batch<'a> {
    pub(super) fn new(turn: u32, calls: Vec<ToolCall>, limit: usize, emitter: &'a Emitter) -> Self {
        let outputs = calls.iter().map(|_| None).collect();
        Self { turn, calls, outputs, limit, emitter }
    }

    /// Runs the calls, as many at once as the limit and the tools allow.
    pub(super) async fn run<T, F>(mut self, tools: &T, specs: &Tools, mut stop: Pin<&mut F>) -> Done
    where
        T: Service<ToolCall, Response = ToolOutput> + Clone,
        T::Error: Into<Error>,
        F: Future<Output = Error>,
    {
        let mut waiting: VecDeque<usize> = (0..self.calls.len()).collect();
        let mut busy: Vec<usize> = Vec::new();
        let mut running = FuturesUnordered::new();
        loop {
            while let Some(index) = self.startable(&mut waiting, &busy, specs) {
                busy.push(index);
                if let Some(call) = self.calls.get(index).cloned() {
                    self.emitter.emit(self.started(&call)).await;
                    running.push(run_one(tools.clone(), index, call));
                }
            }
            let finished = match unless(stop.as_mut(), running.next()).await {
                Ok(Some(finished)) => finished,
                Ok(None) => return self.done(None).await,
                Err(error) => {
                    drop(running);
                    return self.give_up(error).await;
                }
            };
            busy.retain(|index| *index != finished.index);
            if let Some(error) = self.finish(finished).await {
                drop(running);
                return self.give_up(error).await;
            }
        }
    }

    /// Answers every call without running it.
    pub(super) async fn refuse(mut self, error: &Error) -> Done {
        self.answer_open(error).await;
        self.done(None).await
    }

    /// The next call that may start now, taken from those that wait.
    fn startable(
        &self,
        waiting: &mut VecDeque<usize>,
        busy: &[usize],
        specs: &Tools,
    ) -> Option<usize> {
        if busy.len() >= self.limit {
            return None;
        }
        let position = waiting.iter().position(|index| {
            let Some(call) = self.calls.get(*index) else { return false };
            let alone = specs.find(&call.name).is_some_and(|spec| spec.one_at_a_time);
            let same =
                |busy: &usize| self.calls.get(*busy).is_some_and(|other| other.name == call.name);
            !(alone && busy.iter().any(same))
        })?;
        waiting.remove(position)
    }

    /// Records an output. An error is answered for the transcript and comes back, as it ends the run.
    async fn finish(&mut self, Finished { index, result, took }: Finished) -> Option<Error> {
        let call = self.calls.get(index)?.clone();
        let (output, error) = match result {
            Ok(output) => (output, None),
            Err(error) if error.kind() == ErrorKind::Panic => {
                (call.failed(&tool_panicked(&call, &error)), None)
            }
            Err(error) => (call.failed(&error), Some(error)),
        };
        self.record(index, &call, output, took).await;
        error
    }

    async fn record(&mut self, index: usize, call: &ToolCall, output: ToolOutput, took: Duration) {
        let record = ToolRecord {
            turn: self.turn,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            output: output.clone(),
            took,
        };
        if let Some(slot) = self.outputs.get_mut(index) {
            *slot = Some(output);
        }
        self.emitter.emit(RunEvent::ToolFinished(Box::new(record))).await;
    }

    /// Answers what still ran or waited: the run ends.
    async fn give_up(mut self, error: Error) -> Done {
        let stopped = Error::new(ErrorKind::Cancelled, "the run ended")
            .with_model_text("The run ended before this call was complete.");
        let answer = if matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Cancelled) {
            &error
        } else {
            &stopped
        };
        self.answer_open(answer).await;
        self.done(Some(error)).await
    }

    async fn answer_open(&mut self, error: &Error) {
        for index in 0..self.calls.len() {
            if let (Some(None), Some(call)) =
                (self.outputs.get(index), self.calls.get(index).cloned())
            {
                let output = call.failed(error);
                self.record(index, &call, output, Duration::ZERO).await;
            }
        }
    }

    async fn done(self, error: Option<Error>) -> Done {
        let mut done =
            Done { results: Vec::with_capacity(self.calls.len()), suspended: false, error };
        for (call, output) in self.calls.into_iter().zip(self.outputs) {
            match output {
                Some(output) if output.outcome.is_suspended() => done.suspended = true,
                Some(output) => done.results.push(ToolResultPart::new(call.id, call.name, &output)),
                None => {}
            }
        }
        done
    }

    fn started(&self, call: &ToolCall) -> RunEvent {
        RunEvent::ToolStarted {
            turn: self.turn,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        }
    }
}

async fn run_one<T>(tools: T, index: usize, call: ToolCall) -> Finished
where
    T: Service<ToolCall, Response = ToolOutput>,
    T::Error: Into<Error>,
{
    let start = Instant::now();
    let result =
        contained("a tool", tools.oneshot(call).map(|result| result.map_err(Into::into))).await;
    Finished { index, result, took: start.elapsed() }
}

fn tool_panicked(call: &ToolCall, error: &Error) -> Error {
    let text = format!(
        "The tool \"{}\" broke down. It may have done part of its work. Try another way.",
        call.name
    );
    error.clone().with_model_text(text)
}

/// The answer to calls of a turn that offered no tools.
pub(super) fn no_more_turns() -> Error {
    Error::new(ErrorKind::Cancelled, "the turn limit is reached")
        .with_effect(Effect::NotStarted)
        .with_model_text("The limit of turns is reached; the call did not run.")
}
