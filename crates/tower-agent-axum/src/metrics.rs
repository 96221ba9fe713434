//! `GET /metrics`: what the host counts.

use axum::{Router, routing::get};
use http::header;

use crate::report::method_not_allowed;

/// The type of Prometheus' text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves `GET /metrics` in Prometheus' text format, as the closure writes it for each request.
///
/// ```
/// use axum::{Router, body::Body, http::Request};
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let app: Router = tower_agent_axum::metrics_router(|| "agent_runs_total 3\n".to_owned());
/// let response = app.oneshot(Request::get("/metrics").body(Body::empty())?).await?;
/// assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
/// # Ok(())
/// # }
/// ```
pub fn metrics_router<F, S>(render: F) -> Router<S>
where
    F: Fn() -> String + Clone + Send + Sync + 'static,
    S: Clone + Send + Sync + 'static,
{
    let show = move || async move { ([(header::CONTENT_TYPE, PROMETHEUS)], render()) };
    Router::new().route("/metrics", get(show).fallback(method_not_allowed))
}
