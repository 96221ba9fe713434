use std::{future::poll_fn, pin::Pin};

use bytes::Bytes;
use http_body::Body;
use tower_agent_core::Error;

use super::fault;

/// Reads a body whole, and what it has until it ends, breaks or grows beyond the limit.
pub(super) async fn read(mut body: reqwest::Body, limit: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut bytes = Vec::new();
    loop {
        match next(&mut body).await {
            None => return (bytes, Ok(())),
            Some(Err(error)) => return (bytes, Err(fault::of_body(error))),
            Some(Ok(data)) if bytes.len() + data.len() > limit => {
                return (bytes, Err(fault::too_large(limit)));
            }
            Some(Ok(data)) => bytes.extend_from_slice(&data),
        }
    }
}

async fn next(body: &mut reqwest::Body) -> Option<Result<Bytes, reqwest::Error>> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    // Trailers mean nothing here.
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}
