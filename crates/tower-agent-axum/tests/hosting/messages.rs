//! Anthropic's API in front of agents and model stacks.

use axum::{Router, body::Body, http::Request, routing::get};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};
use tower_agent::{Agent, Tool, ToolSet, ToolSpec};
use tower_agent_axum::{ApiError, Identity, Models, chat_router, messages_router};
use tower_agent_core::{
    Denial, Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse,
    Operation, Part, PartDelta, PartStart, Reply, Role, RunRequest, RunResponse, TextPart,
    ToolCallPart, Usage,
};
use tower_agent_wire::anthropic_messages;

use crate::support::{Answer, Asked, Seen, ask, chat, post, says, with_header};

/// A request with one message of the user, and more fields.
fn messages(model: &str, more: impl Into<Value>) -> Request<Body> {
    let mut body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]});
    let Value::Object(more) = more.into() else { panic!("more fields are an object") };
    body.as_object_mut().unwrap().extend(more);
    post("/v1/messages", body.to_string())
}

/// The events of a stream, whose names are checked: they stand in two places.
#[track_caller]
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), "text/event-stream", "{}", answer.body);
    let named = |(name, _, data): (String, String, Value)| {
        assert_eq!(data["type"], *name);
        data
    };
    answer.events().into_iter().map(named).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn text_of(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect()
}

/// The error of an answer, whose shape is checked.
#[track_caller]
fn error(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json", "{}", answer.body);
    let body = answer.json();
    assert_eq!(body["type"], "error", "{body}");
    assert!(body["error"]["message"].is_string(), "{body}");
    body["error"].clone()
}

fn hello(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let mut usage = Usage::new(9, 4);
    usage.cached_read = 5;
    Ok(ModelResponse::full(Reply::new(Message::assistant("Hello you")).with_usage(usage)))
}

/// The same, in pieces, as a client of OpenAI's API would get it.
fn hello_streamed(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let piece =
        |text: &str| ModelEvent::PartDelta { index: 1, delta: PartDelta::Text(text.into()) };
    let mut usage = Usage::new(9, 4);
    usage.cached_read = 5;
    let events = [
        ModelEvent::Start { id: None, model: None, extra: None },
        ModelEvent::PartStart { index: 1, part: PartStart::Text },
        piece("Hello"),
        piece(" you"),
        ModelEvent::PartEnd { index: 1, extra: None },
        ModelEvent::Finish { reason: FinishReason::Stop },
        ModelEvent::Usage { usage },
    ];
    Ok(ModelResponse::stream(stream::iter(events.map(Ok))))
}

fn app(
    answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
) -> Router {
    messages_router().model("demo", Asked::default().model(answer)).into()
}

#[tokio::test]
async fn a_whole_reply_has_all_that_clients_read() {
    for answer in [hello, hello_streamed] {
        let answer = ask(&app(answer), messages("demo", json!({}))).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "application/json")
        );
        let mut body = answer.json();
        let id = body.as_object_mut().unwrap().remove("id").unwrap();
        let run = answer.header("x-run-id").replace('-', "");
        assert_eq!(id.as_str().unwrap().strip_prefix("msg_"), Some(&*run));
        assert_eq!(answer.header("request-id"), answer.header("x-run-id"));
        assert_eq!(
            body,
            json!({"type": "message", "role": "assistant", "model": "demo",
                "content": [{"type": "text", "text": "Hello you"}], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 4}})
        );
    }
}

