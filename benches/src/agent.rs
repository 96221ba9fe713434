//! Whole runs of an agent over a scripted model that answers at once.

use std::{
    future::{Ready, ready},
    sync::Arc,
};

use tokio::runtime::{Builder, Runtime};
use tower::{ServiceExt, service_fn};
use tower_agent::{
    Agent, Error, Message, ModelRequest, ModelResponse, Part, Reply, Role, RunFinish, RunRequest,
    Str, Tool, ToolCallPart, ToolOutput, ToolSet, ToolSpec,
};

use crate::{case::Case, payload};

/// Runs that are prepared at a time.
pub(crate) const RUNS: usize = 16;

/// The runtime of one thread that all runs share.
///
/// # Panics
/// When the system has none to give.
pub fn runtime() -> Arc<Runtime> {
    Arc::new(Builder::new_current_thread().enable_time().build().expect("a runtime starts"))
}

/// A whole run, from the first message until its events have run out and its transcript is put together.
///
/// # Panics
/// When the run fails, or takes another way than the script.
pub fn run(runtime: &Arc<Runtime>, size: usize, calls: usize) -> Case<(), usize> {
    let agent = Agent::builder("agent", service_fn(move |request| script(&request, calls)))
        .tools(tools(size))
        .max_turns(u32::try_from(calls + 2).unwrap_or(u32::MAX))
        .build();
    let runtime = Arc::clone(runtime);
    let run = move |()| {
        let request = RunRequest::user("Read it.");
        let transcript =
            runtime.block_on(async { agent.clone().oneshot(request).await?.collect().await });
        let transcript = transcript.expect("the run succeeds");
        assert_eq!(transcript.finish, Some(RunFinish::Answered));
        assert_eq!(transcript.tools.len(), calls, "each call of the script");
        transcript.messages.len()
    };
    Case::new(|| (), run).in_batches_of(RUNS)
}

/// Asks for the tool so many times and then answers.
fn script(request: &ModelRequest, calls: usize) -> Ready<Result<ModelResponse, Error>> {
    let done = request.messages.iter().filter(|message| *message.role() == Role::Tool).count();
    let part = if done < calls {
        Part::ToolCall(ToolCallPart::new(format!("call_{done}"), payload::TOOL, payload::ARGUMENTS))
    } else {
        Part::text("done")
    };
    ready(Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, vec![part])))))
}

/// One tool, which makes its result anew for each call.
fn tools(size: usize) -> ToolSet {
    // A handle: each call clones the tool, and with it what its function holds.
    let text = Str::from(payload::text(size));
    let read = Tool::raw(ToolSpec::new(payload::TOOL, "Reads a file"), move |_| {
        ready(ToolOutput::text(Str::from(text.as_str())))
    });
    ToolSet::builder().tool(read).build().expect("the set is sound")
}
