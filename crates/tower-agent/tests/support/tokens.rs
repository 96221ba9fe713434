//! Calls whose results hold two kinds of tokens. A test binary gets it by `#[path = "support/tokens.rs"] mod tokens;`.

use futures_util::{StreamExt, stream};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, RedactLayer,
    ToolCall, ToolOutput,
};

/// Two tokens, in parts so that this file holds none.
pub(crate) fn tokens() -> String {
    let secret = "_16C7e42F292c6912E7710c838347Ae178B4a";
    format!("ghp{secret} and gho{secret} and ghp{secret}")
}

pub(crate) const FOUND: &str = "1 github-oauth, 2 github-pat";

pub(crate) fn request(text: &str) -> ModelRequest {
    ModelRequest::new("demo", vec![Message::user(text)])
}

pub(crate) async fn output_of(text: String) -> ToolOutput {
    let tool = RedactLayer::default().layer(service_fn(move |_: ToolCall| {
        std::future::ready(Ok::<_, Error>(ToolOutput::text(text.as_str())))
    }));
    tool.oneshot(ToolCall::new("t", "{}")).await.unwrap()
}

pub(crate) fn streamed(text: String) -> impl Future<Output = ModelResponse> {
    let model = RedactLayer::default().layer(service_fn(move |_: ModelRequest| {
        let (head, tail) = text.split_at(text.len() / 2);
        let pieces = [head, tail]
            .map(|piece| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(piece.into()) });
        let end = ModelEvent::Finish { reason: FinishReason::Stop };
        let events = pieces.into_iter().chain([end]).map(Ok).collect::<Vec<_>>();
        std::future::ready(Ok::<_, Error>(ModelResponse::stream(stream::iter(events))))
    }));
    async { model.oneshot(request("hello")).await.unwrap() }
}

/// Two tool calls, of which one finds nothing, a whole stream and the first half of one.
pub(crate) async fn calls() {
    output_of(tokens()).await;
    output_of("nothing here".to_owned()).await;
    let events: Vec<_> = streamed(tokens()).await.body.into_stream().collect().await;
    assert!(events.iter().all(Result::is_ok));
    let mut events = streamed(tokens()).await.body.into_stream();
    events.next().await;
}