#[tokio::test]
async fn a_streamed_reply_is_events_from_the_start_to_the_stop() {
    for (answer, pieces) in [(hello as fn(&_) -> _, 1), (hello_streamed, 2)] {
        let asked = Asked::default();
        let app: Router = messages_router().model("demo", asked.model(answer)).into();
        let events = events(&ask(&app, messages("demo", json!({"stream": true}))).await);
        assert!(asked.last().stream);
        let mut expected = vec!["message_start", "content_block_start"];
        expected.extend(vec!["content_block_delta"; pieces]);
        expected.extend(["content_block_stop", "message_delta", "message_stop"]);
        assert_eq!(names(&events), expected);
        let message = &events[0]["message"];
        assert_eq!((&message["role"], &message["content"]), (&json!("assistant"), &json!([])));
        assert!(message["usage"]["input_tokens"].is_u64(), "clients read it unasked");
        assert_eq!(text_of(&events), "Hello you");
        let last = &events[events.len() - 2];
        assert_eq!(last["delta"], json!({"stop_reason": "end_turn", "stop_sequence": null}));
        assert_eq!(
            last["usage"],
            json!({"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 4})
        );
    }
}

fn thinks_and_calls(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let signed = Some(r#"{"anthropic":{"signature":"c2ln"}}"#.into());
    let parts = vec![
        Part::Reasoning(TextPart { text: "Hm.".into(), extra: signed }),
        Part::text("Looking."),
        Part::ToolCall(ToolCallPart::new("c1", "find", r#"{"q":"tower"}"#)),
        Part::ToolCall(ToolCallPart::new("c2", "find", r#"{"q":"axum"}"#)),
    ];
    Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, parts))))
}

#[tokio::test]
async fn a_model_stack_leaves_tools_to_the_client_and_shows_signed_thinking() {
    let tools = json!({"tools": [{"name": "find", "description": "Finds", "input_schema": {"type": "object"}}]});
    let asked = Asked::default();
    let app: Router = messages_router().model("demo", asked.model(thinks_and_calls)).into();
    let body = ask(&app, messages("demo", tools.clone())).await.json();
    assert!(asked.last().tools.find("find").is_some());
    assert_eq!(body["stop_reason"], "tool_use");
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "tower"}},
        {"type": "tool_use", "id": "c2", "name": "find", "input": {"q": "axum"}}
    ]);
    assert_eq!(body["content"], content);

    let mut streamed = tools;
    streamed["stream"] = json!(true);
    let answer = ask(&app, messages("demo", streamed)).await;
    let mut decoder = anthropic_messages::Decoder::new();
    decoder.push(answer.body.as_bytes());
    let mut collector = tower_agent_core::Collector::new();
    while let Some(event) = decoder.next_event() {
        collector.push(event.unwrap()).unwrap();
    }
    let reply = collector.finish().unwrap();
    let stamp = tower_agent_wire::Stamp::new("", "", 0);
    let whole = anthropic_messages::encode_reply(&reply, &stamp).bytes;
    assert_eq!(serde_json::from_slice::<Value>(&whole).unwrap()["content"], content);
}

#[tokio::test]
async fn fields_without_a_name_reach_the_stack() {
    let asked = Asked::default();
    let app: Router = messages_router().model("demo", asked.model(hello)).into();
    ask(
        &app,
        messages("demo", json!({"top_k": 5, "thinking": {"type": "adaptive"}, "system": "Brief."})),
    )
    .await;
    let request = asked.last();
    assert_eq!((request.model.as_str(), request.instructions.as_deref()), ("demo", Some("Brief.")));
    assert_eq!(request.sampling.max_output_tokens, Some(64));
    let extra = request.extra.unwrap();
    let kept = json!({"anthropic": {"top_k": 5, "thinking": {"type": "adaptive"}}});
    assert_eq!(extra.value().unwrap(), &kept);
}

#[tokio::test]
async fn a_denied_reply_is_a_refusal_and_an_error_in_words_ends_the_turn() {
    let late = Error::new(ErrorKind::Timeout, "late");
    let deny = |request: &ModelRequest| Ok(request.denied(Denial::new("Not that.").by("guard")));
    let fail = move |request: &ModelRequest| Ok(request.failed(&late));
    for (app, reason) in [(app(deny), "refusal"), (app(fail), "end_turn")] {
        let whole = ask(&app, messages("demo", json!({}))).await;
        assert_eq!((whole.status.as_u16(), &whole.json()["stop_reason"]), (200, &json!(reason)));
        let events = events(&ask(&app, messages("demo", json!({"stream": true}))).await);
        assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], reason);
    }
}

