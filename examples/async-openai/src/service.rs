//! The HTTP step of async-openai, without HTTP.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use http::{HeaderValue, Response, header};
use reqwest::{Body, Request};
use tower::ServiceExt;
use tower_agent::{Error, ErrorKind, ModelRequest, ModelResponse};
use tower_agent_wire::openai_chat::encode_error;
use tower_service::Service;

use crate::{
    api::{Api, not_served},
    frames::Frames,
};

/// What a call of [`InPlaceOfHttp`] returns.
pub type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

/// Answers what async-openai would send to OpenAI, with a model stack.
///
/// Chat completions and Responses are decoded, given to the stack and encoded again, whole or as a stream. Everything else is answered
/// with 404 in OpenAI's shape.
///
/// Nothing is stored, so a request for a Response that goes on from a stored one (`previous_response_id`, `conversation`, a reference to an
/// item) or wants to be answered later is refused with 400 and what to send instead; see [`provider_stores`](Self::provider_stores).
///
/// An error of the stack becomes the status that OpenAI would have answered with, so that async-openai reads it, and its own retry layer,
/// if it stands around this, obeys `retry-after`.
///
/// It is always ready. The stack is asked for readiness when the request has been built, so that what it refuses then has a status, too.
#[derive(Clone, Debug)]
pub struct InPlaceOfHttp<M> {
    model: M,
    provider_stores: bool,
}

impl<M> InPlaceOfHttp<M> {
    /// Hands requests to `model`.
    pub const fn new(model: M) -> Self {
        Self { model, provider_stores: false }
    }

    /// Lets the stack have what only a provider that stores replies can answer, because such a provider is at its end.
    #[must_use]
    pub const fn provider_stores(mut self) -> Self {
        self.provider_stores = true;
        self
    }
}

impl<M> Service<HttpRequestFactory> for InPlaceOfHttp<M>
where
    M: Service<ModelRequest, Response = ModelResponse> + Clone + Send + 'static,
    M::Error: Into<Error>,
    M::Future: Send,
{
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> ResponseFuture {
        let this = self.clone();
        Box::pin(async move {
            let request = factory.build().await?;
            let response = this.answer(&request).await;
            Ok(response.unwrap_or_else(|error| encode_error(&error).map(Body::from)).into())
        })
    }
}

impl<M> InPlaceOfHttp<M>
where
    M: Service<ModelRequest, Response = ModelResponse>,
    M::Error: Into<Error>,
{
    async fn answer(self, request: &Request) -> Result<Response<Body>, Error> {
        let (method, path) = (request.method(), request.url().path());
        let api = Api::of(method, path).ok_or_else(|| not_served(method, path))?;
        let asked = api.decode(body(request)?)?;
        if !self.provider_stores {
            api.refuse_stored(&asked)?;
        }
        let (stamp, is_streamed) = (api.stamp(&asked), asked.stream);
        let encoder = api.encoder(stamp.clone(), &asked);
        let reply = self.model.oneshot(asked).await.map_err(Into::into)?;
        if is_streamed {
            let frames = Frames::new(reply.body, encoder);
            return Ok(ok("text/event-stream", Body::wrap_stream(frames)));
        }
        let reply = reply.body.collect().await?;
        Ok(ok("application/json", api.encode(reply, &stamp).into()))
    }
}

fn body(request: &Request) -> Result<&[u8], Error> {
    let bytes = request.body().map_or(Some(&[][..]), Body::as_bytes);
    bytes.ok_or_else(|| {
        let text = "A model stack cannot read a body that is a stream. Nothing ran.";
        Error::new(ErrorKind::InvalidArguments, "the body is a stream").with_model_text(text)
    })
}

fn ok(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
