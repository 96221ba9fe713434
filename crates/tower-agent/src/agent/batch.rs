use std::{future::Future, pin::Pin, pin::pin, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
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
    calls: Vec<(ToolCall, State)>,
    limit: usize,
    emitter: &'a Emitter,
}

enum State {
    Waiting,
    Running(Instant),
    Done(Box<ToolOutput>),
}

/// What came of a batch.
pub(super) struct Done {
    /// The results as messages, in the order of the calls. A suspended call has none yet.
    pub(super) results: Vec<Message>,
    /// Whether a call waits for somebody.
    pub(super) suspended: bool,
    /// Why the run has to end.
    pub(super) error: Option<Error>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(turn: u32, calls: Vec<ToolCall>, limit: usize, emitter: &'a Emitter) -> Self {
        let calls = calls.into_iter().map(|call| (call, State::Waiting)).collect();
        Self { turn, calls, limit, emitter }
    }

    /// Runs the calls, as many at once as the limit and the tools allow.
    pub(super) async fn run<T, F>(mut self, tools: &T, specs: &Tools, mut stop: Pin<&mut F>) -> Done
    where
        T: Service<ToolCall, Response = ToolOutput> + Clone,
        T::Error: Into<Error>,
        F: Future<Output = Error>,
    {
        let mut running = FuturesUnordered::new();
        loop {
            while let Some((index, call)) = self.start_next(running.len(), specs) {
                self.announce(&call).await;
                running.push(run_one(tools, index, call));
            }
            let error = match unless(stop.as_mut(), pin!(running.next())).await {
                Ok(None) => return self.done(None),
                Ok(Some((index, result))) => self.finish(index, result).await,
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                drop(running);
                self.give_up(&error).await;
                return self.done(Some(error));
            }
        }
    }

    /// Answers every call without running it.
    pub(super) async fn refuse(mut self, error: &Error) -> Done {
        self.give_up(error).await;
        self.done(None)
    }

    /// Marks the next call that may start now as running.
    fn start_next(&mut self, running: usize, specs: &Tools) -> Option<(usize, ToolCall)> {
        if running >= self.limit {
            return None;
        }
        let may_start = |(call, state): &(ToolCall, State)| {
            matches!(state, State::Waiting)
                && !(is_one_at_a_time(specs, call) && self.is_running(&call.name))
        };
        let index = self.calls.iter().position(may_start)?;
        let (call, state) = self.calls.get_mut(index)?;
        *state = State::Running(Instant::now());
        Some((index, call.clone()))
    }

    fn is_running(&self, name: &str) -> bool {
        let runs = |(call, state): &(ToolCall, State)| {
            matches!(state, State::Running(_)) && call.name == *name
        };
        self.calls.iter().any(runs)
    }

    /// Records an output. An error is answered for the transcript and comes back, as it ends the run.
    async fn finish(&mut self, index: usize, result: Result<ToolOutput, Error>) -> Option<Error> {
        let (call, _) = self.calls.get(index)?;
        let (output, error) = match result {
            Ok(output) => (output, None),
            Err(error) if error.kind() == ErrorKind::Panic => {
                (call.failed(&tool_panicked(call, &error)), None)
            }
            Err(error) => (call.failed(&error), Some(error)),
        };
        self.record(index, output).await;
        error
    }

    async fn record(&mut self, index: usize, output: ToolOutput) {
        let Some((call, state)) = self.calls.get_mut(index) else { return };
        let took = match state {
            State::Running(start) => start.elapsed(),
            _ => Duration::ZERO,
        };
        let record = ToolRecord {
            turn: self.turn,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            output: output.clone(),
            took,
        };
        *state = State::Done(Box::new(output));
        self.emitter.emit(RunEvent::ToolFinished(Box::new(record))).await;
    }

    /// Answers what still ran or waited, as the run ends.
    async fn give_up(&mut self, reason: &Error) {
        for index in 0..self.calls.len() {
            let Some((call, state)) = self.calls.get(index) else { return };
            let output = match state {
                State::Waiting => call.failed(&not_started(reason)),
                State::Running(_) => call.failed(&interrupted(reason)),
                State::Done(_) => continue,
            };
            self.record(index, output).await;
        }
    }

    fn done(self, error: Option<Error>) -> Done {
        let results = Vec::with_capacity(self.calls.len());
        let mut done = Done { results, suspended: false, error };
        for (call, state) in self.calls {
            match state {
                State::Done(output) if output.outcome.is_suspended() => done.suspended = true,
                State::Done(output) => {
                    let result = ToolResultPart::new(call.id, call.name, &output);
                    done.results.push(Message::tool_result(result));
                }
                // The loop leaves no call open.
                State::Waiting | State::Running(_) => {}
            }
        }
        done
    }

    async fn announce(&self, call: &ToolCall) {
        let (id, name) = (call.id.clone(), call.name.clone());
        let arguments = call.arguments.clone();
        let turn = self.turn;
        self.emitter.emit(RunEvent::ToolStarted { turn, id, name, arguments }).await;
    }
}

fn is_one_at_a_time(specs: &Tools, call: &ToolCall) -> bool {
    specs.find(&call.name).is_some_and(|spec| spec.one_at_a_time)
}

async fn run_one<T>(tools: &T, index: usize, call: ToolCall) -> (usize, Result<ToolOutput, Error>)
where
    T: Service<ToolCall, Response = ToolOutput> + Clone,
    T::Error: Into<Error>,
{
    // A clone may panic as well.
    let answer = async { tools.clone().oneshot(call).await.map_err(Into::into) };
    (index, contained("a tool", answer).await)
}

fn tool_panicked(call: &ToolCall, error: &Error) -> Error {
    error.clone().with_model_text(format!(
        "The tool \"{}\" broke down. It may have done part of its work. Try another way.",
        call.name
    ))
}

/// What a call is answered with that ran when the run ended for a reason that is not its own.
fn interrupted(reason: &Error) -> Error {
    let text = "The run ended while this call was running; it may have done part of its work.";
    Error::new(kind_for_others(reason), "the run ended").with_model_text(text)
}

fn not_started(reason: &Error) -> Error {
    let text = "The run ended before this call was started; it did not run.";
    Error::new(kind_for_others(reason), "the run ended")
        .with_effect(Effect::NotStarted)
        .with_model_text(text)
}

fn kind_for_others(reason: &Error) -> ErrorKind {
    if reason.is_timeout() { ErrorKind::Timeout } else { ErrorKind::Cancelled }
}
