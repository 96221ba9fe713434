//! What goes to a provider for a caller: headers with a request, and whole requests.

#![cfg(all(test, feature = "openai", feature = "anthropic", feature = "forward"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, StatusCode, Uri},
    response::IntoResponse,
    routing::any,
};
use serde_json::json;
use tower::ServiceExt;
use tower_agent_core::{Message, ModelRequest};
use tower_agent_providers::{Anthropic, Forward, OpenAi};
use tower_agent_wire::CallerHeaders;

use support::{Server, script, serve};

/// Answers a chat with the headers that say who asks.
async fn who(headers: HeaderMap) -> impl IntoResponse {
    let names = ["authorization", "x-api-key", "anthropic-beta", "x-team"];
    let text =
        |name: &str| headers.get(name).map_or("-", |value| value.to_str().unwrap()).to_owned();
    let said = names.map(text).join(" | ");
    Json(
        json!({"content": [{"type": "text", "text": said}], "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}),
    )
}

async fn server() -> Server {
    serve(Router::new().fallback(any(who))).await
}

fn asked_by(headers: &[(&'static str, &'static str)]) -> ModelRequest {
    let mut request = ModelRequest::new("m", vec![Message::user("Hello")]);
    let headers =
        headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    request.ctx.extensions.insert(CallerHeaders::new(headers.collect()));
    request
}

async fn openai(server: &Server, passes: bool, request: ModelRequest) -> String {
    let model = OpenAi::builder(format!("http://{}/v1", server.addr))
        .api_key("sk-own")
        .header("x-team", "own");
    let model = model.caller_headers(passes).build().unwrap();
    model.oneshot(request).await.unwrap().body.collect().await.unwrap().message.text()
}

#[tokio::test]
async fn a_callers_key_takes_the_place_of_the_models_only_if_that_was_wished() {
    let server = server().await;
    let theirs = || asked_by(&[("authorization", "Bearer sk-theirs")]);
    assert_eq!(openai(&server, false, theirs()).await, "Bearer sk-own | - | - | own");
    assert_eq!(openai(&server, true, theirs()).await, "Bearer sk-theirs | - | - | own");
    // Without a key of the caller's, the model's own is sent.
    let none = asked_by(&[("x-team", "theirs")]);
    assert_eq!(openai(&server, true, none).await, "Bearer sk-own | - | - | theirs");
    assert_eq!(
        openai(&server, true, ModelRequest::new("m", vec![])).await,
        "Bearer sk-own | - | - | own"
    );
}

#[tokio::test]
async fn of_two_ways_to_say_who_asks_only_the_callers_is_sent() {
    let server = server().await;
    let model =
        Anthropic::builder(format!("http://{}/v1", server.addr)).api_key("own").beta("own-1");
    let model = model.caller_headers(true).build().unwrap();
    let request = asked_by(&[("authorization", "Bearer oauth"), ("anthropic-beta", "theirs-1")]);
    let reply = model.oneshot(request).await.unwrap().body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "Bearer oauth | - | theirs-1 | -");
}

#[tokio::test]
async fn a_server_that_repeats_a_callers_key_does_not_bring_it_into_an_error() {
    let app = Router::new().fallback(any(|headers: HeaderMap| async move {
        let key = headers["authorization"].to_str().unwrap().to_owned();
        (StatusCode::BAD_REQUEST, Json(json!({"error": {"message": format!("bad key {key}")}})))
    }));
    let server = serve(app).await;
    let model =
        OpenAi::builder(format!("http://{}/v1", server.addr)).caller_headers(true).build().unwrap();
    let error =
        model.oneshot(asked_by(&[("authorization", "Bearer sk-theirs")])).await.unwrap_err();
    assert!(error.to_string().contains("[secret]"), "{error}");
    assert!(!format!("{error:?} {error} {}", error.model_text()).contains("sk-theirs"));
}

fn forward<T>(server: &Server<T>) -> Forward {
    Forward::to(format!("http://{}", server.addr)).header("x-team", "own").build().unwrap()
}

#[tokio::test]
async fn a_request_is_forwarded_as_it_is() {
    let app = Router::new().fallback(any(|uri: Uri, request: Request| async move {
        let (parts, body) = request.into_parts();
        let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
        let names: Vec<_> = parts.headers.keys().map(|name| name.as_str().to_owned()).collect();
        let team = parts.headers["x-team"].to_str().unwrap();
        (
            StatusCode::CREATED,
            [("x-request-id", "r-1"), ("connection", "x-hop"), ("x-hop", "1")],
            format!("{} {uri} {team} {names:?} {body}", parts.method),
        )
    }));
    let server = serve(app).await;
    let request = Request::put("http://proxy.example/v1/files/a%20b?limit=2&after=c")
        .header("authorization", "Bearer sk-theirs")
        .header("x-team", "theirs")
        .header("connection", "x-private")
        .header("x-private", "1")
        .body(Body::from("a file"))
        .unwrap();
    let answer = forward(&server).oneshot(request).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["x-request-id"]),
        (201, &"r-1".parse().unwrap())
    );
    assert!(!answer.headers().contains_key("x-hop"));
    let body = to_bytes(Body::new(answer.into_body()), 1 << 20).await.unwrap();
    let body = std::str::from_utf8(&body).unwrap();
    assert!(body.starts_with("PUT /v1/files/a%20b?limit=2&after=c own ["), "{body}");
    assert!(body.ends_with("] a file"), "{body}");
    assert!(body.contains("\"authorization\"") && body.contains("\"content-length\""), "{body}");
    assert!(!body.contains("x-private") && !body.contains("transfer-encoding"), "{body}");
}

#[tokio::test]
async fn a_forwarded_answer_is_streamed() {
    let server = script(|mut socket| async move {
        socket.write_stream_head().await;
        socket.write_chunk("first").await;
        socket.closed().await;
    })
    .await;
    let answer = forward(&server)
        .oneshot(Request::post("/v1/x").body(Body::empty()).unwrap())
        .await
        .unwrap();
    let mut body = Body::new(answer.into_body()).into_data_stream();
    let first = futures_util::StreamExt::next(&mut body).await.unwrap().unwrap();
    assert_eq!(first, "first");
    // Dropping the body closes the connection, or the script would wait for ever.
    drop(body);
    server.done().await;
}

#[tokio::test]
async fn no_path_leads_out_of_the_folder() {
    let app = Router::new().fallback(any(|uri: Uri| async move { uri.to_string() }));
    let server = serve(app).await;
    let forward = Forward::to(format!("http://{}/tenant/", server.addr)).build().unwrap();
    let ask = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = forward.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = to_bytes(Body::new(answer.into_body()), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    };
    assert_eq!(ask("/v1/a/../files").await, (200, "/tenant/v1/files".to_owned()));
    for path in ["/../admin", "/%2e%2e/admin", "/v1/.%2E/../../tenants", "/.."] {
        let (status, body) = ask(path).await;
        assert_eq!(status, 404, "{path}: {body}");
        assert!(body.contains("unknown_url"), "{path}: {body}");
    }
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_an_answer() {
    let gone = server().await.addr;
    let forward = Forward::to(format!("http://{gone}")).build().unwrap();
    let answer =
        forward.oneshot(Request::get("/v1/files").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 502);
    let body = to_bytes(Body::new(answer.into_body()), 1 << 20).await.unwrap();
    assert!(body.starts_with(br#"{"error":{"message":"The provider could not be reached.""#));
}
