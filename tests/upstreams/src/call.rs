//! Calls that no tool can run, in the loop of an agent.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tower::ServiceExt;
use tower_agent::{Agent, Context, Outcome, RunRequest, ToolSet, tool_fn};
use tower_agent_core::{Sampling, Transcript};

use crate::{
    Result,
    fault::Trouble,
    llmock::Llmock,
    trial::{GREETING, ROOM, model, name, same},
};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

/// The model reads what was wrong with its call, and answers.
pub(crate) async fn run(llmock: &Llmock, call: &Trouble, dialect: &str, stream: bool) -> Result {
    llmock.behave(&[json!({ "type": "tool_fault", "kind": call.kind })]).await?;
    let transcript = told(llmock, dialect, stream).await?;
    same("text", &&*transcript.text(), &GREETING)?;
    let [record] = &*transcript.tools else {
        return Err(format!("{} calls", transcript.tools.len()).into());
    };
    let Outcome::Failed(failure) = &record.output.outcome else {
        return Err(format!("it ran: {:?}", record.output).into());
    };
    same("outcome", &&*name(failure.kind, failure.effect), &&*call.answer)?;
    let verdict = llmock.verdict(2).await?;
    same("model calls", &verdict.attempts, &2)?;
    same("findings", &verdict.findings.len(), &0)
}

async fn told(llmock: &Llmock, dialect: &str, stream: bool) -> Result<Transcript> {
    let weather =
        tool_fn("weather", "The weather of a city", |place: Place, _: Context| async move {
            format!("It rains in {}.", place.city)
        });
    let tools = ToolSet::builder().tool(weather).build()?;
    let model = model(dialect, llmock.url(), PATIENCE)?;
    let mut sampling = Sampling::default();
    sampling.max_output_tokens = Some(ROOM);
    let agent = Agent::builder("forecaster", model).model("model").sampling(sampling).tools(tools);
    let request = RunRequest::user("What is the weather in Paris?");
    let request = if stream { request.streamed() } else { request };
    Ok(agent.build().oneshot(request).await?.collect().await?)
}
