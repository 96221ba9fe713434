//! `GET /v1/models`: what there is to ask.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use serde::Serialize;

use super::Catalogue;
use crate::ApiError;

/// What clients of either dialect look for.
#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    display_name: &'a str,
    created_at: &'static str,
    lifecycle: &'static str,
}

/// What stands for a date that is not known.
const EPOCH: &str = "1970-01-01T00:00:00Z";

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

impl<'a> Model<'a> {
    fn of(catalogue: &Catalogue, id: &'a str) -> Self {
        Self {
            id,
            object: "model",
            created: catalogue.created,
            owned_by: "tower-agent",
            kind: "model",
            display_name: id,
            created_at: EPOCH,
            lifecycle: "active",
        }
    }
}

/// The answer for a name that nothing goes by.
pub(super) fn unknown(model: &str) -> ApiError {
    let text = format!("there is no model `{model}`; GET /v1/models lists what there is");
    ApiError::new(StatusCode::NOT_FOUND, "model_not_found", text).with_param("model")
}

pub(super) async fn list(State(catalogue): State<Arc<Catalogue>>, request: Request) -> Response {
    if let Err(refusal) = catalogue.host.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    let data: Vec<_> = catalogue.host.models.ids().map(|id| Model::of(&catalogue, id)).collect();
    let (first_id, last_id) =
        (data.first().map(|model| model.id), data.last().map(|model| model.id));
    json(&List { object: "list", has_more: false, first_id, last_id, data })
}

pub(super) async fn one(
    State(catalogue): State<Arc<Catalogue>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    if let Err(refusal) = catalogue.host.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    match catalogue.host.models.ids().find(|name| **name == id) {
        Some(name) => json(&Model::of(&catalogue, name)),
        None => unknown(&id).into_response(),
    }
}

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
