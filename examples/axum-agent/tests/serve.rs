//! The example as a user runs it: the program itself, over a socket.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

#[path = "support/mod.rs"]
mod support;

use serde_json::{Value, json};
use support::{PATIENCE, Server, failure};

#[tokio::test]
async fn the_page_comes_with_headers_that_shut_everything_else_out() {
    let server = Server::start(&[]).await;
    let page = server.get("/").await;
    assert_eq!(page.status(), 200);
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert!(header("content-type").starts_with("text/html"));
    assert!(
        header("content-security-policy").starts_with("default-src 'none'; script-src 'sha256-")
    );
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(page.text().await.unwrap().contains("id=\"prompt\""));
}

#[tokio::test]
async fn a_run_streams_its_steps_and_masks_the_secrets_of_a_file() {
    let server = Server::start(&[]).await;
    let events = server.run(json!({"text": "read config.toml"})).await;
    let names: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"started"));
    assert_eq!(names.last(), Some(&"finished"));
    assert!(names.iter().filter(|name| **name == "model").count() > 10, "{names:?}");

    let output = &tool_finished(&events)["output"];
    let text = output["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[database]") && text.contains("[REDACTED"), "{text}");
    for secret in ["hunter2", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI"] {
        assert!(!json!(events).to_string().contains(secret), "{secret}");
    }
    assert!(marked(output, "redact"), "{output}");
}

#[tokio::test]
async fn a_long_file_is_cut_and_the_cut_is_marked() {
    let server = Server::start(&[]).await;
    let events = server.run(json!({"text": "read logs/delivery.log"})).await;
    let output = &tool_finished(&events)["output"];
    assert!(output["content"][0]["text"].as_str().unwrap().len() <= 8_000);
    assert!(marked(output, "truncate"), "{output}");
    assert!(!json!(events).to_string().contains("ghp_EXAMPLE"));
}

#[tokio::test]
async fn the_allow_list_denies_what_the_model_was_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "keep me").unwrap();
    let server = Server::start(&["--root", folder.path().to_str().unwrap()]).await;
    let events = server.run(json!({"text": "delete notes.txt"})).await;
    let outcome = &tool_finished(&events)["output"]["outcome"];
    assert_eq!(outcome["status"], "denied");
    assert_eq!(outcome["layer"], "allow_list");
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "keep me");
}

