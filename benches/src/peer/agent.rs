use std::{collections::HashMap, sync::Arc};

use adk_agent::LlmAgentBuilder;
use adk_core::{
    Agent, Content, Event, Llm, LlmRequest, LlmResponse, LlmResponseStream, Part, SessionId, Tool,
    ToolContext, UserId, async_trait,
};
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService, SessionService};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{agent::RUNS, case::Case, payload};

const APP: &str = "app";
const USER: &str = "user";

/// Asks for the tool so many times and then answers.
struct Script {
    calls: usize,
    arguments: Value,
}

#[async_trait]
impl Llm for Script {
    fn name(&self) -> &str {
        "script"
    }

    async fn generate_content(
        &self,
        request: LlmRequest,
        _: bool,
    ) -> adk_core::Result<LlmResponseStream> {
        let done =
            request.contents.iter().flat_map(|content| &content.parts).filter(is_result).count();
        let mut content = Content::new("model");
        content.parts.push(if done < self.calls {
            Part::FunctionCall {
                name: payload::TOOL.to_owned(),
                args: self.arguments.clone(),
                id: Some(format!("call_{done}")),
                thought_signature: None,
            }
        } else {
            Part::Text { text: "done".to_owned() }
        });
        Ok(Box::pin(stream::iter([Ok(LlmResponse::new(content))])))
    }
}

fn is_result(part: &&Part) -> bool {
    matches!(part, Part::FunctionResponse { .. })
}

struct Read {
    text: String,
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &str {
        payload::TOOL
    }

    fn description(&self) -> &str {
        "Reads a file"
    }

    fn parameters_schema(&self) -> Option<Value> {
        Some(json!({ "type": "object" }))
    }

    async fn execute(&self, _: Arc<dyn ToolContext>, _: Value) -> adk_core::Result<Value> {
        Ok(Value::String(self.text.clone()))
    }
}

/// A whole run of the peer's agent, from the first message of a session until its events have run out.
///
/// The session is made before, and outlives the run, so neither counts.
///
/// # Panics
/// When the run fails, or takes another way than the script.
pub fn run(runtime: &Arc<Runtime>, size: usize, calls: usize) -> Case<(Runner, SessionId), Runner> {
    let agent = agent(size, calls);
    let user = UserId::try_from(USER).expect("this is a user's name");
    let (making, running) = (Arc::clone(runtime), Arc::clone(runtime));
    let prepare = move || making.block_on(start(Arc::clone(&agent))).expect("a session starts");
    let run = move |(runner, session): (Runner, SessionId)| {
        let events = running.block_on(async {
            let content = Content::new("user").with_text("Read it.");
            let events = runner.run(user.clone(), session, content).await?;
            events.collect::<Vec<_>>().await.into_iter().collect::<adk_core::Result<Vec<_>>>()
        });
        assert_eq!(results(&events.expect("the run succeeds")), calls, "one result for each call");
        runner
    };
    Case::new(prepare, run).in_batches_of(RUNS)
}

fn results(events: &[Event]) -> usize {
    let contents = events.iter().filter_map(|event| event.llm_response.content.as_ref());
    contents.flat_map(|content| &content.parts).filter(is_result).count()
}

fn agent(size: usize, calls: usize) -> Arc<dyn Agent> {
    let agent = LlmAgentBuilder::new("agent")
        .model(Arc::new(Script { calls, arguments: payload::arguments() }))
        .tool(Arc::new(Read { text: payload::text(size) }))
        .build();
    Arc::new(agent.expect("the agent is complete"))
}

/// A runner with one session of its own, since the store looks for a session among all that it has.
async fn start(agent: Arc<dyn Agent>) -> adk_core::Result<(Runner, SessionId)> {
    let sessions = Arc::new(InMemorySessionService::new());
    let (app_name, user_id) = (APP.to_owned(), USER.to_owned());
    let request = CreateRequest { app_name, user_id, session_id: None, state: HashMap::new() };
    let session = sessions.create(request).await?;
    let id = SessionId::try_from(session.id())?;
    let runner = Runner::builder().app_name(APP).agent(agent).session_service(sessions).build()?;
    Ok((runner, id))
}
