//! Headers of answers that are kept for layers and for the clients of a proxy.

#![cfg(all(
    test,
    feature = "anthropic",
    feature = "gemini",
    feature = "openai",
    feature = "openai-responses"
))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test fails the test"
)]

mod support;

use std::collections::BTreeSet;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tower_agent_core::{Extensions, ModelRequest};
use tower_agent_providers::{Anthropic, Gemini, OpenAi, OpenAiResponses};
use tower_agent_wire::{CallerHeaders, ProviderHeaders};

use support::{Model, Server, ask, request, script};

/// The names of one column of the table.
fn names(column: &str) -> BTreeSet<String> {
    let table: Value = serde_json::from_str(include_str!("data/headers.json")).unwrap();
    serde_json::from_value(table[column].clone()).unwrap()
}

/// A reply that every dialect takes for its own.
fn reply() -> Value {
    json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "role": "assistant", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn",
        "status": "completed", "output": [],
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
    })
}

/// Answers one request with a status, more headers and a body.
async fn answers(status: &str, headers: &str, kind: &str, body: impl Into<String>) -> Server {
    let body = body.into();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    script(move |mut socket| async move { socket.write(&head).await }).await
}

async fn whole(headers: &str) -> Server {
    answers("200 OK", headers, "application/json", reply().to_string()).await
}

/// Every header of the table that frames no body.
fn all() -> String {
    let framing = ["connection", "content-encoding", "content-length", "transfer-encoding"];
    let columns = ["usual", "only_if_named", "never"].into_iter().flat_map(names);
    let sent = columns.filter(|name| !framing.contains(&name.as_str()));
    sent.map(|name| format!("{name}: 1\r\n")).collect()
}

fn kept(extensions: &Extensions) -> BTreeSet<String> {
    let kept = extensions.get::<ProviderHeaders>();
    kept.iter().flat_map(|kept| kept.as_map().keys()).map(ToString::to_string).collect()
}

async fn kept_by(model: impl Model) -> BTreeSet<String> {
    kept(&ask(model, false).await.unwrap().head.extensions)
}

#[tokio::test]
async fn what_is_said_of_the_request_is_kept_without_being_asked_for() {
    let usual = names("usual");
    let server = whole(&all()).await;
    assert_eq!(kept_by(server.model()).await, usual);
    let server = whole(&all()).await;
    let url = format!("http://{}/v1", server.addr);
    assert_eq!(kept_by(OpenAiResponses::builder(url).build().unwrap()).await, usual);
    let server = whole(&all()).await;
    let url = format!("http://{}/v1", server.addr);
    assert_eq!(kept_by(Anthropic::builder(url).build().unwrap()).await, usual);
    let server = whole(&all()).await;
    let url = format!("http://{}/v1beta", server.addr);
    assert_eq!(kept_by(Gemini::builder(url).build().unwrap()).await, usual);
}

#[tokio::test]
async fn more_is_kept_where_it_is_named() {
    let server = whole(&all()).await;
    let named = names("only_if_named");
    let builder = named.iter().fold(server.builder(), |builder, name| builder.keep_header(name));
    assert_eq!(kept_by(builder.build().unwrap()).await, &names("usual") | &named);

    let server = whole(&all()).await;
    let model = server.builder().keep_header("X-Groq-*").build().unwrap();
    let more = BTreeSet::from(["x-groq-region".to_owned()]);
    assert_eq!(kept_by(model).await, &names("usual") | &more);
}

#[tokio::test]
async fn what_must_not_go_on_is_never_kept_by_whatever_name() {
    let never = names("never");
    for name in &never {
        let named = OpenAi::builder("http://127.0.0.1:1").keep_header(name).build();
        assert!(named.is_err(), "{name}");
        assert!(!ProviderHeaders::may_hold(&name.parse().unwrap()), "{name}");
    }
    let beginnings = ["a*", "c*", "p*", "s*", "x-*", "w*"];
    let server = whole(&all()).await;
    let builder =
        beginnings.iter().fold(server.builder(), |builder, name| builder.keep_header(name));
    let kept = kept_by(builder.build().unwrap()).await;
    assert_eq!(kept.intersection(&never).count(), 0, "{kept:?}");
    assert!(kept.contains("cf-ray") && kept.contains("server-timing"), "{kept:?}");
    for bad in ["", "*", "a b", "x-*-y", "content-*", "access-control-allow-*", "x-accel-*"] {
        assert!(OpenAi::builder("http://127.0.0.1:1").keep_header(bad).build().is_err(), "{bad:?}");
    }
}

#[tokio::test]
async fn what_the_upstream_says_belongs_to_its_connection_stays_there() {
    let server = whole("connection: close, X-Ratelimit-Hop\r\nx-ratelimit-hop: 1\r\n").await;
    assert_eq!(kept_by(server.model()).await, BTreeSet::new());
}

#[tokio::test]
async fn streams_and_refusals_have_their_headers_as_well() {
    let limits = "x-ratelimit-remaining-requests: 0\r\nx-request-id: r-1\r\n";
    let expected =
        BTreeSet::from(["x-ratelimit-remaining-requests".to_owned(), "x-request-id".to_owned()]);
    let server = answers("200 OK", limits, "text/event-stream", support::FINISH).await;
    let response = ask(server.model(), true).await.unwrap();
    assert_eq!(kept(&response.head.extensions), expected);
    assert!(!format!("{:?}", response.head.extensions).contains("r-1"));
    response.body.collect().await.unwrap();

    let body = r#"{"error": {"message": "slow down"}}"#;
    for (status, body) in
        [("429 Too Many Requests", body), ("500 Oops", "no JSON"), ("200 OK", "{")]
    {
        let server = answers(status, limits, "application/json", body).await;
        let error = ask(server.model(), false).await.unwrap_err();
        assert_eq!(kept(error.extensions()), expected, "{status}: {error}");
    }
}

#[tokio::test]
async fn a_header_that_repeats_a_key_is_not_kept() {
    let headers = "x-request-id: for sk-own\r\nrequest-id: sk-theirs-7\r\nretry-after: 1\r\n";
    let server = whole(headers).await;
    let model = server.builder().api_key("sk-own").caller_headers(true).build().unwrap();
    let mut request: ModelRequest = request(false);
    let theirs = (HeaderName::from_static("x-api-key"), HeaderValue::from_static("sk-theirs"));
    request.ctx.extensions.insert(CallerHeaders::new(HeaderMap::from_iter([theirs])));
    let response = tower::ServiceExt::oneshot(model, request).await.unwrap();
    assert_eq!(kept(&response.head.extensions), BTreeSet::from(["retry-after".to_owned()]));
}

#[tokio::test]
async fn several_values_of_a_header_are_all_kept() {
    let server = whole("ratelimit: \"minute\";r=1\r\nratelimit: \"day\";r=9\r\n").await;
    let response = ask(server.model(), false).await.unwrap();
    let kept = response.head.extensions.get::<ProviderHeaders>().unwrap();
    let values: Vec<_> = kept.as_map().get_all("ratelimit").iter().collect();
    assert_eq!(values, ["\"minute\";r=1", "\"day\";r=9"]);
}