#[tokio::test]
async fn nothing_outside_the_folder_is_read() {
    let server = Server::start(&[]).await;
    let events = server.run(json!({"text": "read ../Cargo.toml"})).await;
    let output = &tool_finished(&events)["output"];
    assert_eq!(output["outcome"]["status"], "failed");
    let text = output["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("leads out of the folder") && !text.contains("[package]"), "{text}");
}

#[tokio::test]
async fn several_calls_of_a_sentence_are_answered_in_one_turn() {
    let server = Server::start(&[]).await;
    let events = server.run(json!({"text": "What is in docs? Search for timeout in docs."})).await;
    let finished: Vec<_> = events.iter().filter(|event| event["type"] == "tool_finished").collect();
    assert_eq!(finished.len(), 2);
    assert_eq!(events.last().unwrap()["turns"], 2);
}

#[tokio::test]
async fn a_conversation_goes_on_with_what_its_client_kept() {
    let server = Server::start(&[]).await;
    let first = server.run(json!({"text": "read config.toml"})).await;
    let kept: Vec<_> = first
        .iter()
        .filter(|event| event["type"] == "message")
        .map(|event| &event["message"])
        .collect();
    let second = server.run(json!({"text": "read notes.txt", "conversation": kept})).await;
    assert_ne!(tool_finished(&first)["id"], tool_finished(&second)["id"]);
    assert_eq!(second.last().unwrap()["type"], "finished");
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_an_error_that_tells_no_internals() {
    let server = Server::start(&[]).await;
    for (text, code) in
        [("simulate a failure", "upstream_failed"), ("break off", "upstream_broken")]
    {
        let events = server.run(json!({"text": text})).await;
        let error = &events.last().unwrap()["error"];
        assert_eq!(error["code"], code, "{events:?}");
        assert!(error["message"].as_str().unwrap().ends_with("as it was asked to."), "{error}");
        assert!(!error.to_string().contains("simulated"), "{error}");
    }
}

#[tokio::test]
async fn bad_requests_are_refused_in_openais_shape() {
    let server = Server::start(&[]).await;
    let cases = [("{", 400), ("{}", 400), (r#"{"text": "hi", "model": "other"}"#, 400)];
    for (body, status) in cases {
        let answer = server.post("/v1/runs", body.to_owned()).await;
        assert_eq!(answer.status(), status, "{body}");
        let error = answer.json::<Value>().await.unwrap();
        assert!(error["error"]["message"].is_string(), "{error}");
    }
    let large = format!(r#"{{"text": "{}"}}"#, "x".repeat(2 << 20));
    let answer = server.post("/v1/runs", large).await;
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "body_too_large");
}

#[tokio::test]
async fn any_client_of_openais_api_reaches_the_agent_or_brings_tools_of_its_own() {
    let server = Server::start(&[]).await;
    let ask = |model: &str, more: Value| {
        let mut body = json!({"model": model, "messages": [{"role": "user", "content": "call weather with city Oslo"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/chat/completions", body.to_string())
    };
    let answer: Value = ask("demo", json!({})).await.json().await.unwrap();
    let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("could not call **weather**"), "{answer}");

    let tools = json!({"tools": [{"type": "function", "function": {"name": "weather"}}]});
    let answer: Value = ask("demo-bare", tools).await.json().await.unwrap();
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "weather", "{answer}");
    assert_eq!(call["arguments"], r#"{"city":"Oslo"}"#);
}

#[tokio::test]
async fn any_client_of_anthropics_api_reaches_the_agent_or_brings_tools_of_its_own() {
    let server = Server::start(&[]).await;
    let ask = |model: &str, more: Value| {
        let mut body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": "call weather with city Oslo"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/messages", body.to_string())
    };
    let answer: Value = ask("demo", json!({})).await.json().await.unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("could not call **weather**"), "{answer}");

    let tools = json!({"tools": [{"name": "weather", "input_schema": {"type": "object"}}]});
    let answer: Value = ask("demo-bare", tools).await.json().await.unwrap();
    let call = &answer["content"][0];
    assert_eq!(
        (&call["name"], &call["input"]),
        (&json!("weather"), &json!({"city": "Oslo"})),
        "{answer}"
    );
}

/// A run of an agent whose model is behind another server: two calls, one of them denied, and an answer in pieces.
async fn runs_before(api: &str) {
    let far = Server::start(&[]).await;
    let base_url = format!("http://{}/v1", far.addr());
    let near =
        Server::start(&["--base-url", &base_url, "--model", "demo-bare", "--api", api]).await;
    let events = near.run(json!({"text": "read notes.txt and delete notes.txt"})).await;
    let outcomes: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "tool_finished")
        .map(|event| event["output"]["outcome"]["status"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes.len(), 2, "{events:?}");
    assert!(outcomes.contains(&"success") && outcomes.contains(&"denied"), "{outcomes:?}");
    assert_eq!(events.last().unwrap()["type"], "finished");
    let pieces = events.iter().filter(|event| event["event"]["event"] == "part_delta").count();
    assert!(pieces > 10, "it came in {pieces} pieces");
}

#[tokio::test]
async fn the_same_stacks_stand_before_a_model_behind_openais_api() {
    runs_before("openai").await;
}

#[tokio::test]
async fn any_client_of_openais_responses_reaches_the_agent_or_brings_tools_of_its_own() {
    let server = Server::start(&[]).await;
    let ask = |model: &str, more: Value| {
        let mut body = json!({"model": model, "input": "call weather with city Oslo"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/responses", body.to_string())
    };
    let answer: Value = ask("demo", json!({})).await.json().await.unwrap();
    let text = answer["output"][0]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("could not call **weather**"), "{answer}");

    let tools = json!({"tools": [{"type": "function", "name": "weather"}]});
    let answer: Value = ask("demo-bare", tools).await.json().await.unwrap();
    let call = &answer["output"][0];
    assert_eq!(call["name"], "weather", "{answer}");
    assert_eq!(call["arguments"], r#"{"city":"Oslo"}"#);
}

#[tokio::test]
async fn the_same_stacks_stand_before_a_model_behind_openais_responses() {
    runs_before("responses").await;
}

#[tokio::test]
async fn the_same_stacks_stand_before_a_model_behind_anthropics_api() {
    runs_before("anthropic").await;
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_run() {
    let server = Server::start(&[]).await;
    let mut stream = server.post("/v1/runs", json!({"text": "count to 500"}).to_string()).await;
    stream.chunk().await.unwrap();
    drop(stream);
    let cancelled = r#"{operation="run",name="demo",outcome="cancelled"} 1"#;
    let counted =
        async { while !server.get("/metrics").await.text().await.unwrap().contains(cancelled) {} };
    tokio::time::timeout(PATIENCE, counted).await.unwrap();
}

#[tokio::test]
async fn a_page_that_comes_under_a_foreign_name_is_turned_away() {
    let server = Server::start(&[]).await;
    assert_eq!(server.get_as("evil.example", "/stack").await.status(), 403);
    assert_eq!(server.get_as("localhost", "/stack").await.status(), 200);
}

#[tokio::test]
async fn the_stack_is_shown_as_it_was_built() {
    let server = Server::start(&[]).await;
    let stack: Value = server.get("/stack").await.json().await.unwrap();
    let layers = |kind: &str| stack[kind].to_string();
    assert!(layers("tools").contains(r#""allow_list""#), "{stack}");
    for stock in ["load_shed", "buffer", "rate_limit"] {
        assert!(layers("model").contains(stock), "{stack}");
    }
    assert!(layers("model").ends_with(r#""demo"]"#), "{stack}");
    assert!(layers("run").ends_with(r#""agent"]"#), "{stack}");
}

#[tokio::test]
async fn a_flag_that_cannot_be_understood_is_a_usage_error() {
    let (code, text) = failure(&["--port", "1"]).await;
    assert_eq!((code, text.lines().count()), (Some(2), 1), "{text}");
}

#[tokio::test]
async fn what_stops_the_server_from_starting_is_said_in_one_line() {
    let server = Server::start(&[]).await;
    let (code, text) = failure(&["--addr", server.addr()]).await;
    assert_eq!((code, text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("cannot listen on"), "{text}");

    let (code, text) = failure(&["--addr", "127.0.0.1:0", "--root", "/no/such/folder"]).await;
    assert_eq!((code, text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("/no/such/folder"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_lets_what_was_begun_finish() {
    let mut server = Server::start(&[]).await;
    let mut stream = server.post("/v1/runs", json!({"text": "count to 60"}).to_string()).await;
    let mut text = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    server.signal("TERM").await;
    while let Some(chunk) = stream.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert!(text.contains("event: finished"), "{text}");
    assert_eq!(server.ended().await.code(), Some(0));
}

fn tool_finished(events: &[Value]) -> &Value {
    let finished = events.iter().find(|event| event["type"] == "tool_finished");
    finished.unwrap_or_else(|| panic!("no tool finished: {events:?}"))
}

fn marked(output: &Value, layer: &str) -> bool {
    let marks = output["provenance"]["marks"].as_array();
    marks.is_some_and(|marks| marks.iter().any(|mark| mark["layer"] == layer))
}
