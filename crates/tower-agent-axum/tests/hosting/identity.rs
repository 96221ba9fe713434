use std::convert::Infallible;

use axum::{
    Router,
    body::Body,
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use bytes::Bytes;
use tower_agent_axum::{ApiError, Identity, run_router};

use crate::support::{Seen, ask, post, says, with_header};

#[derive(Debug, PartialEq)]
struct Claims(u32);

#[tokio::test]
async fn who_asks_stands_in_the_context_of_the_run() {
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho")))
        .identity(|parts| {
            let user = parts.headers["x-user"].to_str().unwrap();
            Ok::<_, ApiError>(
                Identity::default()
                    .with_user(user)
                    .with_session("s-1")
                    .with_tenant("acme")
                    .with_extension(Claims(7)),
            )
        })
        .into();
    ask(&app, with_header(post("/v1/runs", r#"{"text":"hi"}"#), "x-user", "ada")).await;

    let ctx = seen.last().ctx;
    assert_eq!(ctx.run().user().unwrap(), "ada");
    assert_eq!(ctx.run().session().unwrap(), "s-1");
    assert_eq!(ctx.run().tenant().unwrap(), "acme");
    assert_eq!(ctx.extensions.get::<Claims>(), Some(&Claims(7)));
}

#[tokio::test]
async fn without_a_hook_a_run_is_nobodys_whatever_the_body_claims() {
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho"))).into();
    let body = r#"{"text":"hi","user":"root","ctx":{"user":"root"},"tenant":"acme"}"#;
    assert_eq!(ask(&app, post("/v1/runs", body)).await.status, 200);
    let ctx = seen.last().ctx;
    assert_eq!((ctx.run().user(), ctx.run().tenant(), ctx.run().session()), (None, None, None));
}

#[tokio::test]
async fn a_caller_without_identity_is_refused_before_its_body_is_read() {
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho")))
        .identity(|_| Err::<Identity, _>(ApiError::unauthorized("send a key")))
        .into();
    let unread =
        futures_util::stream::poll_fn(|_| -> std::task::Poll<Option<Result<Bytes, Infallible>>> {
            panic!("the body was read")
        });
    let answer = ask(&app, post("/v1/runs", Body::from_stream(unread))).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.error()["type"], "authentication_error");
    assert_eq!(answer.error()["message"], "send a key");
    assert_eq!(seen.count(), 0);
}

/// As an app would have it: an extractor that looks up a session.
struct Login(String);

impl<S: Sync> FromRequestParts<S> for Login {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        tokio::task::yield_now().await;
        let cookie = parts.headers.get("cookie").and_then(|value| value.to_str().ok());
        cookie.map(|name| Self(name.to_owned())).ok_or((StatusCode::FORBIDDEN, "no cookie"))
    }
}

impl From<Login> for Identity {
    fn from(login: Login) -> Self {
        Self::default().with_user(login.0)
    }
}

#[tokio::test]
async fn an_extractor_of_axum_can_say_who_asks_and_its_rejection_is_the_answer() {
    let seen = Seen::default();
    let app: Router = run_router(seen.agent(says("ho"))).identity_from::<Login>().into();
    ask(&app, with_header(post("/v1/runs", r#"{"text":"hi"}"#), "cookie", "ada")).await;
    assert_eq!(seen.last().ctx.run().user().unwrap(), "ada");

    let refused = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
    assert_eq!((refused.status, refused.body.as_str()), (StatusCode::FORBIDDEN, "no cookie"));
    assert!(!refused.header("x-run-id").is_empty());
}
