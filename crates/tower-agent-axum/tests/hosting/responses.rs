//! OpenAI's Responses in front of model stacks and agents.

use axum::{Router, body::Body, http::Request};
use futures_util::stream;
use serde_json::{Value, json};
use tower::ServiceExt;
use tower_agent_axum::{Models, chat_router, responses_router};
use tower_agent_core::{
    Denial, Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse,
    Operation, Part, PartDelta, Reply, Role, RunBody, RunEvent, RunResponse, ToolCallPart, Usage,
};

use crate::support::{Answer, Asked, Counters, Seen, ask, chat, finished, post, says};

fn hello(_: &ModelRequest) -> Result<ModelResponse, Error> {
    Ok(ModelResponse::full(
        Reply::new(Message::assistant("Hello you")).with_usage(Usage::new(9, 4)),
    ))
}

fn piece(text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) }
}

/// The same, in pieces.
fn hello_streamed(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let events = [
        piece("Hello"),
        piece(" you"),
        ModelEvent::Finish { reason: FinishReason::Stop },
        ModelEvent::Usage { usage: Usage::new(9, 4) },
    ];
    Ok(ModelResponse::stream(stream::iter(events.map(Ok))))
}

/// A request for a model, with more fields.
fn responses(model: &str, more: impl Into<Value>) -> Request<Body> {
    let mut body = json!({"model": model, "input": "Hello"});
    let Value::Object(more) = more.into() else { panic!("more fields are an object") };
    body.as_object_mut().unwrap().extend(more);
    post("/v1/responses", body.to_string())
}

fn model(
    answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
) -> Router {
    responses_router().model("demo", Asked::default().model(answer)).into()
}

/// The data of each event, whose name is its type and whose number counts up.
#[track_caller]
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let events: Vec<_> = answer.events();
    for (number, (name, _, data)) in events.iter().enumerate() {
        assert_eq!(
            (name.as_str(), &data["sequence_number"]),
            (data["type"].as_str().unwrap(), &json!(number))
        );
    }
    events.into_iter().map(|(.., data)| data).collect()
}

fn text_of(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event["type"] == "response.output_text.delta");
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_whole_reply_has_all_that_clients_read() {
    for answer in [hello, hello_streamed] {
        let answer = ask(&model(answer), responses("demo", json!({}))).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "application/json")
        );
        let body = answer.json();
        let id = body["id"].as_str().unwrap().strip_prefix("resp_").unwrap();
        assert_eq!(id, answer.header("x-run-id").replace('-', ""));
        assert_eq!(answer.header("x-request-id"), answer.header("x-run-id"));
        assert_eq!((&body["object"], &body["model"]), (&json!("response"), &json!("demo")));
        assert_eq!((&body["status"], &body["error"]), (&json!("completed"), &Value::Null));
        assert!(body["created_at"].as_u64().unwrap() > 1_700_000_000, "seconds since 1970");
        let item = &body["output"][0];
        assert_eq!((&item["type"], &item["role"]), (&json!("message"), &json!("assistant")));
        assert_eq!(
            item["content"],
            json!([{"type": "output_text", "text": "Hello you", "annotations": []}])
        );
        assert_eq!(body["usage"]["total_tokens"], 13);
    }
}

#[tokio::test]
async fn a_streamed_reply_is_events_from_created_to_completed() {
    for (answer, pieces) in [(hello as fn(&_) -> _, 1), (hello_streamed, 2)] {
        let asked = Asked::default();
        let app: Router = responses_router().model("demo", asked.model(answer)).into();
        let events = events(&ask(&app, responses("demo", json!({"stream": true}))).await);
        assert!(asked.last().stream);
        assert_eq!(text_of(&events), "Hello you");
        let (first, last) = (&events[0], &events[events.len() - 1]);
        assert_eq!(
            (&first["type"], &last["type"]),
            (&json!("response.created"), &json!("response.completed"))
        );
        assert_eq!(first["response"]["id"], last["response"]["id"]);
        assert_eq!(last["response"]["output"][0]["content"][0]["text"], "Hello you");
        assert_eq!(last["response"]["usage"]["total_tokens"], 13);
        assert_eq!(events.len(), 4 + pieces + 4, "{events:?}");
    }
}

fn calls_a_tool(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let calls = vec![
        Part::text("Looking."),
        Part::ToolCall(ToolCallPart::new("c1", "find", r#"{"q":"tower"}"#)),
    ];
    Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, calls))))
}

