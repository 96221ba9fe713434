//! OpenAI's API in front of a model stack.

use axum::{Router, body::Body, http::Request, routing::get};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tower::ServiceExt;
use tower_agent_axum::{ApiError, Identity, chat_router, run_router};
use tower_agent_core::{
    Denial, Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, Operation, Part,
    PartDelta, Reply, Role, ToolCallPart, Usage,
};

use crate::support::{
    Asked, Counters, Seen, ask, chat, finish_of, post, says, text_of, wants_json, with_header,
};

fn hello(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let mut usage = Usage::new(9, 4);
    usage.reasoning = 1;
    Ok(ModelResponse::full(Reply::new(Message::assistant("Hello you")).with_usage(usage)))
}

/// The same, in pieces.
fn hello_streamed(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let piece =
        |text: &str| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) };
    let events = [
        piece("Hello"),
        piece(" you"),
        ModelEvent::Finish { reason: FinishReason::Stop },
        ModelEvent::Usage { usage: Usage::new(9, 4) },
    ];
    Ok(ModelResponse::stream(stream::iter(events.map(Ok))))
}

#[tokio::test]
async fn a_whole_reply_has_all_that_clients_read() {
    for answer in [hello, hello_streamed] {
        let app: Router = chat_router().model("demo", Asked::default().model(answer)).into();
        let answer = ask(&app, chat("demo", json!({}))).await;

        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "application/json")
        );
        let body = answer.json();
        let id = body["id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap();
        assert_eq!(id, answer.header("x-run-id").replace('-', ""));
        assert_eq!((&body["object"], &body["model"]), (&json!("chat.completion"), &json!("demo")));
        assert!(body["created"].as_u64().unwrap() > 1_700_000_000, "seconds since 1970");
        let choice = &body["choices"][0];
        assert_eq!(choice["message"]["role"], "assistant");
        assert_eq!(choice["message"]["content"], "Hello you");
        assert_eq!((&choice["index"], &choice["finish_reason"]), (&json!(0), &json!("stop")));
        assert_eq!(body["usage"]["prompt_tokens"], 9);
        assert_eq!(body["usage"]["completion_tokens"], 4);
        assert_eq!(body["usage"]["total_tokens"], 13);
    }
}

#[tokio::test]
async fn a_streamed_reply_is_chunks_from_the_role_to_done() {
    for (answer, pieces) in [(hello as fn(&_) -> _, 1), (hello_streamed, 2)] {
        let asked = Asked::default();
        let app: Router = chat_router().model("demo", asked.model(answer)).into();
        let answer = ask(&app, chat("demo", json!({"stream": true}))).await;

        assert!(asked.last().stream);
        assert_eq!(answer.header("cache-control"), "no-cache");
        assert_eq!(answer.header("x-accel-buffering"), "no");
        let chunks = answer.chunks();
        assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
        assert_eq!(text_of(&chunks), "Hello you");
        assert_eq!(finish_of(&chunks), "stop");
        assert_eq!(chunks.len(), 1 + pieces + 1, "no usage unless it is asked for: {chunks:?}");
        for chunk in &chunks {
            assert_eq!(chunk["object"], "chat.completion.chunk");
            assert_eq!((&chunk["id"], &chunk["model"]), (&chunks[0]["id"], &json!("demo")));
            assert_eq!(chunk["choices"][0]["index"], 0);
        }
    }
}

#[tokio::test]
async fn the_usage_chunk_comes_when_it_is_asked_for() {
    let app: Router = chat_router().model("demo", Asked::default().model(hello_streamed)).into();
    let options = json!({"stream": true, "stream_options": {"include_usage": true}});
    let chunks = ask(&app, chat("demo", options)).await.chunks();
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["total_tokens"], 13);
}

fn calls_a_tool(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let calls = vec![
        Part::text("Looking."),
        Part::ToolCall(ToolCallPart::new("c1", "find", r#"{"q":"tower"}"#)),
        Part::ToolCall(ToolCallPart::new("c2", "find", r#"{"q":"axum"}"#)),
    ];
    Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, calls))))
}

