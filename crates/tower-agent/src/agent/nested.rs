use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{self, Poll},
};

use serde::Deserialize;
use serde_json::json;
use tower::ServiceExt;
use tower_agent_core::{
    Effect, Error, ErrorKind, Failure, Json, ModelRequest, ModelResponse, RunFinish, RunRequest,
    Str, ToolCall, ToolOutput, ToolSpec, Transcript,
};
use tower_service::Service;
use uuid::Uuid;

use super::Agent;
use crate::{Tool, tool::read};

impl<M, T> Agent<M, T> {
    /// Makes the agent a tool of another: it takes `{"input": text}` and answers with its last text.
    ///
    /// Its run is nested under the call: it has a state of its own, and the parent's identity, deadline and
    /// cancellation. The usage of the nested run is in the output's `meta`.
    pub fn into_tool(
        self,
        name: impl Into<Str>,
        description: impl Into<Str>,
    ) -> Tool<AgentTool<M, T>> {
        let schema = json!({
            "type": "object",
            "properties": { "input": { "type": "string", "description": "What the agent should do" } },
            "required": ["input"],
        });
        Tool::new(
            ToolSpec::new(name, description).with_input_schema(schema),
            AgentTool { agent: self },
        )
    }
}

/// An agent as the service of a tool, made by [`Agent::into_tool`].
#[derive(Clone)]
pub struct AgentTool<M, T> {
    agent: Agent<M, T>,
}

#[derive(Deserialize)]
struct Arguments {
    input: Str,
}

impl<M, T> Service<ToolCall> for AgentTool<M, T>
where
    M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + Sync + 'static,
    M::Error: Into<Error> + Send,
    M::Future: Send,
    T: Service<ToolCall, Response = ToolOutput> + Clone + Send + Sync + 'static,
    T::Error: Into<Error> + Send,
    T::Future: Send,
{
    type Response = ToolOutput;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<ToolOutput, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let agent = self.agent.clone();
        Box::pin(async move {
            let arguments: Arguments = match read(&call) {
                Ok(arguments) => arguments,
                Err(refusal) => return Ok(*refusal),
            };
            let ctx = call.ctx.nested(Uuid::now_v7().to_string(), call.id.clone());
            let run = agent.oneshot(RunRequest::user(arguments.input).with_context(ctx)).await?;
            run.collect().await.map(|transcript| answer(&transcript))
        })
    }
}

fn answer(transcript: &Transcript) -> ToolOutput {
    let mut output = ToolOutput::text(transcript.text());
    output.meta =
        Json::from_serialize(&json!({ "run": transcript.run, "usage": transcript.usage })).ok();
    if matches!(
        transcript.finish,
        Some(RunFinish::Answered | RunFinish::TurnLimit | RunFinish::Length)
    ) {
        return output;
    }
    output.with_outcome(Failure::new(ErrorKind::Tool, Effect::Completed))
}

impl<M, T> fmt::Debug for AgentTool<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("agent", &self.agent).finish()
    }
}