/// Thinks, says what it does, calls a tool, and answers with what the tool said.
fn clerk(request: &ModelRequest) -> Result<ModelResponse, Error> {
    let last = request.messages.last().unwrap();
    let parts = match last.parts() {
        [Part::ToolResult(result)] => vec![Part::text(format!("It is {}.", result.text()))],
        _ => vec![
            Part::Reasoning(TextPart { text: "hmm, secret".into(), extra: None }),
            Part::text("Let me look."),
            Part::ToolCall(ToolCallPart::new("c1", "now", "{}")),
        ],
    };
    let reply = Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage::new(10, 5));
    Ok(ModelResponse::full(reply))
}

#[tokio::test]
async fn an_agents_tools_run_here_and_the_client_reads_what_was_said() {
    let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
    let tools = ToolSet::builder().tool(now).build().unwrap();
    let agent = Agent::builder("clerk", Asked::default().model(clerk)).tools(tools).build();
    let app: Router = messages_router().agent("helper", agent).into();
    let body = ask(&app, messages("helper", json!({}))).await.json();
    assert_eq!(body["content"], json!([{"type": "text", "text": "Let me look.\n\nIt is noon."}]));
    assert_eq!(body["usage"], json!({"input_tokens": 20, "output_tokens": 10}), "of both turns");
    let answer = ask(&app, messages("helper", json!({"stream": true}))).await;
    assert_eq!(text_of(&events(&answer)), "Let me look.\n\nIt is noon.");
    assert!(!answer.body.contains("tool_use") && !answer.body.contains("secret"));
}

#[tokio::test]
async fn an_agent_gets_the_conversation_with_the_operators_words_and_refuses_tools() {
    let seen = Seen::default();
    let app: Router = messages_router().agent("helper", seen.agent(says("ho"))).into();
    let blocks =
        json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]);
    for system in [json!("Be brief."), blocks] {
        let talk = json!({"system": system, "temperature": 1, "messages": [
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": [{"type": "text", "text": "Two?"}]},
        ]});
        assert_eq!(ask(&app, messages("helper", talk)).await.status, 200);
        let run = seen.last();
        assert_eq!((run.conversation.len(), run.conversation[0].role()), (3, &Role::System));
        assert_eq!(run.conversation[0].text(), "Be brief.");
        assert_eq!(run.input[0].text(), "Two?");
        assert_eq!((run.instructions, run.sampling.is_none()), (None, true));
    }
    let tools = json!({"tools": [{"name": "find", "input_schema": {"type": "object"}}]});
    let refused = ask(&app, messages("helper", tools)).await;
    assert_eq!(
        (refused.status.as_u16(), &error(&refused)["type"]),
        (400, &json!("invalid_request_error"))
    );
    assert_eq!(seen.count(), 2);
}

