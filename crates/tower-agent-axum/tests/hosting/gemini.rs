//! Gemini's API in front of agents and model stacks.

use axum::{Router, body::Body, http::Request, routing::get};
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tower_agent_axum::{ApiError, Identity, Models, chat_router, gemini_router, messages_router};
use tower_agent_core::{
    Denial, Error, ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse,
    Operation, Part, PartDelta, Reply, Role, ToolCallPart, Usage,
};

use crate::support::{Answer, Asked, Seen, ask, chat, post, says};

/// A request with one content of the user, and more fields.
fn content(method: &str, more: impl Into<Value>) -> Request<Body> {
    let mut body = json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]});
    let Value::Object(more) = more.into() else { panic!("more fields are an object") };
    body.as_object_mut().unwrap().extend(more);
    post(&format!("/v1beta/models/{method}"), body.to_string())
}

/// The events of a stream.
#[track_caller]
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), "text/event-stream", "{}", answer.body);
    answer.events().into_iter().map(|(_, _, data)| data).collect()
}

fn text_of(events: &[Value]) -> String {
    let parts =
        events.iter().filter_map(|event| event["candidates"][0]["content"]["parts"].as_array());
    parts.flatten().filter_map(|part| part["text"].as_str()).collect()
}

/// The error of an answer, whose shape is checked.
#[track_caller]
fn error(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json", "{}", answer.body);
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], answer.status.as_u16());
    assert!(error["message"].is_string() && error["status"].is_string(), "{error}");
    error
}

fn hello(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let reply = Reply::new(Message::assistant("Hello you")).with_usage(Usage::new(9, 4));
    Ok(ModelResponse::full(reply))
}

/// The same, in pieces, as a client of OpenAI's API would get it.
fn hello_streamed(_: &ModelRequest) -> Result<ModelResponse, Error> {
    let piece =
        |text: &str| ModelEvent::PartDelta { index: 1, delta: PartDelta::Text(text.into()) };
    let events = [
        ModelEvent::Start { id: None, model: None, extra: None },
        piece("Hello"),
        piece(" you"),
        ModelEvent::PartEnd { index: 1, extra: None },
        ModelEvent::Finish { reason: FinishReason::Stop },
        ModelEvent::Usage { usage: Usage::new(9, 4) },
    ];
    Ok(ModelResponse::stream(stream::iter(events.map(Ok))))
}

fn app(
    answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
) -> Router {
    gemini_router().model("demo", Asked::default().model(answer)).into()
}

#[tokio::test]
async fn a_whole_reply_has_all_that_clients_read() {
    for answer in [hello, hello_streamed] {
        let answer = ask(&app(answer), content("demo:generateContent", json!({}))).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "application/json")
        );
        let mut body = answer.json();
        let id = body.as_object_mut().unwrap().remove("responseId").unwrap();
        assert_eq!(id.as_str().unwrap(), answer.header("x-run-id").replace('-', ""));
        assert_eq!(
            body,
            json!({
                "candidates": [{"content": {"parts": [{"text": "Hello you"}], "role": "model"}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13},
                "modelVersion": "demo"
            })
        );
    }
}

#[tokio::test]
async fn a_streamed_reply_comes_in_events_or_in_one_array() {
    let asked = Asked::default();
    let app: Router = gemini_router().model("demo", asked.model(hello_streamed)).into();
    let answer = ask(&app, content("demo:streamGenerateContent?alt=sse", json!({}))).await;
    let list = events(&answer);
    assert!(asked.last().stream);
    assert_eq!(asked.last().model, "demo");
    assert_eq!(text_of(&list), "Hello you");
    let last = list.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert_eq!(last["usageMetadata"]["totalTokenCount"], 13);

    let answer = ask(&app, content("demo:streamGenerateContent", json!({}))).await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.json(), Value::Array(with_id(list, &answer)));
}

fn with_id(mut events: Vec<Value>, answer: &Answer) -> Vec<Value> {
    let id = answer.header("x-run-id").replace('-', "");
    events.iter_mut().for_each(|event| event["responseId"] = id.clone().into());
    events
}

