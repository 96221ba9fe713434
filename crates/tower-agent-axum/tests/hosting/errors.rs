use std::{
    future::pending,
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, response::IntoResponse};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent_axum::{ApiError, run_router};
use tower_agent_core::{
    CancellationToken, Effect, Error, ErrorKind, RunBody, RunRequest, RunResponse,
};

use crate::support::{Answer, ask, post, says};

#[tokio::test]
async fn every_kind_of_error_has_its_status_type_and_code() {
    let wait = Some(Duration::from_millis(2500));
    let invalid = "invalid_request_error";
    let table = [
        (ErrorKind::InvalidArguments, 400, invalid, "invalid_arguments", ""),
        (ErrorKind::NotFound, 404, invalid, "not_found", ""),
        (
            ErrorKind::RateLimited { retry_after: wait },
            429,
            "rate_limit_error",
            "rate_limit_exceeded",
            "3",
        ),
        (
            ErrorKind::RateLimited { retry_after: None },
            429,
            "rate_limit_error",
            "rate_limit_exceeded",
            "1",
        ),
        (ErrorKind::Overloaded, 503, "server_error", "overloaded", "1"),
        (ErrorKind::Unavailable, 503, "server_error", "unavailable", ""),
        (ErrorKind::Cancelled, 503, "server_error", "cancelled", ""),
        (ErrorKind::Timeout, 504, "timeout_error", "timeout", ""),
        (ErrorKind::Unauthorized, 502, "upstream_error", "upstream_unauthorized", ""),
        (ErrorKind::Upstream { status: Some(400) }, 400, invalid, "upstream_rejected", ""),
        (ErrorKind::Upstream { status: Some(422) }, 400, invalid, "upstream_rejected", ""),
        (ErrorKind::Upstream { status: Some(401) }, 502, "upstream_error", "upstream_failed", ""),
        (ErrorKind::Upstream { status: Some(500) }, 502, "upstream_error", "upstream_failed", ""),
        (ErrorKind::Upstream { status: None }, 502, "upstream_error", "upstream_failed", ""),
        (ErrorKind::Protocol, 502, "upstream_error", "upstream_broken", ""),
        (ErrorKind::Tool, 500, "server_error", "internal_error", ""),
        (ErrorKind::Hook, 500, "server_error", "internal_error", ""),
        (ErrorKind::Panic, 500, "server_error", "internal_error", ""),
        (ErrorKind::Other, 500, "server_error", "internal_error", ""),
    ];
    for (kind, status, class, code, retry_after) in table {
        let error = Error::new(kind, "the operator's text");
        let answer = Answer::of(ApiError::from(&error).into_response()).await;
        assert_eq!(answer.status.as_u16(), status, "{kind:?}");
        let body = answer.error();
        assert_eq!(body["type"], class, "{kind:?}");
        assert_eq!(body["code"], code, "{kind:?}");
        assert_eq!(body["message"], error.model_text(), "{kind:?}");
        assert_eq!(answer.header("retry-after"), retry_after, "{kind:?}");
    }
}

#[tokio::test]
async fn clients_are_told_not_to_repeat_what_may_have_run() {
    for (effect, told) in
        [(Effect::NotStarted, ""), (Effect::Unknown, "false"), (Effect::Completed, "false")]
    {
        let agent = service_fn(move |_: RunRequest| async move {
            Err::<RunResponse, _>(Error::new(ErrorKind::Timeout, "late").with_effect(effect))
        });
        let app: Router = run_router(agent).into();
        let answer = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
        assert_eq!(answer.status, 504);
        assert_eq!(answer.header("x-should-retry"), told, "{effect:?}");
    }
}

#[tokio::test]
async fn layers_around_the_router_find_the_error_itself() {
    let agent = service_fn(|_: RunRequest| async {
        Err::<RunResponse, _>(Error::new(ErrorKind::Protocol, "for operators").with_layer("wire"))
    });
    let app: Router = run_router(agent).into();
    let response = app.oneshot(post("/v1/runs", r#"{"text":"hi"}"#)).await.unwrap();
    let error = response.extensions().get::<Error>().unwrap();
    assert_eq!(error.to_string(), "wire: for operators");
}

#[tokio::test]
async fn a_full_stack_sheds_load_with_503_and_recovers() {
    let gate = CancellationToken::new();
    let open = gate.clone();
    let slow = service_fn(move |_: RunRequest| {
        let open = open.clone();
        async move {
            open.cancelled().await;
            Ok::<_, Error>(RunResponse::new(RunBody::from_events(says("ho"))))
        }
    });
    let stack = ServiceBuilder::new().load_shed().concurrency_limit(1).service(slow);
    let app: Router = run_router(stack).into();

    let mut first =
        tokio_test::task::spawn(app.clone().oneshot(post("/v1/runs", r#"{"text":"1"}"#)));
    assert!(first.poll().is_pending());
    let shed = ask(&app, post("/v1/runs", r#"{"text":"2"}"#)).await;
    assert_eq!(shed.status, 503);
    assert_eq!(shed.error()["code"], "overloaded");
    assert_eq!(shed.header("retry-after"), "1");
    assert_eq!(shed.header("x-should-retry"), "", "nothing ran, so clients may try again");

    gate.cancel();
    assert_eq!(first.await.unwrap().status(), 200);
    assert_eq!(ask(&app, post("/v1/runs", r#"{"text":"3"}"#)).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_stock_timeout_is_504() {
    let stuck = service_fn(|_: RunRequest| pending::<Result<RunResponse, Error>>());
    let stack = ServiceBuilder::new().timeout(Duration::from_secs(5)).service(stuck);
    let app: Router = run_router(stack).into();
    let answer = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    assert_eq!(answer.status, 504);
    assert_eq!(answer.error()["code"], "timeout");
}

/// Fails the test when it is called without having been ready, and takes two polls to be so.
struct Strict {
    polls: u32,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self { polls: 0 }
    }
}

impl Service<RunRequest> for Strict {
    type Response = RunResponse;
    type Error = BoxError;
    type Future = std::future::Ready<Result<RunResponse, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.polls += 1;
        if self.polls > 1 {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, _: RunRequest) -> Self::Future {
        assert!(self.polls > 1, "called before it was ready");
        self.polls = 0;
        std::future::ready(Ok(RunResponse::new(RunBody::from_events(says("ho")))))
    }
}

#[tokio::test]
async fn the_agent_is_called_only_when_that_very_clone_is_ready() {
    let app: Router = run_router(Strict { polls: 0 }).into();
    for _ in 0..3 {
        assert_eq!(ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await.status, 200);
    }
}

#[tokio::test]
async fn an_agent_that_fails_to_become_ready_is_an_error_like_any_other() {
    let app: Router = run_router(Unready).into();
    let answer = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.error()["code"], "unavailable");
}

#[derive(Clone)]
struct Unready;

impl Service<RunRequest> for Unready {
    type Response = RunResponse;
    type Error = Error;
    type Future = std::future::Ready<Result<RunResponse, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Err(Error::new(ErrorKind::Unavailable, "gone")))
    }

    fn call(&mut self, _: RunRequest) -> Self::Future {
        panic!("called although it is not ready")
    }
}

#[tokio::test]
async fn the_longest_wait_is_told_as_it_is() {
    let error = ApiError::unauthorized("never").with_retry_after(Duration::MAX);
    let answer = Answer::of(error.into_response()).await;
    assert_eq!(answer.header("retry-after"), u64::MAX.to_string());
}
