//! `GET /v1/models`: what there is to ask.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use serde::Serialize;

use super::ChatRouter;
use crate::ApiError;

#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
}

impl<'a> Model<'a> {
    fn of(router: &ChatRouter, id: &'a str) -> Self {
        Self { id, object: "model", created: router.created, owned_by: "tower-agent" }
    }
}

/// The answer for a name that nothing goes by.
pub(super) fn unknown(model: &str) -> ApiError {
    let text = format!("there is no model `{model}`; GET /v1/models lists what there is");
    ApiError::new(StatusCode::NOT_FOUND, "model_not_found", text).with_param("model")
}

pub(super) async fn list(State(router): State<Arc<ChatRouter>>, request: Request) -> Response {
    if let Err(refusal) = router.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    let data = router.targets.iter().map(|(id, _)| Model::of(&router, id)).collect();
    json(&List { object: "list", data })
}

pub(super) async fn one(
    State(router): State<Arc<ChatRouter>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    if let Err(refusal) = router.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    match router.targets.iter().find(|(name, _)| *name == id) {
        Some((name, _)) => json(&Model::of(&router, name)),
        None => unknown(&id).into_response(),
    }
}

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