#[tokio::test]
async fn a_model_stack_gets_all_that_the_client_sent() {
    let asked = Asked::default();
    let app: Router = gemini_router().model("demo", asked.model(hello)).into();
    let more = json!({
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}]}, {"googleSearch": {}}],
        "generationConfig": {"maxOutputTokens": 7, "topK": 3},
        "safetySettings": [{"category": "A", "threshold": "B"}]
    });
    // The other version of the API, and a name with a folder.
    let mut request = content("demo:generateContent", more);
    *request.uri_mut() = "/v1/models/demo:generateContent".parse().unwrap();
    assert_eq!(ask(&app, request).await.status, 200);
    let request = asked.last();
    assert_eq!(request.instructions.as_deref(), Some("Be brief."));
    assert_eq!(request.sampling.max_output_tokens, Some(7));
    let names: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["f", "googleSearch"]);
    assert_eq!(
        request.tools[0].input_schema.as_str(),
        r#"{"properties":{"a":{"type":"string"}},"type":"object"}"#
    );
    assert_eq!(
        request.extra.as_ref().unwrap().as_str(),
        r#"{"gemini":{"safetySettings":[{"category":"A","threshold":"B"}],"generationConfig":{"topK":3}}}"#
    );
}

#[tokio::test]
async fn calls_of_functions_are_the_clients_to_make() {
    let app = app(|_| {
        let call = Part::ToolCall(ToolCallPart::new("c1", "weather", r#"{"city":"Oslo"}"#));
        Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, vec![call]))))
    });
    let expected =
        json!([{"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Oslo"}}}]);
    let whole = ask(&app, content("demo:generateContent", json!({}))).await.json();
    assert_eq!(whole["candidates"][0]["content"]["parts"], expected);
    let list = events(&ask(&app, content("demo:streamGenerateContent?alt=sse", json!({}))).await);
    assert_eq!(list[0]["candidates"][0]["content"]["parts"], expected);
    assert_eq!(list[0]["candidates"][0]["finishReason"], "STOP");
}

#[tokio::test]
async fn an_agent_answers_and_takes_no_tools() {
    let seen = Seen::default();
    let app: Router = gemini_router().agent("parrot", seen.agent(says("Hello!"))).into();
    let answer = ask(&app, content("parrot:generateContent", json!({}))).await;
    assert_eq!(text_of(&[answer.json()]), "Hello!");
    let list = events(&ask(&app, content("parrot:streamGenerateContent?alt=sse", json!({}))).await);
    assert_eq!(text_of(&list), "Hello!");
    let tools = json!({"tools": [{"functionDeclarations": [{"name": "f"}]}]});
    let refused = ask(&app, content("parrot:generateContent", tools)).await;
    assert_eq!(
        (refused.status.as_u16(), &error(&refused)["status"]),
        (400, &json!("INVALID_ARGUMENT"))
    );
    let details = &error(&refused)["details"];
    assert_eq!(details[0]["reason"], "not_supported");
    assert_eq!(details[1]["fieldViolations"][0]["field"], "tools");
    assert_eq!(seen.count(), 2);
}

#[tokio::test]
async fn models_are_listed_as_this_api_does() {
    let models = Models::new()
        .model("demo", Asked::default().model(hello))
        .agent("parrot", Seen::default().agent(says("Hello!")));
    let app: Router = gemini_router().models(models).into();
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    let list = ask(&app, get("/v1beta/models")).await.json();
    let names: Vec<_> =
        list["models"].as_array().unwrap().iter().map(|model| &model["name"]).collect();
    assert_eq!(names, ["models/demo", "models/parrot"]);
    let one = ask(&app, get("/v1beta/models/demo")).await.json();
    assert_eq!(one["supportedGenerationMethods"][1], "streamGenerateContent");
    let none = ask(&app, get("/v1beta/models/nobody")).await;
    assert_eq!((none.status.as_u16(), &error(&none)["status"]), (404, &json!("NOT_FOUND")));
}

