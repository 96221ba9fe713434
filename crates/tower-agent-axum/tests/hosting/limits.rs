//! How much callers may ask for.

use std::time::Duration;

use axum::{
    Router,
    body::{Body, BodyDataStream},
    http::Request,
};
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::advance;
use tower::{ServiceExt, service_fn};
use tower_agent_axum::{
    ApiError, Identity, Limits, Models, RunStore, chat_router, messages_router, responses_router,
    run_router,
};
use tower_agent_core::{Error, RunEvent, RunRequest, RunResponse};

use crate::support::{Answer, Counters, ask, finished, post, says, wants_json, with_header};

fn who(parts: &http::request::Parts) -> Result<Identity, ApiError> {
    let user = parts.headers.get("x-user").and_then(|user| user.to_str().ok());
    let user = user.ok_or_else(|| ApiError::unauthorized("who are you?"))?;
    Ok(Identity::default().with_user(user))
}

/// Every router there is, under the same limits.
fn host(limits: &Limits, counters: &Counters, hang: bool) -> Router {
    let counters = counters.clone();
    let agent = service_fn(move |_: RunRequest| {
        let run = RunResponse::new(counters.stream(says("ho"), hang));
        async move { Ok::<_, Error>(run) }
    });
    let models = Models::new().agent("demo", agent.clone());
    Router::new()
        .merge(run_router(agent).identity(who).limits(limits.clone()))
        .merge(chat_router().models(models.clone()).identity(who).limits(limits.clone()))
        .merge(messages_router().models(models.clone()).identity(who).limits(limits.clone()))
        .merge(responses_router().models(models).identity(who).limits(limits.clone()))
}

const ROUTES: [&str; 4] = ["/v1/runs", "/v1/chat/completions", "/v1/messages", "/v1/responses"];

/// What each route takes, streamed.
fn call(user: &str, route: &'static str) -> Request<Body> {
    let body = match route {
        "/v1/runs" => r#"{"text":"hi"}"#,
        "/v1/responses" => r#"{"model":"demo","input":"hi","stream":true}"#,
        _ => {
            r#"{"model":"demo","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stream":true}"#
        }
    };
    with_header(post(route, body), "x-user", user)
}

async fn open(app: &Router, user: &str, route: &'static str) -> BodyDataStream {
    let response = app.clone().oneshot(call(user, route)).await.unwrap();
    assert_eq!(response.status(), 200, "{route}");
    response.into_body().into_data_stream()
}