#[tokio::test]
async fn a_model_stack_leaves_tools_to_the_client() {
    let tools =
        json!({"tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}]});
    let asked = Asked::default();
    let app: Router = responses_router().model("demo", asked.model(calls_a_tool)).into();
    let body = ask(&app, responses("demo", tools.clone())).await.json();
    assert!(asked.last().tools.find("find").is_some());
    let call = &body["output"][1];
    assert_eq!((&call["type"], &call["call_id"]), (&json!("function_call"), &json!("c1")));
    assert_eq!(call["arguments"], r#"{"q":"tower"}"#);

    let mut streamed = tools;
    streamed["stream"] = json!(true);
    let events = events(&ask(&app, responses("demo", streamed)).await);
    let last = &events.last().unwrap()["response"];
    assert_eq!(last["output"][1]["call_id"], "c1");
}

#[tokio::test]
async fn the_start_of_a_text_is_sent_before_more_of_it_comes() {
    let app = model(|_: &ModelRequest| {
        let begun = stream::iter([Ok(ModelEvent::PartStart {
            index: 0,
            part: tower_agent_core::PartStart::Text,
        })]);
        Ok(ModelResponse::stream(futures_util::StreamExt::chain(begun, stream::pending())))
    });
    let response = app.oneshot(responses("demo", json!({"stream": true}))).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    let mut seen = String::new();
    while !seen.contains("response.content_part.added") {
        let bytes = futures_util::StreamExt::next(&mut body).await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(&bytes).unwrap());
    }
}

#[tokio::test]
async fn an_agent_gets_the_conversation_and_says_what_it_said() {
    let seen = Seen::default();
    let app: Router = responses_router().agent("parrot", seen.agent(says("Polly"))).into();
    let more = json!({
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Hello"},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Hi", "annotations": []}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Again"}]}
        ],
        "text": {"format": {"type": "json_object"}},
        "store": true
    });
    let answer = ask(&app, responses("parrot", more)).await;
    assert_eq!(answer.json()["output"][0]["content"][0]["text"], "Polly");
    let run = seen.last();
    let texts: Vec<_> = run.conversation.iter().map(Message::text).collect();
    assert_eq!(texts, ["Be brief.", "Hello", "Hi"]);
    assert_eq!(run.input[0].text(), "Again");
    assert!(run.output.is_some());
    assert_eq!(run.context().run().agent(), "parrot");
}