#[tokio::test]
async fn errors_have_this_dialects_form() {
    let busy = |_: &ModelRequest| Err(Error::new(ErrorKind::Overloaded, "queue on db-7 is full"));
    let denied = |request: &ModelRequest| Ok(request.denied(Denial::new("Not today.")));
    let app: Router = gemini_router()
        .model("demo", Asked::default().model(hello))
        .model("busy", Asked::default().model(busy))
        .model("denied", Asked::default().model(denied))
        .into();
    for (request, status, name) in [
        (content("nobody:generateContent", json!({})), 404, "NOT_FOUND"),
        (content("demo:countTokens", json!({})), 404, "NOT_FOUND"),
        (content("demo", json!({})), 404, "NOT_FOUND"),
        (content("busy:streamGenerateContent?alt=sse", json!({})), 503, "UNAVAILABLE"),
        (content("demo:generateContent", json!({"contents": []})), 400, "INVALID_ARGUMENT"),
        (
            content("demo:generateContent", json!({"contents": [{"parts": [{"text": 7}]}]})),
            400,
            "INVALID_ARGUMENT",
        ),
        (post("/v1beta/models/demo:generateContent", "{"), 400, "INVALID_ARGUMENT"),
        (
            Request::delete("/v1beta/models/demo").body(Body::empty()).unwrap(),
            405,
            "INVALID_ARGUMENT",
        ),
    ] {
        let uri = request.uri().to_string();
        let answer = ask(&app, request).await;
        let error = error(&answer);
        assert_eq!(
            (answer.status.as_u16(), error["status"].as_str().unwrap()),
            (status, name),
            "{uri}"
        );
        assert!(!answer.body.contains("db-7"));
    }
    let wait = error(&ask(&app, content("busy:generateContent", json!({}))).await);
    assert_eq!(wait["details"][1]["retryDelay"], "1s");
    let field =
        ask(&app, content("demo:generateContent", json!({"contents": [{"parts": [{"text": 7}]}]})))
            .await;
    assert_eq!(
        error(&field)["details"][1]["fieldViolations"][0]["field"],
        "contents[0].parts[0].text"
    );
    let denied = ask(&app, content("denied:generateContent", json!({}))).await.json();
    assert_eq!(denied["candidates"][0]["finishReason"], "SAFETY");
    assert_eq!(text_of(&[denied]), "Not today.");
}

#[tokio::test]
async fn a_stream_that_breaks_ends_with_an_error_in_both_forms() {
    let app = app(|_| {
        let piece = ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("Hel".into()) };
        let fault = Error::new(ErrorKind::Timeout, "the provider was silent on db-7");
        Ok(ModelResponse::stream(stream::iter([Ok(piece), Err(fault)])))
    });
    let streamed = ask(&app, content("demo:streamGenerateContent?alt=sse", json!({}))).await;
    let listed = ask(&app, content("demo:streamGenerateContent", json!({}))).await;
    for list in [events(&streamed), serde_json::from_str(&listed.body).unwrap()] {
        assert_eq!(list.last().unwrap()["error"]["status"], "DEADLINE_EXCEEDED");
        assert!(list.iter().all(|event| event["candidates"][0]["finishReason"].is_null()));
    }
    assert!(!streamed.body.contains("db-7") && !listed.body.contains("db-7"));
}

#[tokio::test]
async fn a_caller_is_known_by_the_key_in_its_header() {
    let identify = |headers: &HeaderMap| match headers.get("x-goog-api-key") {
        Some(key) if key == "k-ada" => Ok(Identity::default().with_user("ada")),
        _ => Err(ApiError::unauthorized("send a key as `x-goog-api-key`")),
    };
    let asked = Asked::default();
    let app: Router = gemini_router()
        .model("demo", asked.model(hello))
        .identity(move |parts| identify(&parts.headers))
        .into();
    let refused = ask(&app, content("demo:generateContent?key=k-ada", json!({}))).await;
    assert_eq!(
        (refused.status.as_u16(), &error(&refused)["status"]),
        (401, &json!("UNAUTHENTICATED"))
    );
    let mut known = content("demo:generateContent", json!({}));
    known.headers_mut().insert("x-goog-api-key", "k-ada".parse().unwrap());
    assert_eq!(ask(&app, known).await.status, 200);
    assert_eq!(asked.last().ctx.run().user().map(|user| user.as_str()), Some("ada"));
}

#[tokio::test]
async fn it_lives_beside_the_other_dialects() {
    let models = Models::new().model("demo", Asked::default().model(hello));
    let routers: [fn(Models) -> Router; 3] = [
        |models| chat_router().models(models).into(),
        |models| messages_router().models(models).into(),
        |models| gemini_router().models(models).into(),
    ];
    let app = routers.iter().fold(Router::new(), |app, router| app.merge(router(models.clone())));
    let app = app.route("/own", get(|| async { StatusCode::NO_CONTENT }));
    for path in ["/v1beta/models/demo:generateContent", "/v1/models/demo:generateContent"] {
        let mut request = content("demo:generateContent", json!({}));
        *request.uri_mut() = path.parse().unwrap();
        assert_eq!(text_of(&[ask(&app, request).await.json()]), "Hello you", "{path}");
    }
    assert_eq!(ask(&app, chat("demo", json!({}))).await.status, 200);
    let list = ask(&app, Request::get("/v1/models").body(Body::empty()).unwrap()).await.json();
    assert_eq!(list["data"][0]["id"], "demo");
    let one = ask(&app, Request::get("/v1/models/demo").body(Body::empty()).unwrap()).await.json();
    assert_eq!(one["object"], "model");
}
