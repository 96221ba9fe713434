#![cfg(test)]
//! What a user of async-openai gets from a stack, through the client's own types.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use async_openai::{
    Client,
    config::OpenAIConfig,
    error::{ApiErrorResponse, OpenAIError},
    middleware::{HttpRequestFactory, retry::OpenAIRetryLayer},
    types::{
        chat::{
            ChatCompletionMessageToolCalls, ChatCompletionRequestUserMessage,
            ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionTools,
            CreateChatCompletionRequest, CreateChatCompletionStreamResponse, FinishReason,
            FunctionObject,
        },
        responses::{CreateResponse, ResponseStreamEvent},
    },
};
use async_openai_stack::{InPlaceOfHttp, client};
use futures_util::{StreamExt, future::ready, stream};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};
use tower::{ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    AllowListLayer, Error, ErrorKind, ModelEvent, ModelRequest, ModelResponse, PartDelta,
    PartStart, RedactLayer, Usage,
};
use tower_agent_test::{ScriptedModel, Step, Turn};

const SECRET: &str = "ghp_k3Jd8sQz0VxPq7LmN2bRtYw5HcFgAe4UiOpX";

fn chat(text: &str) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: "demo".into(),
        messages: vec![ChatCompletionRequestUserMessage::from(text).into()],
        ..CreateChatCompletionRequest::default()
    }
}

fn response(text: &str) -> CreateResponse {
    CreateResponse { model: Some("demo".into()), input: text.into(), ..CreateResponse::default() }
}

fn tool(name: &str) -> ChatCompletionTools {
    let function = FunctionObject { name: name.into(), ..FunctionObject::default() };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

fn refused(error: OpenAIError) -> ApiErrorResponse {
    match error {
        OpenAIError::ApiError(refused) => refused,
        other => panic!("no answer of an API: {other:?}"),
    }
}

fn limited(wait: u64) -> Error {
    let kind = ErrorKind::RateLimited { retry_after: Some(Duration::from_secs(wait)) };
    Error::new(kind, "17 of 17 on db-7")
}

fn begun(text: &'static str) -> [Step; 2] {
    let start = ModelEvent::PartStart { index: 0, part: PartStart::Text };
    let delta = ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) };
    [start.into(), delta.into()]
}

async fn streamed_text(client: &Client<OpenAIConfig>, text: &str) -> Vec<String> {
    let chunks = client.chat().create_stream(chat(text)).await.unwrap();
    let texts = chunks.map(|chunk| chunk.unwrap().choices.remove(0).delta.content);
    texts.filter_map(|text| ready(text.filter(|text| !text.is_empty()))).collect().await
}

#[tokio::test]
async fn a_whole_reply_has_text_usage_and_the_model_that_was_asked() {
    let model = ScriptedModel::new([Turn::text("Paris.").usage(Usage::new(12, 3))]);
    let reply = client(model).chat().create(chat("Which capital?")).await.unwrap();
    assert_eq!(reply.choices[0].message.content.as_deref(), Some("Paris."));
    assert_eq!(reply.choices[0].finish_reason, Some(FinishReason::Stop));
    assert_eq!(reply.usage.unwrap().total_tokens, 15);
    assert_eq!(reply.model, "demo");
    assert!(reply.id.starts_with("chatcmpl-") && reply.created > 0);
}

#[tokio::test]
async fn a_streamed_reply_comes_in_the_pieces_of_the_model_and_ends() {
    let model = ScriptedModel::new([Turn::text("one two three").in_pieces(4)]);
    let pieces = streamed_text(&client(model), "Count.").await;
    assert_eq!(pieces, ["one ", "two ", "thre", "e"]);
}