#[tokio::test]
async fn an_agents_turns_are_one_message_with_an_empty_line_between() {
    let told = vec![
        RunEvent::Message { turn: 1, message: Message::assistant("Looking.") },
        RunEvent::Message { turn: 2, message: Message::assistant("Found.") },
        finished(),
    ];
    let app: Router = responses_router().agent("a", Seen::default().agent(told)).into();
    let events = events(&ask(&app, responses("a", json!({"stream": true}))).await);
    assert_eq!(text_of(&events), "Looking.\n\nFound.");
    assert_eq!(events.last().unwrap()["response"]["output"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_an_agent_cannot_do_is_refused() {
    let seen = Seen::default();
    let app: Router = responses_router().agent("a", seen.agent(says("x"))).into();
    let tools = json!({"tools": [{"type": "web_search"}]});
    let error = ask(&app, responses("a", tools)).await.error();
    assert_eq!((&error["param"], &error["code"]), (&json!("tools"), &json!("not_supported")));
    assert_eq!(seen.count(), 0);
}

#[tokio::test]
async fn what_needs_a_store_is_refused_with_a_way_out() {
    let stored = [
        ("previous_response_id", json!({"previous_response_id": "resp_1"})),
        ("conversation", json!({"conversation": {"id": "conv_1"}})),
        ("prompt", json!({"prompt": {"id": "pmpt_1"}})),
        ("background", json!({"background": true})),
        ("input", json!({"input": [{"type": "item_reference", "id": "msg_1"}]})),
    ];
    let asked = Asked::default();
    let app: Router = responses_router().model("demo", asked.model(hello)).into();
    for (field, more) in &stored {
        let answer = ask(&app, responses("demo", more.clone())).await;
        assert_eq!(answer.status, 400, "{field}");
        let error = answer.error();
        assert_eq!((&error["param"], &error["code"]), (&json!(field), &json!("not_stored")));
        assert!(error["message"].as_str().unwrap().contains("send"), "{error}");
    }
    assert_eq!(asked.count(), 0);
    // Nothing is meant by these.
    let unmeant = json!({"previous_response_id": null, "background": false, "conversation": null, "store": true});
    assert_eq!(ask(&app, responses("demo", unmeant)).await.status, 200);

    let seen = Seen::default();
    let storing: Router = responses_router()
        .model("demo", asked.model(hello))
        .agent("a", seen.agent(says("x")))
        .provider_stores()
        .into();
    for (field, more) in stored {
        assert_eq!(ask(&storing, responses("demo", more.clone())).await.status, 200, "{field}");
        let error = ask(&storing, responses("a", more)).await.error();
        assert_eq!(error["code"], "not_stored", "an agent goes on from nothing either");
    }
    assert_eq!(seen.count(), 0);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_with_its_field() {
    let app = model(hello);
    let cases = [
        (json!({"model": 7}), 400, json!("model")),
        (json!({"model": "none"}), 404, json!("model")),
        (json!({"input": 7}), 400, json!("input")),
        (json!({"input": []}), 400, json!("input")),
        (json!({"input": [{"role": "user", "content": 7}]}), 400, json!("input[0].content")),
        (json!({"stream": "yes"}), 400, json!("stream")),
    ];
    for (more, status, param) in cases {
        let answer = ask(&app, responses("demo", more.clone())).await;
        assert_eq!(answer.status, status, "{more}");
        assert_eq!(answer.error()["param"], param, "{more}");
    }
    let answer = ask(&app, post("/v1/responses", "{\"model\": ")).await;
    assert_eq!(answer.error()["code"], "invalid_json");
    let get = Request::get("/v1/responses").body(Body::empty()).unwrap();
    assert_eq!(ask(&app, get).await.status, 405);
}

#[tokio::test]
async fn a_denied_reply_is_incomplete_and_says_so() {
    let app =
        model(|request: &ModelRequest| Ok(request.denied(Denial::new("That is not allowed."))));
    let body = ask(&app, responses("demo", json!({}))).await.json();
    assert_eq!(
        (&body["status"], &body["incomplete_details"]),
        (&json!("incomplete"), &json!({"reason": "content_filter"}))
    );
    assert_eq!(body["output"][0]["content"][0]["text"], "That is not allowed.");
    let events = events(&ask(&app, responses("demo", json!({"stream": true}))).await);
    assert_eq!(events.last().unwrap()["type"], "response.incomplete");
}

#[tokio::test]
async fn a_stream_that_fails_ends_in_an_error_event() {
    let failing = |error: fn() -> Option<Error>| {
        model(move |_: &ModelRequest| {
            let events = [Ok(piece("Hel"))].into_iter().chain(error().map(Err));
            Ok(ModelResponse::stream(stream::iter(events.collect::<Vec<_>>())))
        })
    };
    let broken = || Some(Error::new(ErrorKind::Timeout, "upstream host 10.0.0.7 timed out"));
    for (app, code) in [(failing(broken), "timeout"), (failing(|| None), "upstream_broken")] {
        let answer = ask(&app, responses("demo", json!({"stream": true}))).await;
        let events = events(&answer);
        assert_eq!(text_of(&events), "Hel");
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["code"]), (&json!("error"), &json!(code)));
        assert_eq!(last["error"]["message"], last["message"]);
        assert!(!answer.body.contains("10.0.0.7") && !answer.body.contains("response.completed"));
        // Whole, it is an answer with a status.
        let whole = ask(&app, responses("demo", json!({}))).await;
        assert!(whole.status.is_server_error());
        assert_eq!(whole.error()["code"], code);
    }
}

#[tokio::test]
async fn it_stands_beside_chat_and_serves_the_same_models() {
    let models = Models::new().model("demo", Asked::default().model(hello));
    let app = Router::new()
        .merge(chat_router().models(models.clone()))
        .merge(responses_router().models(models));
    assert_eq!(ask(&app, responses("demo", json!({}))).await.status, 200);
    assert_eq!(ask(&app, chat("demo", json!({}))).await.status, 200);
    let other = post("/v1/responses/resp_1/cancel", "{}");
    assert_eq!(ask(&app, other).await.error()["code"], "unknown_url");
}

#[tokio::test]
async fn a_reader_that_goes_away_drops_its_run() {
    let counters = Counters::default();
    let told = counters.clone();
    let agent = tower::service_fn(move |_| {
        let stream = told.stream(says("x"), true);
        async move { Ok::<_, Error>(RunResponse::new(RunBody::new(stream))) }
    });
    let app: Router = responses_router().agent("a", agent).into();
    let response = app.oneshot(responses("a", json!({"stream": true}))).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    assert!(futures_util::StreamExt::next(&mut body).await.is_some());
    assert_eq!((counters.started(), counters.dropped()), (1, 0));
    drop(body);
    assert_eq!(counters.dropped(), 1);
}