#[tokio::test]
async fn a_model_stack_leaves_tools_to_the_client() {
    let tools = json!({"tools": [{"type": "function", "function": {
        "name": "find", "description": "Finds", "parameters": {"type": "object"},
    }}]});
    let asked = Asked::default();
    let app: Router = chat_router().model("demo", asked.model(calls_a_tool)).into();
    let body = ask(&app, chat("demo", tools.clone())).await.json();

    assert!(asked.last().tools.find("find").is_some());
    let choice = &body["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], "Looking.");
    assert_eq!(choice["message"]["tool_calls"][1]["id"], "c2");
    assert_eq!(choice["message"]["tool_calls"][1]["function"]["arguments"], r#"{"q":"axum"}"#);

    let mut streamed = tools;
    streamed["stream"] = json!(true);
    let chunks = ask(&app, chat("demo", streamed)).await.chunks();
    assert_eq!(finish_of(&chunks), "tool_calls");
    let mut arguments = [String::new(), String::new()];
    for call in
        chunks.iter().flat_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].as_array())
    {
        for piece in call {
            let text = piece["function"]["arguments"].as_str().unwrap_or_default();
            arguments[piece["index"].as_u64().unwrap() as usize].push_str(text);
        }
    }
    assert_eq!(arguments, [r#"{"q":"tower"}"#, r#"{"q":"axum"}"#]);
}

#[tokio::test]
async fn fields_without_a_name_reach_the_stack() {
    let asked = Asked::default();
    let app: Router = chat_router().model("demo", asked.model(hello)).into();
    ask(&app, chat("demo", json!({"user": "u-1", "logit_bias": {"7": -1}, "temperature": 0.5})))
        .await;
    let request = asked.last();
    assert_eq!(request.model, "demo");
    assert_eq!(request.sampling.temperature, Some(0.5));
    let extra = request.extra.unwrap();
    assert_eq!(extra.value().unwrap(), &json!({"user": "u-1", "logit_bias": {"7": -1}}));
}

#[tokio::test]
async fn a_denied_reply_is_finished_by_a_content_filter() {
    let deny = |request: &ModelRequest| Ok(request.denied(Denial::new("Not that.").by("guard")));
    let app: Router = chat_router().model("demo", Asked::default().model(deny)).into();
    let whole = ask(&app, chat("demo", json!({}))).await;
    assert_eq!(whole.status, 200);
    assert_eq!(whole.json()["choices"][0]["finish_reason"], "content_filter");
    assert_eq!(whole.json()["choices"][0]["message"]["content"], "Not that.");

    let chunks = ask(&app, chat("demo", json!({"stream": true}))).await.chunks();
    assert_eq!(
        (text_of(&chunks).as_str(), finish_of(&chunks).as_str()),
        ("Not that.", "content_filter")
    );
}

#[tokio::test]
async fn an_error_that_was_answered_in_words_finishes_in_a_word_of_the_dialect() {
    let error = Error::new(tower_agent_core::ErrorKind::Timeout, "late");
    let fail = move |request: &ModelRequest| Ok(request.failed(&error));
    let app: Router = chat_router().model("demo", Asked::default().model(fail)).into();
    let whole = ask(&app, chat("demo", json!({}))).await.json();
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    let chunks = ask(&app, chat("demo", json!({"stream": true}))).await.chunks();
    assert_eq!(finish_of(&chunks), "stop");
}

async fn fetch(app: &Router, path: &str) -> crate::support::Answer {
    ask(app, Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn models_are_listed_in_the_order_they_were_given() {
    let seen = Seen::default();
    let app: Router = chat_router()
        .model("org/demo", Asked::default().model(hello))
        .agent("helper", seen.agent(says("ho")))
        .any_model(Asked::default().model(hello))
        .into();
    let list = fetch(&app, "/v1/models").await.json();
    assert_eq!(list["object"], "list");
    let ids: Vec<_> = list["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, ["org/demo", "helper"]);
    assert_eq!(list["data"][0]["object"], "model");
    assert!(list["data"][0]["created"].as_u64().unwrap() > 1_700_000_000);

    for id in ["org/demo", "helper", "org%2Fdemo"] {
        let one = fetch(&app, &format!("/v1/models/{id}")).await;
        assert_eq!((one.status.as_u16(), &one.json()["object"]), (200, &json!("model")), "{id}");
    }
    let none = fetch(&app, "/v1/models/gpt-9").await;
    assert_eq!(none.status, 404);
    assert_eq!(none.error()["code"], "model_not_found");
}

#[tokio::test]
async fn other_names_go_to_the_stack_for_any_model_as_they_came() {
    let (demo, any) = (Asked::default(), Asked::default());
    let app: Router =
        chat_router().model("demo", demo.model(hello)).any_model(any.model(hello)).into();
    ask(&app, chat("gpt-9", json!({}))).await;
    assert_eq!((demo.count(), any.last().model.as_str()), (0, "gpt-9"));
    ask(&app, chat("demo", json!({}))).await;
    assert_eq!((demo.count(), any.count()), (1, 1));
}

#[tokio::test]
async fn of_two_things_under_one_name_the_first_answers() {
    let (first, second) = (Asked::default(), Asked::default());
    let app: Router =
        chat_router().model("demo", first.model(hello)).model("demo", second.model(hello)).into();
    ask(&app, chat("demo", json!({}))).await;
    assert_eq!((first.count(), second.count()), (1, 0));
}

#[tokio::test]
async fn who_may_not_ask_may_not_see_the_models_either() {
    let asked = Asked::default();
    let app: Router = chat_router()
        .model("demo", asked.model(hello))
        .identity(|parts| match parts.headers.get("authorization") {
            Some(value) if value == "Bearer k-1" => Ok(Identity::default().with_user("ada")),
            _ => Err(ApiError::unauthorized("send a key as a bearer token")),
        })
        .into();
    for path in ["/v1/models", "/v1/models/demo", "/v1/models/none"] {
        assert_eq!(fetch(&app, path).await.status, 401, "{path}");
    }
    assert_eq!(ask(&app, chat("demo", json!({}))).await.status, 401);
    assert_eq!(asked.count(), 0);

    let allowed = with_header(chat("demo", json!({})), "authorization", "Bearer k-1");
    assert_eq!(ask(&app, allowed).await.status, 200);
    assert_eq!(asked.last().ctx.run().user().unwrap(), "ada");
}

#[tokio::test]
async fn other_routes_under_v1_live_beside_it() {
    let seen = Seen::default();
    let app: Router = Router::new()
        .route("/v1/files", get(async || "files"))
        .route("/v1/files/{id}", get(async || "file"))
        .merge(chat_router().model("demo", Asked::default().model(hello)))
        .merge(run_router(seen.agent(says("ho"))));
    assert_eq!(fetch(&app, "/v1/files").await.body, "files");
    assert_eq!(fetch(&app, "/v1/files/7").await.body, "file");
    let run = ask(&app, wants_json(post("/v1/runs", r#"{"text":"hi"}"#))).await;
    assert_eq!(run.status, 200);
    assert_eq!(ask(&app, chat("demo", json!({}))).await.status, 200);
    let none = fetch(&app, "/v1/embeddings").await;
    assert_eq!((none.status.as_u16(), &none.error()["code"]), (404, &json!("unknown_url")));
    assert_eq!(fetch(&app, "/elsewhere").await.body, "", "what is not under /v1 is the app's");
}

#[tokio::test]
async fn an_app_may_keep_the_other_paths_under_v1_for_itself() {
    let app: Router = Router::new()
        .route("/v1/{thing}", get(async || "a thing"))
        .merge(chat_router().model("demo", Asked::default().model(hello)).without_catch_all());
    assert_eq!(fetch(&app, "/v1/files").await.body, "a thing");
    assert_eq!(fetch(&app, "/v1/models").await.json()["object"], "list");
    assert_eq!(fetch(&app, "/v1/no/such").await.status, 404);
}

#[tokio::test]
async fn a_stream_is_made_as_it_is_read_and_dropped_with_its_body() {
    let counters = Counters::default();
    let polled = counters.clone();
    let endless = move |_: &ModelRequest| {
        let polled = polled.clone();
        let guard = polled.stream(Vec::new(), true);
        Ok(ModelResponse::stream(stream::unfold(guard, move |guard| {
            polled.made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let delta = PartDelta::Text("x".into());
            async move { Some((Ok(ModelEvent::PartDelta { index: 0, delta }), guard)) }
        })))
    };
    let asked = Asked::default();
    let app: Router = chat_router().model("demo", asked.model(endless)).into();
    let response = app.oneshot(chat("demo", json!({"stream": true}))).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    for read in 1..=100 {
        body.next().await.unwrap().unwrap();
        assert_eq!(counters.made(), read);
    }
    let token = asked.last().ctx.cancellation().clone();
    assert!(!token.is_cancelled());
    assert_eq!(counters.dropped(), 0);
    drop(body);
    assert!(token.is_cancelled());
    assert_eq!(counters.dropped(), 1);
}

#[tokio::test]
async fn a_call_that_is_complete_is_not_cancelled_afterwards() {
    for stream in [true, false] {
        let asked = Asked::default();
        let app: Router = chat_router().model("demo", asked.model(hello_streamed)).into();
        assert_eq!(ask(&app, chat("demo", json!({"stream": stream}))).await.status, 200);
        assert!(!asked.last().ctx.cancellation().is_cancelled(), "stream: {stream}");
    }
}

#[tokio::test]
async fn the_values_of_one_request_never_reach_another() {
    let asked = Asked::default();
    let app: Router = chat_router().model("demo", asked.model(hello)).into();
    ask(&app, chat("demo", json!({}))).await;
    let first = asked.last();
    first.ctx.state().set("seen", true).unwrap();
    ask(&app, chat("demo", json!({}))).await;
    assert_ne!(first.ctx.run().id(), asked.last().ctx.run().id());
    assert_eq!(asked.last().ctx.state().get::<Value>("seen"), None);
}