/// The refusal of a call, in the form of its route.
async fn refusal(app: &Router, user: &str, route: &'static str) -> (u16, String, Value) {
    let response = app.clone().oneshot(call(user, route)).await.unwrap();
    // One that was let in may have no end.
    assert_ne!(response.status(), 200, "{route}");
    let answer = Answer::of(response).await;
    let wait = answer.header("retry-after").to_owned();
    let body = answer.json();
    if route == "/v1/messages" {
        assert_eq!(body["type"], "error");
        assert_eq!(body["request_id"], answer.header("x-run-id"));
    }
    (answer.status.as_u16(), wait, body["error"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_user_at_the_limit_is_refused_on_every_route_and_others_are_not() {
    for busy in ROUTES {
        let (limits, counters) = (Limits::new().calls_per_user(2), Counters::default());
        let app = host(&limits, &counters, true);
        let _streams = (open(&app, "ada", busy).await, open(&app, "ada", busy).await);
        for route in ROUTES {
            let (status, wait, error) = refusal(&app, "ada", route).await;
            assert_eq!((status, wait.as_str()), (429, "1"), "{route}");
            assert_eq!(error["type"], "rate_limit_error");
            assert_eq!(error["message"], "too many of your requests are running");
        }
        assert_eq!(counters.started(), 2, "the agent was not asked");
        drop(open(&app, "bob", busy).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_at_its_limit_refuses_everybody() {
    let (limits, counters) = (Limits::new().calls(2), Counters::default());
    let app = host(&limits, &counters, true);
    let _streams = (open(&app, "ada", ROUTES[0]).await, open(&app, "bob", ROUTES[1]).await);
    for route in ROUTES {
        let (status, wait, error) = refusal(&app, "cleo", route).await;
        assert_eq!((status, wait.as_str()), (503, "1"), "{route}");
        assert_eq!(error["message"], "too many requests are running");
    }
    assert_eq!(counters.started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_counts_until_its_stream_ended_or_was_dropped() {
    for route in ROUTES {
        let (limits, counters) = (Limits::new().calls_per_user(1), Counters::default());
        let app = host(&limits, &counters, false);
        let mut stream = open(&app, "ada", route).await;
        while stream.next().await.is_some() {
            // The mark of the end has a frame of its own in none of these streams.
            if counters.dropped() == 0 && counters.made() < says("ho").len() {
                assert_eq!(refusal(&app, "ada", route).await.0, 429, "{route}");
            }
        }
        let dropped = open(&app, "ada", route).await;
        drop(dropped);
        drop(open(&app, "ada", route).await);
    }
}

#[tokio::test(start_paused = true)]
async fn whole_answers_failures_and_bad_requests_give_back_what_they_took() {
    let (limits, counters) = (Limits::new().calls(1).calls_per_user(1), Counters::default());
    let app = host(&limits, &counters, false);
    let by = |request| with_header(request, "x-user", "ada");
    for _ in 0..3 {
        let whole = wants_json(by(post("/v1/runs", r#"{"text":"hi"}"#)));
        assert_eq!(ask(&app, whole).await.status, 200);
        for route in ROUTES {
            assert_eq!(ask(&app, by(post(route, "{"))).await.status, 400, "{route}");
            let unknown = r#"{"model":"none","input":"hi","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
            assert!(ask(&app, by(post(route, unknown))).await.status.as_u16() >= 400);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_lets_in_what_it_may_and_says_when_to_come_back() {
    let limits = Limits::new().rate_per_user(3, Duration::from_secs(60));
    let app = host(&limits, &Counters::default(), false);
    for route in &ROUTES[..3] {
        drop(open(&app, "ada", route).await);
    }
    for route in ROUTES {
        // What is refused does not count.
        let (status, wait, error) = refusal(&app, "ada", route).await;
        assert_eq!((status, wait.as_str()), (429, "20"), "{route}");
        assert_eq!(error["message"], "you send requests too often");
    }
    drop(open(&app, "bob", ROUTES[0]).await);

    advance(Duration::from_millis(12_500)).await;
    assert_eq!(refusal(&app, "ada", ROUTES[0]).await.1, "8", "rounded up");
    advance(Duration::from_millis(7_500)).await;
    drop(open(&app, "ada", ROUTES[0]).await);
    assert_eq!(refusal(&app, "ada", ROUTES[0]).await.0, 429);
    advance(Duration::from_secs(3600)).await;
    for _ in 0..3 {
        drop(open(&app, "ada", ROUTES[0]).await);
    }
    assert_eq!(refusal(&app, "ada", ROUTES[0]).await.0, 429);
}

#[tokio::test(start_paused = true)]
async fn strangers_are_no_callers_and_use_up_nothing() {
    let limits = Limits::new().calls_per_user(1).rate_per_user(1, Duration::from_secs(60));
    let app = host(&limits, &Counters::default(), false);
    for route in ROUTES {
        for _ in 0..3 {
            let mut stranger = call("", route);
            stranger.headers_mut().remove("x-user");
            assert_eq!(ask(&app, stranger).await.status, 401);
        }
    }
    drop(open(&app, "ada", ROUTES[0]).await);
}

#[tokio::test(start_paused = true)]
async fn callers_without_a_name_count_as_one() {
    let counters = Counters::default();
    let agent = service_fn(move |_: RunRequest| {
        let run = RunResponse::new(counters.stream(says("ho"), true));
        async move { Ok::<_, Error>(run) }
    });
    let app: Router = run_router(agent).limits(Limits::new().calls_per_user(1)).into();
    let request = || post("/v1/runs", r#"{"text":"hi"}"#);
    let _first = app.clone().oneshot(request()).await.unwrap();
    assert_eq!(app.oneshot(request()).await.unwrap().status(), 429);
}

#[tokio::test(start_paused = true)]
async fn a_resumable_run_counts_while_its_reader_is_away_and_reading_on_does_not() {
    let agent = service_fn(|_: RunRequest| async {
        let late = futures_util::stream::unfold(1, |turn| async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            let event = if turn < 3 { RunEvent::TurnStarted { turn } } else { finished() };
            (turn <= 3).then_some((Ok(event), turn + 1))
        });
        Ok::<_, Error>(RunResponse::new(late))
    });
    let limits = Limits::new().calls_per_user(1);
    let router = run_router(agent).identity(who).limits(limits).resumable(RunStore::new());
    let app: Router = router.into();
    let first = app.clone().oneshot(call("ada", ROUTES[0])).await.unwrap();
    let id = first.headers()["x-run-id"].to_str().unwrap().to_owned();
    drop(first);
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert_eq!(refusal(&app, "ada", ROUTES[0]).await.0, 429);

    let again = Request::get(format!("/v1/runs/{id}/events")).body(Body::empty()).unwrap();
    let rest = app.clone().oneshot(with_header(again, "x-user", "ada")).await.unwrap();
    assert_eq!(Answer::of(rest).await.events().len(), 3);
    drop(open(&app, "ada", ROUTES[0]).await);
}
