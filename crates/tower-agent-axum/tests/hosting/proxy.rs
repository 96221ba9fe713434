//! A proxy in front of providers, which are recorded streams here.

use axum::{Router, body::Body, http::Request, response::IntoResponse};
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tower::service_fn;
use tower_agent_axum::{ApiError, Identity, Models, ProxyRouter, proxy_router};
use tower_agent_core::{
    Error, ErrorKind, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta, Reply,
};
use tower_agent_wire::{
    CallerHeaders, ProviderHeaders, anthropic_messages, gemini, openai_chat, openai_responses,
};

use crate::support::{Answer, Asked, ask, chat, post, with_header};

fn models(
    asked: &Asked,
    answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
) -> Models {
    Models::new().any_model(asked.model(answer))
}

fn hi(_: &ModelRequest) -> Result<ModelResponse, Error> {
    Ok(ModelResponse::full(Reply::new(Message::assistant("Hi"))))
}

/// A body of the chat dialect as the events that a provider's client makes of it.
macro_rules! recorded {
    ($codec:ident, $body:expr) => {{
        let body: String = $body;
        move |_: &ModelRequest| {
            let mut decoder = $codec::Decoder::new();
            decoder.push(body.as_bytes());
            decoder.finish();
            let events: Vec<_> = std::iter::from_fn(|| decoder.next_event()).collect();
            Ok(ModelResponse::stream(stream::iter(events)))
        }
    }};
}

fn named(events: &[Value]) -> String {
    let frame =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(frame).collect()
}

fn unnamed(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn datas(answer: &Answer) -> Vec<Value> {
    let datas = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
    datas.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

async fn streamed(router: ProxyRouter, path: &str, body: Value) -> Vec<Value> {
    datas(&ask(&router.into(), post(path, body.to_string())).await)
}

#[tokio::test]
async fn chunks_of_chat_completions_come_back_as_they_were() {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m-2026", "system_fingerprint": "fp",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let call = |more: Value| json!({"tool_calls": [more]});
    let sent = [
        chunk(json!({"role": "assistant"}), Value::Null),
        chunk(json!({"content": "Hel"}), Value::Null),
        chunk(json!({"content": "lo"}), Value::Null),
        chunk(
            call(
                json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}),
            ),
            Value::Null,
        ),
        chunk(call(json!({"index": 0, "function": {"arguments": "{\"a\":1}"}})), Value::Null),
        chunk(json!({}), "tool_calls".into()),
    ];
    let router = proxy_router().chat(models(
        &Asked::default(),
        recorded!(openai_chat, unnamed(&sent) + "data: [DONE]\n\n"),
    ));
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hello"}]});
    assert_eq!(streamed(router, "/v1/chat/completions", body).await, sent);
}

