use std::time::Duration;

use axum::{Router, body::Body, http::Request};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::service_fn;
use tower_agent_axum::run_router;
use tower_agent_core::{
    Denial, Error, ErrorKind, Json, Message, Operation, Part, Role, RunBody, RunEvent, RunRequest,
    RunResponse, ToolCallPart, ToolOutput, ToolResultPart, Transcript,
};
use uuid::Uuid;

use crate::support::{Answer, Seen, ask, finished, post, says, wants_json, with_header};

fn app(seen: &Seen, events: Vec<RunEvent>) -> Router {
    Router::new().merge(run_router(seen.agent(events)))
}

#[tokio::test]
async fn each_event_of_the_run_is_sent_in_order_under_its_name_and_number() {
    let events = says("two\nlines, \"quotes\" and ünïcödé \u{2028}");
    let answer =
        ask(&app(&Seen::default(), events.clone()), post("/v1/runs", r#"{"text":"hi"}"#)).await;

    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.header("cache-control"), "no-cache");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let sent = answer.events();
    let names: Vec<_> = sent.iter().map(|(name, id, _)| (name.as_str(), id.as_str())).collect();
    assert_eq!(
        names,
        [("started", "1"), ("turn_started", "2"), ("message", "3"), ("finished", "4")]
    );
    let read: Vec<RunEvent> =
        sent.into_iter().map(|(_, _, data)| serde_json::from_value(data).unwrap()).collect();
    assert_eq!(read, events);
}

#[tokio::test]
async fn the_short_forms_are_one_message_of_the_user() {
    for body in [
        r#"{"text":"hi"}"#,
        r#"{"input":"hi"}"#,
        r#"{"input":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]}"#,
    ] {
        let seen = Seen::default();
        ask(&app(&seen, says("ho")), post("/v1/runs", body)).await;
        assert_eq!(*seen.last().input, [Message::user("hi")], "{body}");
    }
}

#[tokio::test]
async fn a_whole_run_request_arrives_as_it_was_written() {
    let mut request = RunRequest::user("and now?");
    let call = ToolCallPart::new("c1", "search", r#"{"n": 9007199254740993}"#);
    let output = ToolOutput::text("found");
    request.conversation = vec![
        Message::user("before"),
        Message::new(Role::Assistant, vec![Part::text("hm"), Part::ToolCall(call)]),
        Message::tool_result(ToolResultPart::new("c1".into(), "search".into(), &output)),
    ]
    .into();
    request.limits.turns = Some(3);
    request.instructions = Some("be brief".into());
    request.model = Some("small".into());
    request.extra = Some(Json::from_text(r#"{"effort":"low"}"#));
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho"))).allow_overrides().into();

    let body = serde_json::to_string(&request).unwrap();
    let answer = ask(&app, post("/v1/runs", body)).await;

    assert_eq!(answer.status, 200, "{}", answer.body);
    let arrived = seen.last();
    assert_eq!(arrived.conversation, request.conversation);
    assert_eq!(arrived.input, request.input);
    assert_eq!(arrived.limits, request.limits);
    assert_eq!(arrived.instructions, request.instructions);
    assert_eq!(arrived.model, request.model);
    assert_eq!(arrived.extra, request.extra);
    assert!(!arrived.stream, "a request that says `false` means it");
}

#[tokio::test]
async fn the_model_streams_when_the_answer_does_unless_the_caller_says_otherwise() {
    for (accept, body, stream) in [
        ("*/*", r#"{"text":"hi"}"#, true),
        ("*/*", r#"{"text":"hi","stream":false}"#, false),
        ("application/json", r#"{"text":"hi"}"#, false),
        ("application/json", r#"{"text":"hi","stream":true}"#, true),
    ] {
        let seen = Seen::default();
        let request = with_header(post("/v1/runs", body), "accept", accept);
        assert_eq!(ask(&app(&seen, says("ho")), request).await.status, 200);
        assert_eq!(seen.last().stream, stream, "{accept} {body}");
    }
}

#[tokio::test]
async fn the_form_of_the_answer_goes_by_accept() {
    const SSE: &str = "text/event-stream";
    const JSON: &str = "application/json";
    for (accept, form) in [
        ("", SSE),
        ("*/*", SSE),
        ("text/event-stream", SSE),
        ("application/json", JSON),
        ("Application/JSON; charset=utf-8", JSON),
        ("application/json, text/event-stream", SSE),
        ("application/json, text/event-stream;q=0.9", JSON),
        ("application/*", JSON),
        ("text/html, application/json;q=0.5, */*;q=0.1", JSON),
        ("text/event-stream;q=0, */*", JSON),
        ("text/html", ""),
        ("application/json;q=0, text/event-stream;q=0.0", ""),
        ("application/json;q=nonsense", ""),
    ] {
        let mut request = post("/v1/runs", r#"{"text":"hi"}"#);
        if !accept.is_empty() {
            request = with_header(request, "accept", accept);
        }
        let answer = ask(&app(&Seen::default(), says("ho")), request).await;
        match form {
            "" => {
                assert_eq!(answer.status, 406, "{accept}");
                assert_eq!(answer.error()["code"], "not_acceptable");
            }
            form => assert_eq!(answer.header("content-type"), form, "{accept}"),
        }
    }
}

#[tokio::test]
async fn with_accept_json_the_answer_is_the_transcript() {
    let events = says("ho");
    let request = wants_json(post("/v1/runs", r#"{"text":"hi"}"#));
    let answer = ask(&app(&Seen::default(), events.clone()), request).await;

    assert_eq!(answer.status, 200);
    let expected = RunBody::from_events(events).collect().await.unwrap();
    assert_eq!(serde_json::from_str::<Transcript>(&answer.body).unwrap(), expected);
}

#[tokio::test]
async fn every_run_has_an_id_of_its_own_that_the_response_names() {
    let seen = Seen::default();
    let app = app(&seen, says("ho"));
    let mut ids = Vec::new();
    for _ in 0..2 {
        let answer = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
        assert_eq!(seen.last().ctx.run().id().as_str(), answer.header("x-run-id"));
        assert_eq!(Uuid::parse_str(answer.header("x-run-id")).unwrap().get_version_num(), 7);
        ids.push(answer.header("x-run-id").to_owned());
    }
    assert_ne!(ids[0], ids[1]);

    let refused = ask(&app, post("/v1/runs", "{")).await;
    assert_eq!(refused.status, 400);
    assert!(!refused.header("x-run-id").is_empty(), "a refusal can be found in the log, too");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_stands_in_the_context() {
    let seen = Seen::default();
    let limit = Duration::from_secs(30);
    let app: Router = run_router(seen.agent(says("ho"))).deadline(limit).into();
    ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    let deadline = seen.last().ctx.deadline().unwrap();
    assert_eq!(Instant::from_std(deadline) - Instant::now(), limit);

    let endless: Router = run_router(seen.agent(says("ho"))).deadline(Duration::MAX).into();
    ask(&endless, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    assert!(seen.last().ctx.deadline().is_none(), "a deadline past all time is none");
}

#[tokio::test]
async fn a_denied_run_is_an_answer_and_not_an_error() {
    let agent = service_fn(|request: RunRequest| async move {
        Ok::<_, Error>(request.denied(Denial::new("Not on Sundays.").by("calendar")))
    });
    let app: Router = run_router(agent).into();
    let answer = ask(&app, wants_json(post("/v1/runs", r#"{"text":"hi"}"#))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["finish"], "denied");

    let streamed = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    let last = streamed.events().pop().unwrap();
    assert_eq!((last.0.as_str(), &last.2["finish"]), ("finished", &json!("denied")));
}

/// An agent that gives some events and then fails with internals in every text but one.
fn failing(events: Vec<RunEvent>) -> Router {
    let agent = service_fn(move |_: RunRequest| {
        let error = Error::new(ErrorKind::Upstream { status: Some(500) }, "key sk-1 on db-7")
            .with_layer("secret-layer")
            .with_source("root cause sk-1")
            .with_model_text("The provider failed.");
        let events: Vec<_> = events.clone().into_iter().map(Ok).chain([Err(error)]).collect();
        async move { Ok::<_, Error>(RunResponse::new(futures_util::stream::iter(events))) }
    });
    run_router(agent).into()
}

fn assert_no_internals(answer: &Answer) {
    for secret in ["sk-1", "db-7", "secret-layer", "root cause"] {
        assert!(!answer.body.contains(secret), "{secret} in {}", answer.body);
    }
}

#[tokio::test]
async fn an_error_in_a_begun_stream_is_its_last_event_and_shows_no_internals() {
    let mut events = says("ho");
    events.truncate(2);
    let answer = ask(&failing(events), post("/v1/runs", r#"{"text":"hi"}"#)).await;

    assert_eq!(answer.status, 200, "the status was sent before");
    let sent = answer.events();
    assert_eq!(sent.len(), 3);
    let (name, id, data) = &sent[2];
    assert_eq!((name.as_str(), id.as_str()), ("error", "3"));
    let expected = json!({
        "message": "The provider failed.", "type": "upstream_error", "param": null, "code": "upstream_failed",
    });
    assert_eq!(data["error"], expected);
    assert_no_internals(&answer);
}

#[tokio::test]
async fn a_whole_answer_that_failed_midway_has_the_transcript_so_far() {
    let mut events = says("half an answer");
    events.truncate(3);
    let answer = ask(&failing(events), wants_json(post("/v1/runs", r#"{"text":"hi"}"#))).await;

    assert_eq!(answer.status, 502);
    assert_eq!(answer.error()["code"], "upstream_failed");
    let so_far: Transcript = serde_json::from_value(answer.json()["transcript"].clone()).unwrap();
    assert_eq!(so_far.text(), "half an answer");
    assert_eq!(so_far.finish, None);
    assert_no_internals(&answer);
}

#[tokio::test]
async fn a_run_that_breaks_off_is_never_taken_for_a_whole_one() {
    let mut events = says("ho");
    events.truncate(3);
    let app = app(&Seen::default(), events);
    let streamed = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    let (name, _, data) = streamed.events().pop().unwrap();
    assert_eq!((name.as_str(), &data["error"]["code"]), ("error", &json!("upstream_broken")));

    let whole = ask(&app, wants_json(post("/v1/runs", r#"{"text":"hi"}"#))).await;
    assert_eq!(whole.status, 502);
    assert_eq!(whole.error()["code"], "upstream_broken");
}

#[tokio::test]
async fn what_the_host_chose_cannot_be_replaced_unless_it_says_so() {
    let seen = Seen::default();
    let app = app(&seen, says("ho"));
    for (field, value) in [
        ("instructions", json!("obey me")),
        ("model", json!("the-expensive-one")),
        ("sampling", json!({"max_output_tokens": 1_000_000})),
        ("extra", json!({"service_tier": "priority"})),
    ] {
        let body = json!({"text": "hi", field: value}).to_string();
        let answer = ask(&app, post("/v1/runs", body)).await;
        assert_eq!(answer.status, 400, "{field}");
        let error = answer.error();
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!("override_not_allowed"), &json!(field))
        );
    }
    assert_eq!(seen.count(), 0);
}

#[tokio::test]
async fn bad_input_is_answered_in_one_shape_and_starts_nothing() {
    let seen = Seen::default();
    let app = app(&seen, vec![finished()]);
    let deep =
        format!(r#"{{"text":"hi","metadata":{}1{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let deep_arguments = format!(r#"{{"input":[{}]}}"#, "[".repeat(200));
    let cases: Vec<(&str, Vec<u8>, u16, &str)> = vec![
        ("nothing", b"".to_vec(), 400, "invalid_json"),
        ("half an object", br#"{"text":"#.to_vec(), 400, "invalid_json"),
        ("no JSON", b"hello".to_vec(), 400, "invalid_json"),
        ("trailing text", br#"{"text":"hi"} x"#.to_vec(), 400, "invalid_json"),
        ("no UTF-8", b"{\"text\":\"\xff\xfe\"}".to_vec(), 400, "invalid_json"),
        ("a lone surrogate", br#"{"text":"\ud800"}"#.to_vec(), 400, "invalid_json"),
        ("deep JSON", deep.into_bytes(), 400, "invalid_json"),
        ("deep and cut off", deep_arguments.into_bytes(), 400, "invalid_json"),
        ("a list", b"[]".to_vec(), 400, "invalid_value"),
        ("a number", b"7".to_vec(), 400, "invalid_value"),
        ("a number as text", br#"{"text":7}"#.to_vec(), 400, "invalid_value"),
        ("a number as input", br#"{"input":7}"#.to_vec(), 400, "invalid_value"),
        ("a message without a role", br#"{"input":[{"parts":[]}]}"#.to_vec(), 400, "invalid_value"),
        ("a text for stream", br#"{"text":"hi","stream":"yes"}"#.to_vec(), 400, "invalid_value"),
        (
            "negative turns",
            br#"{"text":"hi","limits":{"turns":-1}}"#.to_vec(),
            400,
            "invalid_value",
        ),
        ("nothing to answer", b"{}".to_vec(), 400, "missing_input"),
        ("an empty list", br#"{"input":[]}"#.to_vec(), 400, "missing_input"),
        ("two inputs", br#"{"text":"a","input":"b"}"#.to_vec(), 400, "ambiguous_input"),
    ];
    for (name, body, status, code) in cases {
        let answer = ask(&app, post("/v1/runs", body)).await;
        assert_eq!(answer.status.as_u16(), status, "{name}: {}", answer.body);
        assert_eq!(answer.error()["code"], code, "{name}: {}", answer.body);
        assert_eq!(answer.error()["type"], "invalid_request_error", "{name}");
    }
    assert_eq!(seen.count(), 0);
}

#[tokio::test]
async fn the_message_about_bad_json_says_where_it_is() {
    let app = app(&Seen::default(), vec![finished()]);
    let answer = ask(&app, post("/v1/runs", "{\n  \"text\": oops\n}")).await;
    let message = answer.error()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("line 2 column 11"), "{message}");
}

#[tokio::test]
async fn only_json_is_taken() {
    let seen = Seen::default();
    let app = app(&seen, says("ho"));
    let of = |kind: Option<&str>| {
        let mut request = Request::post("/v1/runs");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        request.body(Body::from(r#"{"text":"hi"}"#)).unwrap()
    };
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("text/json"),
        Some(""),
    ] {
        let answer = ask(&app, of(kind)).await;
        assert_eq!(answer.status, 415, "{kind:?}");
        assert_eq!(answer.error()["code"], "unsupported_media_type");
    }
    assert_eq!(seen.count(), 0);
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.api+json"]
    {
        assert_eq!(ask(&app, of(Some(kind))).await.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_its_length_or_while_it_is_read() {
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho"))).body_limit(64).into();
    let body = json!({"text": "x".repeat(100)}).to_string();

    let told =
        with_header(post("/v1/runs", body.clone()), "content-length", &body.len().to_string());
    let pieces: Vec<Result<String, std::io::Error>> = body
        .as_bytes()
        .chunks(10)
        .map(|piece| Ok(String::from_utf8(piece.to_vec()).unwrap()))
        .collect();
    let chunked = post("/v1/runs", Body::from_stream(futures_util::stream::iter(pieces)));
    for request in [told, chunked] {
        let answer = ask(&app, request).await;
        assert_eq!(answer.status, 413);
        assert_eq!(answer.error()["code"], "body_too_large");
    }
    assert_eq!(seen.count(), 0);
    let exact = format!(r#"{{"text":"{}"}}"#, "x".repeat(64 - 11));
    assert_eq!(exact.len(), 64);
    assert_eq!(ask(&app, post("/v1/runs", exact)).await.status, 200);
}

#[tokio::test]
async fn by_default_two_mebibytes_are_taken_and_not_a_byte_more() {
    let app = app(&Seen::default(), says("ho"));
    let limit = 2 * 1024 * 1024;
    let of = |size: usize| format!(r#"{{"text":"{}"}}"#, "x".repeat(size - 11));
    assert_eq!(ask(&app, post("/v1/runs", of(limit))).await.status, 200);
    assert_eq!(ask(&app, post("/v1/runs", of(limit + 1))).await.status, 413);
}

#[tokio::test]
async fn another_method_is_answered_with_the_ones_there_are() {
    let app = app(&Seen::default(), says("ho"));
    let answer = ask(&app, Request::get("/v1/runs").body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.header("allow"), "POST");
    assert_eq!(answer.error()["code"], "method_not_allowed");
}

#[tokio::test]
async fn the_route_merges_into_an_app_that_has_state_and_routes_of_its_own() {
    #[derive(Clone)]
    struct Shared(&'static str);
    let own = axum::routing::get(async |axum::extract::State(Shared(text))| text);
    let app: Router = Router::new()
        .route("/", own)
        .merge(run_router(Seen::default().agent(says("ho"))))
        .with_state(Shared("mine"));
    assert_eq!(ask(&app, Request::get("/").body(Body::empty()).unwrap()).await.body, "mine");
    let answer = ask(&app, wants_json(post("/v1/runs", r#"{"text":"hi"}"#))).await;
    assert_eq!(answer.json()["messages"][0]["parts"][0]["text"], Value::from("ho"));
}

#[tokio::test]
async fn a_body_limit_of_tower_http_around_the_app_is_answered_in_the_same_shape() {
    let app = app(&Seen::default(), says("ho"))
        .layer(tower_http::limit::RequestBodyLimitLayer::new(64))
        .layer(tower_http::trace::TraceLayer::new_for_http());
    let piece = Ok::<_, std::io::Error>(json!({"text": "x".repeat(100)}).to_string());
    let chunked = Body::from_stream(futures_util::stream::iter([piece]));
    let answer = ask(&app, post("/v1/runs", chunked)).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.error()["code"], "body_too_large");
}
