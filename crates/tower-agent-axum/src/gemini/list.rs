//! `GET /v1beta/models`: what there is to ask.

use std::sync::Arc;

use axum::{
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use http::header;
use serde::Serialize;

use super::Gemini;
use crate::dialect::{Dialect, Host};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Model<'a> {
    name: String,
    display_name: &'a str,
    supported_generation_methods: [&'static str; 2],
}

#[derive(Serialize)]
struct List<'a> {
    models: Vec<Model<'a>>,
}

impl<'a> Model<'a> {
    fn of(id: &'a str) -> Self {
        Self {
            name: format!("models/{id}"),
            display_name: id,
            supported_generation_methods: ["generateContent", "streamGenerateContent"],
        }
    }
}

pub(super) async fn list(State(host): State<Arc<Host>>, request: Request) -> Response {
    if let Err(refusal) = host.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    json(&List { models: host.models.ids().map(|id| Model::of(id)).collect() })
}

pub(super) async fn one(
    State(host): State<Arc<Host>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    if let Err(refusal) = host.options.identify.find(request.into_parts().0).await {
        return refusal;
    }
    match host.models.ids().find(|name| **name == id) {
        Some(name) => json(&Model::of(name)),
        None => Gemini::<false>::unknown_model(&id).into_response(),
    }
}

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