#[tokio::test]
async fn events_of_messages_come_back_as_they_were() {
    let sent = [
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 1, "service_tier": "standard"}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 20, "service_tier": "standard"}}),
        json!({"type": "message_stop"}),
    ];
    let router = proxy_router()
        .messages(models(&Asked::default(), recorded!(anthropic_messages, named(&sent))));
    let body = json!({"model": "c", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hello"}]});
    assert_eq!(streamed(router, "/v1/messages", body).await, sent);
}

#[tokio::test]
async fn events_of_gemini_come_back_as_they_were() {
    let event = |parts: Value| {
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "g", "responseId": "r",
            "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}})
    };
    let mut last = event(
        json!([{"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}]),
    );
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["usageMetadata"] =
        json!({"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7});
    let sent =
        [event(json!([{"text": "Hm.", "thought": true}])), event(json!([{"text": "Hello"}])), last];
    let router =
        proxy_router().gemini(models(&Asked::default(), recorded!(gemini, unnamed(&sent))));
    let body = json!({"contents": [{"parts": [{"text": "Hello"}]}]});
    let came = streamed(router, "/v1beta/models/g:streamGenerateContent?alt=sse", body).await;
    assert_eq!(came, sent);
}

/// The events of an item: its beginning, those of its parts, and its end.
fn item_events(begun: &Value, between: Vec<Value>, whole: &Value) -> Vec<Value> {
    let mut all = vec![json!({"type": "response.output_item.added", "item": begun})];
    all.extend(between);
    all.push(json!({"type": "response.output_item.done", "item": whole}));
    all
}

/// The events of a summary.
fn summary(at: usize, text: &str) -> Vec<Value> {
    let event = |what: &str, key: &str, value: Value| {
        let kind = format!("response.reasoning_summary_{what}");
        json!({"type": kind, "item_id": "rs_1", "summary_index": at, key: value})
    };
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    vec![
        event("part.added", "part", part("")),
        event("text.delta", "delta", text.into()),
        event("text.done", "text", text.into()),
        event("part.done", "part", part(text)),
    ]
}

/// A reply of Responses that searches, thinks in two summaries and answers, as the provider streams it.
fn searching() -> Vec<Value> {
    let output = json!([
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "tower"}},
        {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA", "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]},
        {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}]}
    ]);
    let text = |kind: &str, more: Value| {
        let mut event =
            json!({"type": format!("response.{kind}"), "item_id": "msg_1", "content_index": 0});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let state = |state: &str| json!({"type": format!("response.web_search_call.{state}"), "item_id": "ws_1"});
    let items = [
        item_events(
            &json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"}),
            ["in_progress", "searching", "completed"].map(state).into(),
            &output[0],
        ),
        item_events(
            &json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gA", "summary": []}),
            [summary(0, "One."), summary(1, "Two.")].concat(),
            &output[1],
        ),
        item_events(
            &json!({"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}),
            vec![
                text(
                    "content_part.added",
                    json!({"part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}}),
                ),
                text("output_text.delta", json!({"delta": "Hel", "logprobs": []})),
                text("output_text.delta", json!({"delta": "lo", "logprobs": []})),
                text("output_text.done", json!({"text": "Hello", "logprobs": []})),
                text("content_part.done", json!({"part": output[2]["content"][0]})),
            ],
            &output[2],
        ),
    ];
    let response = |status: &str, output: &Value| json!({"id": "resp_1", "object": "response", "created_at": 7, "model": "m-2026", "status": status, "error": null, "incomplete_details": null, "usage": null, "output": output});
    let begun = response("in_progress", &json!([]));
    let mut all = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (at, mut events) in items.into_iter().enumerate() {
        events.iter_mut().for_each(|event| event["output_index"] = at.into());
        all.extend(events);
    }
    all.push(json!({"type": "response.completed", "response": response("completed", &output)}));
    all.iter_mut().enumerate().for_each(|(number, event)| event["sequence_number"] = number.into());
    all
}

#[tokio::test]
async fn events_of_responses_come_back_as_they_were() {
    let sent = searching();
    let router = proxy_router()
        .responses(models(&Asked::default(), recorded!(openai_responses, named(&sent))));
    let body = json!({"model": "m", "stream": true, "input": "Hello"});
    assert_eq!(streamed(router, "/v1/responses", body).await, sent);
}

#[tokio::test]
async fn the_last_event_of_responses_holds_what_was_sent() {
    let output = json!([{"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}]);
    let response = |status: &str, output: Value| json!({"id": "resp_1", "object": "response", "created_at": 7, "model": "m-2026", "status": status, "output": output});
    let sent = [
        json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}}),
        json!({"type": "response.content_part.added", "sequence_number": 2, "output_index": 0, "item_id": "msg_1", "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}}),
        json!({"type": "response.output_text.delta", "sequence_number": 3, "output_index": 0, "item_id": "msg_1", "content_index": 0, "delta": "Hello"}),
        json!({"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": output[0]}),
        json!({"type": "response.completed", "sequence_number": 5, "response": response("completed", output)}),
    ];
    let router = proxy_router()
        .responses(models(&Asked::default(), recorded!(openai_responses, named(&sent))));
    let came =
        streamed(router, "/v1/responses", json!({"model": "m", "stream": true, "input": "Hello"}))
            .await;
    let last = &came.last().unwrap()["response"];
    assert_eq!((&last["id"], &last["model"]), (&json!("resp_1"), &json!("m-2026")));
    assert_eq!(last["output"][0]["content"], sent[5]["response"]["output"][0]["content"]);
    let deltas: String = came.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas, "Hello");
}

/// What a provider would send of a caller's.
fn passed(asked: &Asked) -> Vec<(String, String)> {
    let request = asked.last();
    let headers: HeaderMap = request
        .ctx
        .extensions
        .get::<CallerHeaders>()
        .map(|caller| caller.expose().clone())
        .unwrap_or_default();
    let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

#[tokio::test]
async fn keys_go_on_only_if_that_was_wished() {
    let request = || {
        let request = with_header(chat("m", json!({})), "authorization", "Bearer sk-1");
        let request = with_header(request, "openai-organization", "org-1");
        with_header(with_header(request, "x-trace", "t-1"), "cookie", "session=1")
    };
    let asked = Asked::default();
    let app: Router = proxy_router().chat(models(&asked, hi)).into();
    assert_eq!(ask(&app, request()).await.status, 200);
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(passed(&asked), [own("openai-organization", "org-1")]);

    let app: Router = proxy_router()
        .chat(models(&asked, hi))
        .pass_keys()
        .pass_header("x-trace".parse().unwrap())
        .into();
    assert_eq!(ask(&app, request()).await.status, 200);
    let mut all = passed(&asked);
    all.sort();
    assert_eq!(
        all,
        [
            own("authorization", "Bearer sk-1"),
            own("openai-organization", "org-1"),
            own("x-trace", "t-1")
        ]
    );
    assert!(!format!("{:?}", asked.last().ctx).contains("sk-1"));
}

#[tokio::test]
async fn a_key_in_the_url_of_gemini_becomes_a_header() {
    let asked = Asked::default();
    let app: Router = proxy_router().gemini(models(&asked, hi)).pass_keys().into();
    let body = json!({"contents": [{"parts": [{"text": "Hello"}]}]}).to_string();
    ask(&app, post("/v1beta/models/g:generateContent?key=AIza-1", body)).await;
    assert_eq!(passed(&asked), [("x-goog-api-key".to_owned(), "AIza-1".to_owned())]);
}

/// What OpenAI says to a wrong key.
fn refused(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let body = br#"{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}}"#;
    Err(openai_chat::decode_error(StatusCode::UNAUTHORIZED, &HeaderMap::new(), body))
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_passed_on_with_its_status() {
    let whose = |router: ProxyRouter| async move {
        let answer = ask(&router.into(), chat("m", json!({}))).await;
        (answer.status.as_u16(), answer.json()["error"].clone())
    };
    let asked = Asked::default();
    let (status, error) = whose(proxy_router().chat(models(&asked, refused)).pass_keys()).await;
    assert_eq!((status, &error["code"]), (401, &json!("invalid_api_key")));
    assert_eq!(error["message"], "Incorrect API key provided");
    // The text about a key of the host's is the host's.
    let (status, error) = whose(proxy_router().chat(models(&asked, refused))).await;
    assert_eq!(status, 401);
    assert_ne!(error["message"], "Incorrect API key provided");
    let ours = |_: &ModelRequest| Err(Error::new(ErrorKind::Overloaded, "full on db-7"));
    let (status, error) = whose(proxy_router().chat(models(&asked, ours))).await;
    assert_eq!((status, &error["code"]), (503, &json!("overloaded")));
}

#[tokio::test]
async fn an_error_of_the_provider_inside_a_stream_keeps_its_words() {
    let broken = |_: &ModelRequest| {
        let piece = ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("Hel".into()) };
        let body = br#"{"error": {"code": 429, "message": "Quota exceeded for you", "status": "RESOURCE_EXHAUSTED"}}"#;
        let fault = gemini::decode_error(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new(), body);
        Ok(ModelResponse::stream(stream::iter([Ok(piece), Err(fault)])))
    };
    let router = proxy_router().gemini(models(&Asked::default(), broken)).pass_keys();
    let body = json!({"contents": [{"parts": [{"text": "Hello"}]}]});
    let came = streamed(router, "/v1beta/models/g:streamGenerateContent?alt=sse", body).await;
    assert_eq!(came.last().unwrap()["error"]["message"], "Quota exceeded for you");
}

/// Headers of an answer as a provider's client keeps them.
fn kept() -> ProviderHeaders {
    let headers = [
        ("request-id", "req_1"),
        ("x-request-id", "req_1"),
        ("x-ratelimit-remaining-tokens", "9"),
        ("ratelimit", "minute;r=1"),
        ("ratelimit", "day;r=9"),
        ("retry-after", "60"),
        ("content-type", "text/html"),
        ("set-cookie", "session=1"),
        ("x-run-id", "theirs"),
    ];
    let header = |(name, value): (&'static str, &'static str)| {
        (http::HeaderName::from_static(name), http::HeaderValue::from_static(value))
    };
    ProviderHeaders::new(&headers.into_iter().map(header).collect())
}

/// Requests of all dialects, whole or streamed.
fn requests(stream: bool) -> [Request<Body>; 4] {
    let contents = json!({"contents": [{"parts": [{"text": "Hello"}]}]});
    let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let messages = json!([{"role": "user", "content": "Hello"}]);
    [
        chat("m", json!({"stream": stream})),
        post(
            "/v1/responses",
            json!({"model": "m", "input": "Hello", "stream": stream}).to_string(),
        ),
        post(
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "messages": messages, "stream": stream})
                .to_string(),
        ),
        post(&format!("/v1beta/models/m:{method}"), contents.to_string()),
    ]
}

fn in_all(
    answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
) -> ProxyRouter {
    let models = models(&Asked::default(), answer);
    proxy_router()
        .chat(models.clone())
        .responses(models.clone())
        .messages(models.clone())
        .gemini(models)
}

fn with_headers(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let mut response = ModelResponse::full(Reply::new(Message::assistant("Hi")));
    response.head.extensions.insert(kept());
    Ok(response)
}

#[tokio::test]
async fn headers_of_the_provider_come_back_in_every_dialect_whole_and_streamed() {
    let app: Router = in_all(with_headers).into();
    for (stream, kind) in [(false, "application/json"), (true, "text/event-stream")] {
        for request in requests(stream) {
            let path = request.uri().to_string();
            let answer = ask(&app, request).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            for name in ["request-id", "x-request-id"] {
                assert_eq!(answer.header(name), "req_1", "{path}");
            }
            assert_eq!(answer.header("x-ratelimit-remaining-tokens"), "9", "{path}");
            assert_eq!(answer.header("retry-after"), "60", "{path}");
            assert_eq!(answer.headers.get_all("ratelimit").iter().count(), 2, "{path}");
            // What is the host's to say stays the host's.
            assert_eq!(answer.headers.get_all("content-type").iter().count(), 1, "{path}");
            assert_eq!(answer.header("content-type"), kind, "{path}");
            assert!(!answer.headers.contains_key("set-cookie"), "{path}");
            assert_eq!(answer.headers.get_all("x-run-id").iter().count(), 1, "{path}");
            assert_ne!(answer.header("x-run-id"), "theirs", "{path}");
        }
    }
}

#[tokio::test]
async fn a_refusal_has_the_headers_of_the_provider_and_our_own_wait() {
    let refused = |_: &ModelRequest| {
        let body = br#"{"error": {"message": "Slow down", "type": "requests"}}"#;
        let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, "2".parse().unwrap())]);
        let error = openai_chat::decode_error(StatusCode::TOO_MANY_REQUESTS, &headers, body);
        Err(error.with_extension(kept()))
    };
    // A reply that nobody could read is our error, and its id is still the provider's to look up.
    let broken =
        |_: &ModelRequest| Err(Error::new(ErrorKind::Protocol, "no JSON").with_extension(kept()));
    let late = |_: &ModelRequest| {
        let events = [Err(Error::new(ErrorKind::Protocol, "cut"))];
        let mut response = ModelResponse::stream(stream::iter(events));
        response.head.extensions.insert(kept());
        Ok(response)
    };
    let refused: Router = in_all(refused).into();
    let others: [Router; 2] = [in_all(broken).into(), in_all(late).into()];
    for request in requests(false) {
        let path = request.uri().to_string();
        let answer = ask(&refused, request).await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (429, "2"), "{path}");
        assert_eq!(answer.header("x-ratelimit-remaining-tokens"), "9", "{path}");
        assert_eq!(answer.header("content-type"), "application/json", "{path}");
    }
    for app in &others {
        for request in requests(false) {
            let answer = ask(app, request).await;
            assert_eq!((answer.status.as_u16(), answer.header("x-request-id")), (502, "req_1"));
        }
    }
}

#[tokio::test]
async fn headers_of_the_provider_stay_here_where_that_is_wished_and_in_other_routers() {
    let hidden: Router = in_all(with_headers).provider_headers(false).into();
    let model = Asked::default().model(with_headers);
    let host: Router = tower_agent_axum::messages_router().any_model(model).into();
    let [_, _, message, _] = requests(false);
    for answer in requests(false).map(|request| ask(&hidden, request)) {
        let answer = answer.await;
        assert!(!answer.headers.contains_key("x-ratelimit-remaining-tokens"));
        assert_ne!(answer.header("request-id"), "req_1");
    }
    let answer = ask(&host, message).await;
    assert!(!answer.headers.contains_key("x-ratelimit-remaining-tokens"));
    assert_eq!(answer.header("request-id"), answer.header("x-run-id"));
}

#[tokio::test]
async fn other_paths_are_sent_on_or_are_not_found() {
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    let app: Router = proxy_router().chat(models(&Asked::default(), hi)).into();
    assert_eq!(ask(&app, get("/v1/files")).await.status, 404);
    assert_eq!(ask(&app, get("/v1/models")).await.json()["data"], json!([]));

    let rest = service_fn(|request: Request<Body>| async move {
        Ok::<_, std::convert::Infallible>(request.uri().to_string().into_response())
    });
    let all = models(&Asked::default(), hi);
    let app: Router =
        proxy_router().chat(all.clone()).messages(all.clone()).gemini(all).forward(rest).into();
    for path in
        ["/v1/files?limit=2", "/v1/models", "/v1/models/gpt-4o", "/v1/batches", "/v1beta/models"]
    {
        let answer = ask(&app, get(path)).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (200, path));
    }
    assert_eq!(
        ask(&app, chat("m", json!({}))).await.json()["choices"][0]["message"]["content"],
        "Hi"
    );
}

#[tokio::test]
async fn who_may_use_the_hosts_key_is_for_the_host_to_say() {
    let asked = Asked::default();
    let app: Router = proxy_router()
        .chat(models(&asked, hi))
        .identity(|parts| match parts.headers.get("authorization") {
            Some(key) if key == "Bearer team-key" => Ok(Identity::default().with_tenant("team")),
            _ => Err(ApiError::unauthorized("send the team's key")),
        })
        .into();
    assert_eq!(ask(&app, chat("m", json!({}))).await.status, 401);
    let known = with_header(chat("m", json!({})), "authorization", "Bearer team-key");
    assert_eq!(ask(&app, known).await.status, 200);
    assert_eq!(asked.count(), 1);
    assert!(passed(&asked).is_empty());
}
