//! Reading a request: its body, and which form of answer it accepts.

use std::borrow::Cow;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::ApiError;

/// Refuses by the head alone what need not be read.
///
/// That the type must be JSON also keeps a foreign web page from posting here without asking the browser first.
pub(crate) fn check_head(headers: &HeaderMap, limit: usize) -> Result<(), ApiError> {
    if !is_json(headers) {
        let text = "the body must be JSON: send `Content-Type: application/json`";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(ApiError::new(status, "unsupported_media_type", text));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match length.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length > limit as u64 => {
            Err(too_large(format!("the body is larger than {limit} bytes")))
        }
        _ => Ok(()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    essence == "application/json"
        || essence.strip_prefix("application/").is_some_and(|kind| kind.ends_with("+json"))
}

pub(crate) async fn read(body: &mut Body, limit: usize) -> Result<Bytes, ApiError> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if is_limit(&*error) => Err(too_large("the body is too large")),
        Err(_) => Err(ApiError::bad_request("body_cut_off", "the body broke off")),
    }
}

/// Finds our own limit, and that of a layer around the router.
fn is_limit(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source())
        .any(|error| error.is::<LengthLimitError>())
}

fn too_large(text: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", text)
}

/// Parses JSON; the error says where and why.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_data() {
            ApiError::bad_request("invalid_value", format!("the body does not fit: {error}"))
        } else {
            ApiError::bad_request("invalid_json", format!("the body is not valid JSON: {error}"))
        }
    })
}

/// The two forms of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Sse,
    Json,
}

impl Form {
    /// What `Accept` prefers; a stream unless it says otherwise.
    pub(crate) fn accepted(headers: &HeaderMap) -> Result<Self, ApiError> {
        let accepted = Weights::of(headers);
        match (accepted.sse, accepted.json) {
            (sse, json) if sse == 0 && json == 0 => {
                let text = "the answer comes as text/event-stream or application/json";
                Err(ApiError::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", text))
            }
            (sse, json) if json > sse => Ok(Self::Json),
            _ => Ok(Self::Sse),
        }
    }
}

/// How much a client wants each form, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    sse: u16,
    json: u16,
}

impl Weights {
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT);
        let ranges: Vec<_> = values
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|range| range.trim().to_ascii_lowercase())
            .filter(|range| !range.is_empty())
            .collect();
        if ranges.is_empty() {
            return Self { sse: 1000, json: 1000 };
        }
        let weight = |names: [&str; 3]| best(&ranges, names);
        Self {
            sse: weight(["text/event-stream", "text/*", "*/*"]),
            json: weight(["application/json", "application/*", "*/*"]),
        }
    }
}

/// The weight of the most specific range that fits.
fn best(ranges: &[String], names: [&str; 3]) -> u16 {
    names
        .into_iter()
        .find_map(|name| {
            ranges.iter().find_map(|range| {
                let mut parts = range.split(';').map(str::trim);
                (parts.next() == Some(name)).then(|| quality(parts))
            })
        })
        .unwrap_or(0)
}

fn quality<'a>(mut parameters: impl Iterator<Item = &'a str>) -> u16 {
    let given = parameters.find_map(|parameter| parameter.strip_prefix("q="));
    let weight = given.map_or(1.0, |text| text.trim().parse::<f32>().unwrap_or(0.0));
    // A cast of a float saturates, so nonsense stays in range.
    (weight.clamp(0.0, 1.0) * 1000.0) as u16
}