#[tokio::test]
async fn a_stream_tells_the_usage_to_whom_asks_for_it() {
    let turn = || Turn::text("Paris.").usage(Usage::new(12, 3)).in_pieces(9);
    let client = client(ScriptedModel::new([turn(), turn()]));
    let options = ChatCompletionStreamOptions {
        include_usage: Some(true),
        ..ChatCompletionStreamOptions::default()
    };
    let asking =
        CreateChatCompletionRequest { stream_options: Some(options), ..chat("Which capital?") };
    for (request, total) in [(asking, Some(15)), (chat("Which capital?"), None)] {
        let chunks = client.chat().create_stream(request).await.unwrap();
        let usages = chunks.filter_map(|chunk| ready(chunk.unwrap().usage));
        let totals: Vec<_> = usages.map(|usage| usage.total_tokens).collect().await;
        assert_eq!(totals, Vec::from_iter(total));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_read_while_the_model_still_speaks() {
    let speaking = || Turn::stream(begun("first").into_iter().chain([Step::Hang]));
    let client = client(ScriptedModel::new([speaking(), speaking()]));
    let a_second = Duration::from_secs(1);

    let chunks = client.chat().create_stream(chat("Go on.")).await.unwrap();
    let text_of = |mut chunk: CreateChatCompletionStreamResponse| {
        chunk.choices.remove(0).delta.content.filter(|text| !text.is_empty())
    };
    let mut texts = chunks.filter_map(|chunk| ready(text_of(chunk.unwrap())));
    assert_eq!(timeout(a_second, texts.next()).await.unwrap().as_deref(), Some("first"));

    let events = client.responses().create_stream(response("Go on.")).await.unwrap();
    let text_of = |event| match event {
        ResponseStreamEvent::ResponseOutputTextDelta(event) => Some(event.delta),
        _ => None,
    };
    let mut texts = events.filter_map(|event| ready(text_of(event.unwrap())));
    assert_eq!(timeout(a_second, texts.next()).await.unwrap().as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn a_part_is_announced_before_its_first_words() {
    let [start, _] = begun("never said");
    let client = client(ScriptedModel::new([Turn::stream([start, Step::Hang])]));
    let events = client.responses().create_stream(response("Go on.")).await.unwrap();
    let is_announced = |event: &ResponseStreamEvent| {
        matches!(event, ResponseStreamEvent::ResponseContentPartAdded(_))
    };
    let mut announced = events.filter(|event| ready(is_announced(event.as_ref().unwrap())));
    assert!(timeout(Duration::from_secs(1), announced.next()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_tool_call_arrives_with_its_arguments_whole_and_streamed() {
    let call = || Turn::tool_call("c1", "read", r#"{"path": "notes.txt"}"#);
    let model = ScriptedModel::new([call(), call().in_pieces(5)]);
    let client = client(model);

    let mut reply = client.chat().create(chat("Read.")).await.unwrap();
    let choice = reply.choices.remove(0);
    assert_eq!(choice.finish_reason, Some(FinishReason::ToolCalls));
    let calls = choice.message.tool_calls.unwrap();
    let [ChatCompletionMessageToolCalls::Function(call)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((&*call.id, &*call.function.name), ("c1", "read"));
    assert_eq!(call.function.arguments, r#"{"path": "notes.txt"}"#);

    let mut chunks = client.chat().create_stream(chat("Read.")).await.unwrap();
    let (mut name, mut arguments) = (String::new(), String::new());
    while let Some(chunk) = chunks.next().await {
        for call in chunk.unwrap().choices.remove(0).delta.tool_calls.into_iter().flatten() {
            let function = call.function.unwrap_or_default();
            name += &function.name.unwrap_or_default();
            arguments += &function.arguments.unwrap_or_default();
        }
    }
    assert_eq!((&*name, &*arguments), ("read", r#"{"path": "notes.txt"}"#));
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_is_not_offered() {
    let model = ScriptedModel::text("fine");
    let heard = model.handle();
    let stack = ServiceBuilder::new().layer(AllowListLayer::new(["read*"]).unwrap()).service(model);
    let request = CreateChatCompletionRequest {
        tools: Some(vec![tool("read"), tool("delete")]),
        ..chat("Do.")
    };
    client(stack).chat().create(request).await.unwrap();
    let offered = heard.last_request().unwrap().tools;
    assert_eq!(offered.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["read"]);
}

#[tokio::test]
async fn a_secret_does_not_reach_the_model_nor_the_user() {
    let tell = || Turn::text(format!("Try {SECRET} again."));
    let model = ScriptedModel::new([tell(), tell().in_pieces(5), tell()]);
    let heard = model.handle();
    let client = client(ServiceBuilder::new().layer(RedactLayer::default()).service(model));
    let said = format!("My token is {SECRET}.");

    let reply = client.chat().create(chat(&said)).await.unwrap();
    let whole = reply.choices[0].message.content.clone().unwrap();
    let streamed = streamed_text(&client, &said).await.concat();
    let of_responses = client.responses().create(response(&said)).await.unwrap();

    for request in heard.requests() {
        let text = request.messages[0].text();
        assert!(text.starts_with("My token is [REDACTED") && !text.contains("k3Jd8"), "{text}");
    }
    assert_eq!(heard.calls(), 3);
    for text in [whole, streamed, of_responses.output_text().unwrap()] {
        assert!(text.starts_with("Try [REDACTED") && !text.contains("k3Jd8"), "{text}");
    }
}

#[tokio::test]
async fn responses_are_read_whole_and_as_typed_events() {
    let model = ScriptedModel::new([Turn::text("Hi there"), Turn::text("Hi there").in_pieces(3)]);
    let client = client(model);

    let whole = client.responses().create(response("Hello")).await.unwrap();
    assert_eq!(whole.output_text().as_deref(), Some("Hi there"));

    let mut events = client.responses().create_stream(response("Hello")).await.unwrap();
    let (mut pieces, mut completed) = (Vec::new(), None);
    while let Some(event) = events.next().await {
        match event.unwrap() {
            ResponseStreamEvent::ResponseOutputTextDelta(event) => pieces.push(event.delta),
            ResponseStreamEvent::ResponseCompleted(event) => completed = Some(event.response),
            _ => {}
        }
    }
    assert_eq!(pieces, ["Hi ", "the", "re"]);
    assert_eq!(completed.unwrap().output_text().as_deref(), Some("Hi there"));
}

#[tokio::test]
async fn a_rate_limit_is_a_429_that_tells_nothing_internal() {
    let client = client(ScriptedModel::new([Turn::error(limited(7))]));
    let refused = refused(client.chat().create(chat("Hello")).await.unwrap_err());
    assert_eq!(refused.status_code.as_u16(), 429);
    assert_eq!(refused.api_error.r#type.as_deref(), Some("rate_limit_error"));
    assert_eq!(refused.api_error.code.as_deref(), Some("rate_limit_exceeded"));
    assert!(!refused.api_error.message.contains("db-7"), "{}", refused.api_error.message);
}

#[tokio::test]
async fn a_stack_that_is_full_is_a_503() {
    let model = ScriptedModel::text("never said");
    let stack = ServiceBuilder::new().load_shed().concurrency_limit(0).service(model);
    let refused = refused(client(stack).chat().create(chat("Hello")).await.unwrap_err());
    assert_eq!(refused.status_code.as_u16(), 503);
}

#[tokio::test]
async fn a_reply_that_failed_in_words_ends_as_any_other() {
    let failed = || Turn::text("That went wrong.").finish(tower_agent::FinishReason::Error);
    let client = client(ScriptedModel::new([failed(), failed().in_pieces(20)]));
    let whole = client.chat().create(chat("Hello")).await.unwrap();
    assert_eq!(whole.choices[0].finish_reason, Some(FinishReason::Stop));
    assert_eq!(streamed_text(&client, "Hello").await, ["That went wrong."]);
}

#[tokio::test(start_paused = true)]
async fn the_retry_layer_of_async_openai_waits_as_long_as_the_stack_says() {
    let model = ScriptedModel::new([Turn::error(limited(7)), Turn::text("at last")]);
    let http = ServiceBuilder::new()
        .layer(OpenAIRetryLayer::default())
        .service(InPlaceOfHttp::new(model.clone()));
    let started = Instant::now();
    let client = client(model.clone()).with_http_service(http);
    let reply = client.chat().create(chat("Hello")).await.unwrap();
    assert_eq!(reply.choices[0].message.content.as_deref(), Some("at last"));
    assert_eq!(started.elapsed().as_secs(), 7);
    model.handle().assert_used_up();
}

#[tokio::test]
async fn an_error_within_a_stream_is_an_error_of_the_stream() {
    let steps = begun("half").into_iter().chain([Step::Error(limited(7))]);
    let client = client(ScriptedModel::new([Turn::stream(steps)]));
    let chunks = client.chat().create_stream(chat("Hello")).await.unwrap();
    let chunks: Vec<_> = chunks.collect().await;
    let last = chunks.last().unwrap().as_ref().unwrap_err().to_string();
    assert!(last.contains("rate_limit_exceeded") && !last.contains("db-7"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_drops_the_call() {
    let (held, gone) = oneshot::channel::<()>();
    let held = Arc::new(Mutex::new(Some(held)));
    let model = service_fn(move |_: ModelRequest| {
        let held = held.lock().unwrap().take();
        let events = stream::poll_fn(move |_| {
            let _ = &held;
            Poll::<Option<Result<ModelEvent, Error>>>::Pending
        });
        async move { Ok::<_, Error>(ModelResponse::stream(events)) }
    });
    let client = client(model);
    let chunks = client.chat().create_stream(chat("Hello")).await.unwrap();
    drop(chunks);
    let dropped = timeout(Duration::from_secs(1), gone).await;
    dropped.expect("the stream of the model is gone").unwrap_err();
}

#[tokio::test]
async fn a_body_that_is_a_stream_is_refused() {
    let factory = HttpRequestFactory::new(|| async {
        let body = reqwest::Body::wrap_stream(stream::empty::<Result<Vec<u8>, Infallible>>());
        let url = "http://localhost/v1/responses".parse().unwrap();
        let mut request = reqwest::Request::new(reqwest::Method::POST, url);
        *request.body_mut() = Some(body);
        Ok(request)
    });
    let service = InPlaceOfHttp::new(ScriptedModel::text("never said"));
    let response = service.oneshot(factory).await.unwrap();
    assert_eq!(response.status().as_u16(), 400);
    assert!(response.text().await.unwrap().contains("a body that is a stream"));
}

#[tokio::test]
async fn a_request_that_goes_on_from_a_stored_reply_is_refused_with_a_way_out() {
    let model = ScriptedModel::text("Hi");
    let heard = model.handle();
    let stored =
        || CreateResponse { previous_response_id: Some("resp_1".into()), ..response("And then?") };
    let refusing = client(model.clone());
    let whole = refused(refusing.responses().create(stored()).await.unwrap_err());
    assert_eq!(whole.status_code, 400);
    assert_eq!(whole.api_error.code.as_deref(), Some("not_stored"));
    assert_eq!(whole.api_error.param.as_deref(), Some("previous_response_id"));
    assert!(whole.api_error.message.contains("send the whole conversation"), "{whole:?}");
    let later = CreateResponse { background: Some(true), ..response("Later.") };
    let later = refused(refusing.responses().create(later).await.unwrap_err());
    assert_eq!(later.api_error.param.as_deref(), Some("background"));
    let streamed = refusing.responses().create_stream(stored()).await;
    assert_eq!(refused(streamed.err().unwrap()).status_code, 400);
    assert_eq!(heard.requests().len(), 0);

    let storing =
        client(model.clone()).with_http_service(InPlaceOfHttp::new(model).provider_stores());
    storing.responses().create(stored()).await.unwrap();
    let passed = heard.last_request().unwrap().extra.unwrap();
    assert!(passed.as_str().contains(r#""previous_response_id":"resp_1""#), "{passed:?}");
}

#[tokio::test]
async fn what_only_openai_can_do_is_answered_with_404() {
    let model = ScriptedModel::text("never said");
    let heard = model.handle();
    let client = client(model);
    let of_one = refused(client.chat().retrieve("chatcmpl-1").await.unwrap_err());
    let of_all = refused(client.chat().list().await.unwrap_err());
    for (refused, path) in
        [(of_one, "/v1/chat/completions/chatcmpl-1"), (of_all, "/v1/chat/completions")]
    {
        assert_eq!(refused.status_code.as_u16(), 404);
        assert_eq!(refused.api_error.code.as_deref(), Some("unknown_url"));
        let text = format!("GET {path} is not served by a model stack. Nothing ran.");
        assert_eq!(refused.api_error.message, text);
    }
    assert_eq!(heard.calls(), 0);
}