#[tokio::test]
async fn the_start_comes_at_once_however_long_the_agent_takes() {
    let stuck = service_fn(|_: RunRequest| async {
        Ok::<_, Error>(RunResponse::new(futures_util::stream::pending()))
    });
    let app: Router = messages_router().agent("helper", stuck).into();
    let response = app.oneshot(messages("helper", json!({"stream": true}))).await.unwrap();
    let first = response.into_body().into_data_stream().next().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: message_start\ndata: {"));
}

#[tokio::test]
async fn a_call_is_shown_once_it_is_named_and_before_its_arguments() {
    let begun = |_: &ModelRequest| {
        let part = PartStart::ToolCall { id: Some("c".into()), name: Some("find".into()) };
        let start = stream::iter([Ok(ModelEvent::PartStart { index: 0, part })]);
        Ok(ModelResponse::stream(start.chain(stream::pending())))
    };
    let response = app(begun).oneshot(messages("demo", json!({"stream": true}))).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("tool_use") {
        read.extend(body.next().await.unwrap().unwrap());
    }
}

/// What is wrong, the body and what the answer names.
const BAD: [(&str, &[u8], &str); 10] = [
    ("nothing", b"", "JSON"),
    ("half an object", br#"{"model":"#, "JSON"),
    ("a list", b"[]", "object"),
    ("no model", br#"{"messages":[]}"#, "model"),
    ("no messages", br#"{"model":"demo"}"#, "messages"),
    (
        "empty messages",
        br#"{"model":"demo","system":[{"type":"text","text":"a"}],"messages":[]}"#,
        "messages",
    ),
    (
        "a message without a role",
        br#"{"model":"demo","messages":[{"content":"hi"}]}"#,
        "messages[0].role",
    ),
    (
        "a message without content",
        br#"{"model":"demo","messages":[{"role":"user"}]}"#,
        "messages[0].content",
    ),
    (
        "a block without a type",
        br#"{"model":"demo","messages":[{"role":"user","content":[{}]}]}"#,
        "messages[0].content[0].type",
    ),
    (
        "a text for stream",
        br#"{"model":"demo","stream":"yes","messages":[{"role":"user","content":"hi"}]}"#,
        "stream",
    ),
];

#[tokio::test]
async fn bad_input_is_answered_in_the_dialects_shape_and_asks_nobody() {
    let asked = Asked::default();
    let app: Router = messages_router().model("demo", asked.model(hello)).into();
    for (name, body, named) in BAD {
        let answer = ask(&app, post("/v1/messages", body)).await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
        let error = error(&answer);
        assert_eq!(error["type"], "invalid_request_error", "{name}");
        assert!(error["message"].as_str().unwrap().contains(named), "{name}: {error}");
        assert_eq!(answer.json()["request_id"], answer.header("request-id"));
        assert!(!answer.header("request-id").is_empty());
    }
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn half_a_conversation_is_refused_with_the_code_that_clients_know() {
    let thread = json!({"thread": {"type": "continue", "previous_message_id": "msg_1"}});
    let answer = ask(&app(hello), messages("demo", thread)).await;
    assert_eq!(answer.status, 400);
    assert_eq!(error(&answer)["details"], json!({"error_code": "thread_unsupported_request"}));
    let none = ask(&app(hello), messages("demo", json!({"thread": null}))).await;
    assert_eq!(none.status, 200);
}

#[tokio::test]
async fn whoever_refuses_it_is_in_the_dialects_shape() {
    let app: Router = messages_router()
        .model("demo", Asked::default().model(hello))
        .body_limit(256)
        .identity(|parts| match parts.headers.get("x-api-key") {
            Some(key) if key == "none" => Err(ApiError::unauthorized("send a key")),
            _ => Ok(Identity::default()),
        })
        .into();
    let form = with_header(messages("demo", json!({})), "content-type", "text/plain");
    let large = messages("demo", json!({"metadata": {"user_id": "x".repeat(500)}}));
    let stranger = with_header(messages("demo", json!({})), "x-api-key", "none");
    let wrong_method = Request::get("/v1/messages").body(Body::empty()).unwrap();
    for (request, status, kind) in [
        (form, 415, "invalid_request_error"),
        (large, 413, "request_too_large"),
        (stranger, 401, "authentication_error"),
        (wrong_method, 405, "invalid_request_error"),
        (messages("none", json!({})), 404, "not_found_error"),
        (post("/v1/messages/count_tokens", "{}"), 404, "not_found_error"),
    ] {
        let answer = ask(&app, request).await;
        assert_eq!((answer.status.as_u16(), &error(&answer)["type"]), (status, &json!(kind)));
    }
}

#[tokio::test]
async fn either_way_of_sending_a_key_reaches_the_app() {
    let asked = Asked::default();
    let app: Router = messages_router()
        .model("demo", asked.model(hello))
        .identity(|parts| {
            let key = parts.headers.get("x-api-key").or(parts.headers.get("authorization"));
            let key = key.ok_or_else(|| ApiError::unauthorized("send a key"))?;
            Ok::<_, ApiError>(Identity::default().with_user(key.to_str().unwrap()))
        })
        .into();
    for (name, value) in [("x-api-key", "k-1"), ("authorization", "Bearer k-1")] {
        let request = with_header(messages("demo", json!({})), name, value);
        assert_eq!(ask(&app, request).await.status, 200);
        assert_eq!(asked.last().ctx.run().user().unwrap(), value);
    }
    assert_eq!(ask(&app, messages("demo", json!({}))).await.status, 401);
}

#[tokio::test]
async fn what_goes_wrong_at_the_model_has_its_status_and_type() {
    for (kind, status, name) in [
        (ErrorKind::RateLimited { retry_after: None }, 429, "rate_limit_error"),
        (ErrorKind::Overloaded, 503, "overloaded_error"),
        (ErrorKind::Timeout, 504, "timeout_error"),
        (ErrorKind::Unauthorized, 502, "api_error"),
        (ErrorKind::Upstream { status: Some(500) }, 502, "api_error"),
        (ErrorKind::Other, 500, "api_error"),
    ] {
        let app = app(move |_: &ModelRequest| Err(Error::new(kind, "key sk-1 is exhausted")));
        for stream in [true, false] {
            let answer = ask(&app, messages("demo", json!({"stream": stream}))).await;
            assert_eq!((answer.status.as_u16(), &error(&answer)["type"]), (status, &json!(name)));
            assert!(!answer.body.contains("sk-1"));
        }
    }
}

#[tokio::test]
async fn what_a_provider_says_about_the_request_reaches_the_client() {
    let app = app(|_: &ModelRequest| {
        let body = br#"{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}"#;
        Err(anthropic_messages::decode_error(StatusCode::BAD_REQUEST, &HeaderMap::new(), body))
    });
    let answer = ask(&app, messages("demo", json!({}))).await;
    let expected = json!({"type": "invalid_request_error", "message": "prompt is too long",
        "details": {"error_code": "upstream_rejected"}});
    assert_eq!((answer.status.as_u16(), error(&answer)), (400, expected));
}

#[tokio::test]
async fn an_error_in_a_begun_stream_is_an_event_and_nothing_follows_it() {
    let piece = || ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("half".into()) };
    let broken = || Error::new(ErrorKind::Upstream { status: Some(503) }, "db-7 is down");
    for end in [vec![Err(broken()), Ok(piece())], vec![]] {
        let all: Vec<_> = [Ok(piece())].into_iter().chain(end).collect();
        let app = app(move |_: &ModelRequest| Ok(ModelResponse::stream(stream::iter(all.clone()))));
        let answer = ask(&app, messages("demo", json!({"stream": true}))).await;
        let events = events(&answer);
        assert_eq!(
            names(&events),
            ["message_start", "content_block_start", "content_block_delta", "error"]
        );
        assert_eq!(events[3]["error"]["type"], "api_error");
        assert_eq!(events[3]["request_id"], answer.header("request-id"));
        assert!(!answer.body.contains("db-7"));
        assert_eq!(ask(&app, messages("demo", json!({}))).await.status, 502);
    }
}

#[tokio::test]
async fn one_set_of_models_is_served_in_both_dialects() {
    let (asked, seen) = (Asked::default(), Seen::default());
    let models = Models::new()
        .model("demo", asked.model(hello))
        .agent("helper", seen.agent(says("ho")))
        .any_model(asked.model(hello));
    let app: Router = Router::new()
        .route("/v1/files", get(async || "files"))
        .merge(chat_router().models(models.clone()))
        .merge(messages_router().models(models));
    for model in ["demo", "helper", "whatever"] {
        assert_eq!(ask(&app, messages(model, json!({}))).await.status, 200, "{model}");
        assert_eq!(ask(&app, chat(model, json!({}))).await.status, 200, "{model}");
    }
    assert_eq!((asked.count(), seen.count()), (4, 2));
    let list = ask(&app, Request::get("/v1/models").body(Body::empty()).unwrap()).await.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    let model = &list["data"][0];
    assert_eq!((&model["type"], &model["display_name"]), (&json!("model"), &json!("demo")));
    assert_eq!((&list["has_more"], &list["last_id"]), (&json!(false), &json!("helper")));
}
