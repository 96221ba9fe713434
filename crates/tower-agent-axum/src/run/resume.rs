//! Reading a run on, and dropping it.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
    routing::{delete, get},
};
use http::{HeaderValue, StatusCode, request::Parts};
use uuid::Uuid;

use super::store::RunStore;
use crate::{
    ApiError,
    identity::Caller,
    options::{Options, RUN_ID},
    report::method_not_allowed,
    sse,
};

/// The header with which a browser's `EventSource` comes back.
const LAST_EVENT_ID: &str = "last-event-id";

struct Resume {
    store: RunStore,
    options: Options,
}

/// The routes of runs that were begun.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(
    store: RunStore,
    options: &Options,
) -> Router<S> {
    let resume = Arc::new(Resume { store, options: options.clone() });
    // A HEAD would take the run from its reader.
    let events = get(read).head(method_not_allowed).fallback(method_not_allowed);
    let run = delete(drop_run).fallback(method_not_allowed);
    Router::new()
        .route("/v1/runs/{id}/events", events)
        .route("/v1/runs/{id}", run)
        .with_state(resume)
}

async fn read(
    State(resume): State<Arc<Resume>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let after = last_event(&parts).map_err(IntoResponse::into_response)?;
    let (id, caller) = resume.run_and_caller(&id, parts).await?;
    let reader = resume.store.read(id, &caller, after).map_err(IntoResponse::into_response)?;
    let response = if reader.is_at_end() {
        StatusCode::NO_CONTENT.into_response()
    } else {
        sse::response(reader.into_stream(), resume.options.keep_alive)
    };
    Ok(of_run(id, response))
}

async fn drop_run(
    State(resume): State<Arc<Resume>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Response> {
    let (id, caller) = resume.run_and_caller(&id, request.into_parts().0).await?;
    resume.store.delete(id, &caller).map_err(IntoResponse::into_response)?;
    Ok(of_run(id, StatusCode::NO_CONTENT.into_response()))
}

impl Resume {
    /// Which run is meant, and who asks. What is no id is told as an id that is not there, to those who may ask.
    async fn run_and_caller(&self, id: &str, parts: Parts) -> Result<(Uuid, Caller), Response> {
        let identity = self.options.identify.find(parts).await?;
        Ok((id.parse().unwrap_or_default(), (&identity).into()))
    }
}

fn of_run(id: Uuid, mut response: Response) -> Response {
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(RUN_ID, id);
    }
    response
}

/// The event that the reader saw last. An `EventSource` that comes back still has the query of its first request, so
/// the header counts.
fn last_event(parts: &Parts) -> Result<u64, ApiError> {
    let header = parts.headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or("?"));
    let mut query = parts.uri.query().unwrap_or_default().split('&');
    let id = header.or_else(|| query.find_map(|pair| pair.strip_prefix("after=")));
    id.map_or(Ok(0), str::parse).map_err(|_| {
        let text = "the last event's id must be the number that came as its `id`";
        ApiError::bad_request("invalid_event_id", text)
    })
}
