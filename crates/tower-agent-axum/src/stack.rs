//! `GET /stack`: what the stacks are made of.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{StatusCode, header};
use serde::Serialize;

use crate::{ApiError, report::method_not_allowed};

/// Serves `GET /stack`: the descriptions of the host's stacks as JSON, or anything else that serialises.
///
/// They are written anew for each request, so a description that changes is shown as it is then. They show what
/// guards an agent: an app that the world can reach should put this route behind its own login.
///
/// ```
/// use std::collections::BTreeMap;
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stacks = BTreeMap::from([("tools", vec!["redact", "timeout", "tools"])]);
/// let app: Router = tower_agent_axum::stack_router(stacks);
/// let response = app.oneshot(Request::get("/stack").body(Body::empty())?).await?;
/// let body = to_bytes(response.into_body(), 1024).await?;
/// assert_eq!(body, r#"{"tools":["redact","timeout","tools"]}"#);
/// # Ok(())
/// # }
/// ```
pub fn stack_router<T, S>(descriptions: T) -> Router<S>
where
    T: Serialize + Send + Sync + 'static,
    S: Clone + Send + Sync + 'static,
{
    let route = get(show::<T>).fallback(method_not_allowed);
    Router::new().route("/stack", route.with_state(Arc::new(descriptions)))
}

async fn show<T: Serialize>(State(descriptions): State<Arc<T>>) -> Response {
    match serde_json::to_string(&*descriptions) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "no JSON form");
            let text = "the descriptions have no JSON form";
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            ApiError::new(status, "internal_error", text).into_response()
        }
    }
}
