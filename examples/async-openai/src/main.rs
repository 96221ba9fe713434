//! The async-openai client with layers under it, offline: `cargo run -p async-openai-stack`.

use std::{
    error::Error,
    io::{self, Write},
};

use async_openai::types::{
    chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequest},
    responses::CreateResponse,
};
use async_openai_stack::client;
use futures_util::StreamExt;
use tower::ServiceBuilder;
use tower_agent::{AllowListLayer, Message, MetricsLayer, RedactLayer};
use tower_agent_test::{ScriptedModel, Turn};

const QUESTION: &str = "Why does ghp_k3Jd8sQz0VxPq7LmN2bRtYw5HcFgAe4UiOpX not work?";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = repeating();
    let heard = model.handle();
    let metrics = MetricsLayer::new();
    let stack = ServiceBuilder::new()
        .layer(metrics.clone())
        .layer(AllowListLayer::new(["read*"])?)
        .layer(RedactLayer::default())
        .service(model);
    let client = client(stack);
    let mut out = io::stdout();

    writeln!(out, "the user says:    {QUESTION}")?;
    let reply = client.chat().create(question()).await?;
    let request = heard.last_request().ok_or("the model was not asked")?;
    let text = request.messages.last().map(Message::text).unwrap_or_default();
    writeln!(out, "the model hears:  {text}")?;
    let text = reply.choices.into_iter().next().and_then(|choice| choice.message.content);
    writeln!(out, "chat, whole:      {}", text.unwrap_or_default())?;

    write!(out, "chat, streamed:   ")?;
    let mut chunks = client.chat().create_stream(question()).await?;
    while let Some(chunk) = chunks.next().await {
        for text in chunk?.choices.into_iter().filter_map(|choice| choice.delta.content) {
            write!(out, "{text}|")?;
        }
    }

    let request = CreateResponse {
        model: Some("demo".into()),
        input: QUESTION.into(),
        ..CreateResponse::default()
    };
    let reply = client.responses().create(request).await?;
    writeln!(out, "\nresponses, whole: {}", reply.output_text().unwrap_or_default())?;

    let counted = metrics.registry().snapshot().to_prometheus();
    for line in
        counted.lines().filter(|line| line.contains("calls_total{") && !line.ends_with(" 0"))
    {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A model that says what it was told, in pieces where a stream is wished.
fn repeating() -> ScriptedModel {
    ScriptedModel::respond(|request| {
        let text = request.messages.last().map(Message::text).unwrap_or_default();
        Turn::text(format!("You said: {text}")).in_pieces(12).as_asked()
    })
}

fn question() -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: "demo".into(),
        messages: vec![ChatCompletionRequestUserMessage::from(QUESTION).into()],
        ..CreateChatCompletionRequest::default()
    }
}
