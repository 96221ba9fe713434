//! Replies that come in pieces.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::Instant;
use tower::{Layer, ServiceExt};
use tower_agent::{
    Error, FinishReason, Message, ModelBody, ModelEvent, ModelRequest, ModelResponse, PartDelta,
};
use tower_agent_test::ScriptedModel;

use crate::{
    case::Case,
    check,
    layers::{Gauges, around_model, millis, text},
    scene::{model, turn},
};

/// What came out of a stream.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) events: Vec<&'static str>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) error: Option<Error>,
    /// When the first text came, from the call.
    pub(crate) first_text: Option<Duration>,
    /// When the stream was over, from the call.
    pub(crate) took: Duration,
}

/// Asks a scripted model through layers.
pub(crate) async fn ask(layers: &Value, replies: &Value, gauges: &Gauges) -> ModelResponse {
    let model_service = ScriptedModel::new(replies.as_array().unwrap().iter().map(turn));
    let stack = around_model(layers.as_array().unwrap(), gauges).layer(model_service);
    let mut request = ModelRequest::new(model(), vec![Message::user("go")]);
    request.stream = true;
    stack.oneshot(request).await.unwrap()
}

/// Reads a stream to its end, or up to so many pieces of text.
pub(crate) async fn hear(response: ModelResponse, texts: usize) -> Heard {
    let start = Instant::now();
    let ModelBody::Stream(mut events) = response.body else { panic!("the reply is a stream") };
    let mut heard = Heard::default();
    while heard.events.iter().filter(|kind| **kind == "text").count() < texts
        && let Some(event) = events.next().await
    {
        match event {
            Ok(ModelEvent::PartDelta { delta: PartDelta::Text(piece), .. }) => {
                heard.first_text.get_or_insert(start.elapsed());
                heard.text.push_str(&piece);
                heard.events.push("text");
            }
            Ok(ModelEvent::Finish { reason }) => {
                heard.finish = Some(reason);
                heard.events.push("finish");
            }
            Ok(_) => {}
            Err(error) => heard.error = Some(error),
        }
    }
    heard.took = start.elapsed();
    heard
}

pub(crate) async fn masked(case: &Case) {
    let replies = &case.input["model"]["replies"];
    let response = ask(&case.input["stack"], replies, &Gauges::default()).await;
    let heard = hear(response, usize::MAX).await;
    assert!(heard.error.is_none(), "{:?}", heard.error);
    check::texts(&case.expected, &heard.text);
    if let Some(reason) = case.expected.get("finish") {
        assert_eq!(heard.finish, Some(FinishReason::from(text(reason))));
    }
    let end = case.expected.texts("events_end_with");
    assert!(heard.events.ends_with(&end), "{:?}", heard.events);
    if let Some(chunk) = case.expected.get("first_forwarded_before_chunk") {
        let each = millis(&replies[0]["delay_ms_per_chunk"]);
        let chunk = u32::try_from(chunk.as_u64().unwrap()).unwrap();
        assert!(heard.first_text.is_some_and(|at| at < each * chunk), "{:?}", heard.first_text);
        assert!(heard.took >= each * 40, "or the clock would say nothing");
    }
}
