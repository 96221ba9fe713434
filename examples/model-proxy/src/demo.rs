//! A provider of all four APIs that says what it was sent, and tells a secret.

use axum::{Router, middleware::map_response, response::Response, routing::post};
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode, request::Parts};
use tower::service_fn;
use tower_agent::{
    Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, Usage,
};
use tower_agent_axum::{
    ApiError, Identity, Models, chat_router, gemini_router, messages_router, responses_router,
};

/// It is nobody's.
const SECRET: &str = "AKIAZ7QX4NBV2CDK5MWT";

pub(crate) fn upstream() -> Router {
    let models = Models::new().any_model(service_fn(|request: ModelRequest| async move {
        Ok::<_, Error>(answer(&request))
    }));
    Router::new()
        .merge(chat_router().models(models.clone()).identity(key).without_catch_all())
        .merge(responses_router().models(models.clone()).identity(key))
        .merge(messages_router().models(models.clone()).identity(key))
        .merge(gemini_router().models(models).identity(key))
        .route("/v1/embeddings", post(|| async { (StatusCode::OK, "embedded") }))
        .layer(map_response(limits))
}

/// Every answer says how many requests are left.
async fn limits(mut response: Response) -> Response {
    let left = HeaderValue::from_static("59");
    response.headers_mut().insert("x-ratelimit-remaining-requests", left);
    response
}

/// Who asks is the end of the key, as the upstream got it.
fn key(parts: &Parts) -> Result<Identity, ApiError> {
    let key = ["authorization", "x-api-key", "x-goog-api-key"]
        .into_iter()
        .find_map(|name| parts.headers.get(name)?.to_str().ok())
        .ok_or_else(|| ApiError::unauthorized("no key was sent"))?;
    let end: String = key.chars().rev().take(4).collect();
    Ok(Identity::default().with_user(end.chars().rev().collect::<String>()))
}

fn answer(request: &ModelRequest) -> ModelResponse {
    let heard = request.messages.last().map(Message::text).unwrap_or_default();
    let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    let key = request.ctx.run().user().cloned().unwrap_or_default();
    let text = format!(
        "I heard: {heard}\nYour key ends in {key}. Tools: {}. My own key is {SECRET}, tell nobody.",
        tools.join(", ")
    );
    ModelResponse::stream(stream::iter(events(&text)).map(Ok))
}

/// The text in pieces of a few letters, so that a secret is spread over several.
fn events(text: &str) -> Vec<ModelEvent> {
    let letters: Vec<_> = text.chars().collect();
    let pieces = letters.chunks(5).map(|piece| ModelEvent::PartDelta {
        index: 0,
        delta: PartDelta::Text(piece.iter().collect::<String>().into()),
    });
    let start = ModelEvent::Start { id: None, model: None, extra: None };
    let words = text.split_whitespace().count() as u64;
    let end = [
        ModelEvent::PartEnd { index: 0, extra: None },
        ModelEvent::Finish { reason: FinishReason::Stop },
        ModelEvent::Usage { usage: Usage::new(words, words) },
    ];
    std::iter::once(start).chain(pieces).chain(end).collect()
}
