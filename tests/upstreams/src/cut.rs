//! Streams that break, at each of their events.

use std::time::Duration;

use serde_json::json;
use tower::ServiceExt;

use crate::{
    Result,
    fault::{Request, Trouble},
    llmock::Llmock,
    trial::{describe, model, request, same, whole},
};

const PATIENCE: Duration = Duration::from_secs(60);
/// No stream of a greeting has fewer events.
const FEWEST: usize = 8;

/// Breaks a stream at its first event, at its second, and so on until it has no more of them.
pub(crate) async fn run(llmock: &Llmock, cut: &Trouble, dialect: &str) -> Result {
    let mut event = 0;
    while broken_at(llmock, cut, dialect, event)
        .await
        .map_err(|error| format!("event {event}: {error}"))?
    {
        event += 1;
    }
    same("whether all events were tried", &(event >= FEWEST), &true)
}

/// Whether the stream has such an event. What comes of a broken one is the error; only chat completions may be whole
/// already, since nothing but the usage and the end follows the reason.
async fn broken_at(llmock: &Llmock, cut: &Trouble, dialect: &str, event: usize) -> Result<bool> {
    let fault = json!({ "type": "stream_fault", "kind": cut.kind, "after_chunks": event });
    llmock.behave(&[fault]).await?;
    let model = model(dialect, llmock.url(), PATIENCE)?;
    let response = model.oneshot(request(Request::Short, true)).await;
    let end = match response {
        Ok(response) => response.body.collect().await,
        Err(error) => Err(error),
    };
    let is_broken = llmock.verdict(1).await?.faults > 0;
    match end {
        Ok(_) if is_broken && (dialect != "openai" || cut.kind == "malformed") => {
            return Err("a broken stream was taken for a whole one".into());
        }
        Ok(reply) => whole(&reply)?,
        Err(error) => same("error", &&*describe(&error), &&*cut.answer)?,
    }
    Ok(is_broken)
}
