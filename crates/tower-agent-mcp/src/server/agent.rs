use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::json;
use tower::ServiceExt;
use tower_agent::{Tool, ToolFn};
use tower_agent_core::{
    Context, Effect, Error, ErrorKind, Failure, Json, Output, RunEvent, RunFinish, RunRequest,
    RunResponse, Str, ToolCall, ToolOutput, ToolSpec, Transcript,
};
use tower_service::Service;

use super::Progress;

#[derive(Deserialize)]
struct Arguments {
    input: Str,
}

/// Makes an agent, or any stack around one, a tool that reports its progress to the MCP client.
///
/// It takes `{"input": text}` and answers with the agent's last text. Each turn and each tool call of the run is
/// reported as one step, by the tool's name alone. The run's usage is in the output's `meta`. Dropping the call drops
/// the run.
///
/// ```
/// use tower::service_fn;
/// use tower_agent::{Agent, Error, Message, ModelRequest, ModelResponse, Reply, ToolSet};
/// use tower_agent_mcp::server::{McpServer, agent_tool};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = service_fn(|_: ModelRequest| async {
///     Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant("It is noon."))))
/// });
/// let agent = Agent::builder("clock", model).build();
/// let tools = ToolSet::builder().tool(agent_tool("ask_clock", "Knows the time", agent)).build()?;
/// let server = McpServer::builder(tools).build()?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The run's own; a run that was refused, filtered or suspended is a failure that the model reads.
pub fn agent_tool<S>(
    name: impl Into<Str>,
    description: impl Into<Str>,
    agent: S,
) -> Tool<
    impl Service<
        ToolCall,
        Response = ToolOutput,
        Error = Error,
        Future = impl Future<Output = Result<ToolOutput, Error>> + Send + 'static,
    > + Clone
    + Send
    + Sync
    + 'static,
>
where
    S: Service<RunRequest, Response = RunResponse> + Clone + Send + Sync + 'static,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
{
    let schema = json!({
        "type": "object",
        "properties": { "input": { "type": "string", "description": "What the agent should do" } },
        "required": ["input"],
    });
    let function = move |arguments: Arguments, ctx: Context| run(agent.clone(), arguments, ctx);
    Tool::new(ToolSpec::new(name, description).with_input_schema(schema), ToolFn::new(function))
}

async fn run<S>(agent: S, arguments: Arguments, ctx: Context) -> Result<ToolOutput, Error>
where
    S: Service<RunRequest, Response = RunResponse>,
    S::Error: Into<Error>,
{
    let request = RunRequest::user(arguments.input).with_context(ctx.clone());
    let run = agent.oneshot(request).await.map_err(Into::into)?;
    let reported = run.map_stream(|events| {
        let steps = events.enumerate().then(move |(step, event)| {
            let ctx = ctx.clone();
            async move {
                if let Ok(event) = &event {
                    report(&ctx, step, event).await;
                }
                event
            }
        });
        Box::pin(steps)
    });
    reported.collect().await.map(|transcript| answer(&transcript))
}

#[expect(clippy::cast_precision_loss, reason = "a run has fewer events than 2^53")]
async fn report(ctx: &Context, step: usize, event: &RunEvent) {
    let message = match event {
        RunEvent::TurnStarted { turn } => format!("turn {turn}"),
        RunEvent::ToolStarted { name, .. } => format!("{name} runs"),
        RunEvent::ToolFinished(record) => format!("{} is done", record.name),
        _ => return,
    };
    Progress::report(ctx, (step + 1) as f64, None, message.as_str()).await;
}

fn answer(transcript: &Transcript) -> ToolOutput {
    let mut output = ToolOutput::text(transcript.text());
    let meta = json!({ "run": transcript.run, "usage": transcript.usage });
    output.meta = Some(Json::from_value(meta));
    if matches!(
        transcript.finish,
        Some(RunFinish::Answered | RunFinish::TurnLimit | RunFinish::Length)
    ) {
        return output;
    }
    output.with_outcome(Failure::new(ErrorKind::Tool, Effect::Completed))
}
