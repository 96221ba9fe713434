use std::collections::BTreeMap;

use axum::{Router, body::Body, http::Request};
use serde_json::json;
use tower::{ServiceBuilder, service_fn};
use tower_agent_axum::{health_router, metrics_router, stack_router};
use tower_agent_core::{Error, ModelRequest, ModelResponse};

use crate::support::{Answer, ask};

async fn get(app: &Router, path: &str) -> Answer {
    ask(app, Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn the_stacks_are_shown_in_their_order() {
    let stacks = BTreeMap::from([("model", vec!["trace", "budget"]), ("tools", vec!["redact"])]);
    let answer = get(&stack_router(stacks), "/stack").await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.json(), json!({"model": ["trace", "budget"], "tools": ["redact"]}));
}

#[tokio::test]
async fn descriptions_without_a_json_form_are_an_error_and_no_panic() {
    let keys = BTreeMap::from([(vec![1], 2)]);
    let answer = get(&stack_router(keys), "/stack").await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.error()["code"], "internal_error");
}

#[tokio::test]
async fn metrics_are_written_anew_for_each_request() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let app: Router = metrics_router(move || {
        let seen = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        format!("seen_total {seen}\n")
    });
    let answer = get(&app, "/metrics").await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(answer.body, "seen_total 0\n");
    assert_eq!(get(&app, "/metrics").await.body, "seen_total 1\n");
}

#[tokio::test]
async fn a_process_is_alive_whether_or_not_it_is_ready() {
    let health = health_router().ready_if("warm-up", || true).ready_if("database", || false);
    let app = Router::new().merge(health);
    let alive = get(&app, "/healthz").await;
    assert_eq!((alive.status.as_u16(), alive.body.as_str()), (200, "ok\n"));
    let ready = get(&app, "/readyz").await;
    assert_eq!((ready.status.as_u16(), ready.body.as_str()), (503, "database is not ready\n"));
}

#[tokio::test]
async fn a_full_service_is_not_ready_and_asking_does_not_fill_it() {
    let model = service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::default()) });
    let stack = ServiceBuilder::new().concurrency_limit(1).service(model);
    let app = Router::new().merge(health_router().ready("model", stack.clone()));
    for _ in 0..3 {
        assert_eq!(get(&app, "/readyz").await.status, 200);
    }
    let mut busy = stack;
    tower::ServiceExt::<ModelRequest>::ready(&mut busy).await.unwrap();
    assert_eq!(get(&app, "/readyz").await.status, 503);
    drop(busy);
    assert_eq!(get(&app, "/readyz").await.status, 200);
}

#[tokio::test]
async fn other_methods_are_refused_with_the_allowed_ones() {
    let app = Router::new()
        .merge(stack_router(json!({})))
        .merge(metrics_router(String::new))
        .merge(health_router());
    for path in ["/stack", "/metrics", "/healthz", "/readyz"] {
        let answer = ask(&app, Request::post(path).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, 405, "{path}");
        assert_eq!(answer.header("allow"), "GET,HEAD", "{path}");
    }
}
