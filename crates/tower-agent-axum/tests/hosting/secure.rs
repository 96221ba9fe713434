//! What a host does unless it is told otherwise.

use axum::{
    Router,
    body::Body,
    http::{Method, Request},
};
use tower::service_fn;
use tower_agent_axum::{
    Models, RunStore, chat_router, health_router, messages_router, metrics_router,
    responses_router, run_router,
};
use tower_agent_core::{Error, ErrorKind, ModelRequest, ModelResponse, RunRequest, RunResponse};

use crate::support::{ask, post, with_header};

const ROUTES: [(&str, &str); 4] = [
    ("/v1/runs", r#"{"text":"hi"}"#),
    ("/v1/chat/completions", r#"{"model":"M","messages":[{"role":"user","content":"hi"}]}"#),
    ("/v1/messages", r#"{"model":"M","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#),
    ("/v1/responses", r#"{"model":"M","input":"hi"}"#),
];

/// What operators may read and callers may not.
const INSIDE: [&str; 4] = ["db-7.internal", "sk-live-key", "panicked", "src/"];

fn secret_error() -> Error {
    let source = std::io::Error::other("connect to db-7.internal with sk-live-key failed");
    Error::new(ErrorKind::Unavailable, "pool of db-7.internal is empty").with_source(source)
}

fn host() -> Router {
    let agent = service_fn(|_: RunRequest| async { Err::<RunResponse, _>(secret_error()) });
    let late = service_fn(|_: RunRequest| async {
        let events = futures_util::stream::iter([Err(secret_error())]);
        Ok::<_, Error>(RunResponse::new(events))
    });
    let model = service_fn(|_: ModelRequest| async { Err::<ModelResponse, _>(secret_error()) });
    let models = Models::new().agent("agent", agent).agent("late", late).model("model", model);
    Router::new()
        .merge(run_router(agent).resumable(RunStore::new()))
        .merge(chat_router().models(models.clone()))
        .merge(messages_router().models(models.clone()))
        .merge(responses_router().models(models))
        .merge(health_router())
        .merge(metrics_router(|| "up 1\n".to_owned()))
}

#[tokio::test]
async fn no_error_of_any_dialect_shows_what_is_inside() {
    let app = host();
    for (route, body) in ROUTES {
        for model in ["agent", "late", "model"] {
            for stream in [false, true] {
                let mut body = body.replace('M', model);
                if stream {
                    body = body.replacen('{', r#"{"stream":true,"#, 1);
                }
                let answer = ask(&app, post(route, body)).await;
                assert!(answer.body.contains("error"), "{route} {model}: {}", answer.body);
                for inside in INSIDE {
                    assert!(!answer.body.contains(inside), "{route} {model}: {}", answer.body);
                    let headers = format!("{:?}", answer.headers);
                    assert!(!headers.contains(inside), "{route} {model}: {headers}");
                }
            }
        }
    }
}

#[tokio::test]
async fn no_foreign_page_is_let_in() {
    let app = host();
    let paths = ROUTES.map(|(route, _)| route).into_iter().chain([
        "/v1/models",
        "/v1/runs/0191d2a4-0000-7000-8000-000000000000",
        "/v1/runs/0191d2a4-0000-7000-8000-000000000000/events",
        "/healthz",
        "/readyz",
        "/metrics",
    ]);
    for path in paths {
        for method in [Method::OPTIONS, Method::GET, Method::POST, Method::DELETE] {
            let request = Request::builder()
                .method(method.clone())
                .uri(path)
                .header("origin", "https://evil.example")
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "content-type")
                .body(Body::empty())
                .unwrap();
            let answer = ask(&app, request).await;
            let cors = answer.headers.keys().find(|name| name.as_str().contains("access-control"));
            assert_eq!(cors, None, "{method} {path}");
            assert!(method != Method::OPTIONS || answer.status == 405, "{path}: {}", answer.status);
        }
    }
    for (route, body) in ROUTES {
        // What a form may send without asking is not taken.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let mut request = with_header(post(route, body), "origin", "https://evil.example");
            request.headers_mut().insert("content-type", kind.parse().unwrap());
            assert_eq!(ask(&app, request).await.status, 415, "{route} {kind}");
        }
    }
}

#[tokio::test]
async fn two_mebibytes_are_the_most_on_every_route() {
    let app = host();
    for (route, _) in ROUTES {
        for (size, status) in [(2 << 20, 400), ((2 << 20) + 1, 413)] {
            let told = ask(&app, post(route, vec![b' '; size])).await;
            assert_eq!(told.status, status, "{route} {size}");
            let chunks = vec![b' '; size];
            let chunks = chunks.chunks(1 << 16).map(<[u8]>::to_vec).map(Ok::<_, std::io::Error>);
            let stream = Body::from_stream(futures_util::stream::iter(chunks.collect::<Vec<_>>()));
            assert_eq!(ask(&app, post(route, stream)).await.status, status, "{route} {size}");
        }
    }
}

#[tokio::test]
async fn a_body_on_a_route_that_takes_none_is_not_read() {
    let endless = || {
        Body::from_stream(futures_util::stream::repeat_with(|| {
            Ok::<_, std::io::Error>(vec![b'x'; 1024])
        }))
    };
    let app = host();
    for path in [
        "/healthz",
        "/metrics",
        "/v1/models",
        "/v1/runs/0191d2a4-0000-7000-8000-000000000000/events",
    ] {
        let request = Request::get(path).body(endless()).unwrap();
        assert!(ask(&app, request).await.status.as_u16() <= 404, "{path}");
    }
}
