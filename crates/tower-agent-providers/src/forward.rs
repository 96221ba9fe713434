use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body::{Body, Frame, SizeHint};
use sync_wrapper::SyncWrapper;
use tower_agent_core::BoxError;
use tower_service::Service;

use crate::{BuildError, transport::Settings};

/// Headers that belong to one connection and not to the message.
const OF_CONNECTION: [HeaderName; 7] = [
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Sends HTTP requests to a provider as they are: path, query, headers and body, streamed both ways.
///
/// It is for the paths of a provider that no model service speaks, such as embeddings and files, beside a proxy of
/// tower-agent-axum. No layer of a model stack sees what goes through it, so neither redaction nor limits hold there.
///
/// ```
/// use tower_agent_providers::Forward;
///
/// // The paths of requests stay, so the URL has no `/v1`.
/// let rest = Forward::to("http://127.0.0.1:4000").header("x-team", "search").build()?;
/// # let _ = rest;
/// # Ok::<(), tower_agent_providers::BuildError>(())
/// ```
///
/// # Errors
///
/// It never fails: an upstream that cannot be reached, or breaks before it answers, is a response 502 (504 if it was silent for too
/// long) with an error in OpenAI's form; a path that leads out of the origin's own, as `/../admin` does, is a 404. A connection that breaks later breaks the body.
///
/// # Cancellation
///
/// Dropping the future or the body closes the connection.
#[derive(Clone)]
pub struct Forward(Arc<Inner>);

struct Inner {
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
}

impl Forward {
    /// A service in front of an origin, such as `https://api.openai.com`.
    pub fn to(origin: impl Into<String>) -> ForwardBuilder {
        let mut settings = Settings::new(origin.into());
        settings.headers = HeaderMap::new();
        ForwardBuilder(settings)
    }
}

/// Makes a [`Forward`].
#[derive(Debug)]
#[must_use]
pub struct ForwardBuilder(Settings);

impl ForwardBuilder {
    /// Sends a header in place of the caller's, such as a key of the host's; its value is treated as confidential.
    pub fn header(
        mut self,
        name: impl TryInto<HeaderName, Error: Into<http::Error>>,
        value: impl TryInto<HeaderValue, Error: Into<http::Error>>,
    ) -> Self {
        self.0.header(name, value);
        self
    }

    /// How long the upstream may be silent; 10 minutes without this.
    pub const fn read_timeout(mut self, limit: Duration) -> Self {
        self.0.read_timeout = limit;
        self
    }

    /// Uses a client of your own, for proxies or certificates. Then time-outs, redirects and proxies are its affair: switch
    /// redirects off there.
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.0.client(client);
        self
    }

    /// Finishes the service. Nothing is sent.
    ///
    /// # Errors
    /// When the URL or a header is invalid, or https is not available.
    pub fn build(mut self) -> Result<Forward, BuildError> {
        let (client, url) = self.0.connect(&[])?;
        Ok(Forward(Arc::new(Inner { client, url, headers: self.0.headers })))
    }
}

impl Inner {
    /// Where a request goes; nowhere if its path leads out of the folder that the URL names.
    fn url(&self, uri: &Uri) -> Option<reqwest::Url> {
        let mut url = self.url.clone();
        let folder = self.url.path().trim_end_matches('/');
        url.set_path(&format!("{folder}{}", uri.path()));
        url.set_query(uri.query());
        let inside = url.path().strip_prefix(folder).is_some_and(|path| path.starts_with('/'));
        inside.then_some(url)
    }

    /// The headers of a message without those of its connection.
    fn of_message(&self, headers: &HeaderMap) -> HeaderMap {
        let mut passed = without_connection(headers);
        for (name, value) in &self.headers {
            passed.insert(name, value.clone());
        }
        passed
    }
}

fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<_> = named
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut passed = headers.clone();
    OF_CONNECTION.iter().for_each(|name| drop(passed.remove(name)));
    named.iter().for_each(|name| drop(passed.remove(name)));
    passed
}

impl<B> Service<Request<B>> for Forward
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    type Response = Response<reqwest::Body>;
    type Error = Infallible;
    type Future = ForwardFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ForwardFuture {
        let inner = Arc::clone(&self.0);
        let (parts, body) = request.into_parts();
        ForwardFuture(Box::pin(async move {
            let Some(url) = inner.url(&parts.uri) else { return Ok(outside()) };
            let sent = inner
                .client
                .request(parts.method, url)
                .headers(inner.of_message(&parts.headers))
                .body(reqwest::Body::wrap(Sent::new(body)))
                .send()
                .await;
            Ok(sent.map_or_else(|error| broken(&error), answer))
        }))
    }
}

fn answer(answer: reqwest::Response) -> Response<reqwest::Body> {
    let mut response = Response::from(answer);
    *response.headers_mut() = without_connection(response.headers());
    response
}

fn broken(error: &reqwest::Error) -> Response<reqwest::Body> {
    let (status, what) = if error.is_timeout() {
        (StatusCode::GATEWAY_TIMEOUT, "The provider was silent for too long.")
    } else {
        (StatusCode::BAD_GATEWAY, "The provider could not be reached.")
    };
    refusal(status, what, "upstream_error", "upstream_failed")
}

fn outside() -> Response<reqwest::Body> {
    let what = "There is no such path here.";
    refusal(StatusCode::NOT_FOUND, what, "invalid_request_error", "unknown_url")
}

fn refusal(status: StatusCode, what: &str, kind: &str, code: &str) -> Response<reqwest::Body> {
    let body = format!(
        r#"{{"error":{{"message":"{what}","type":"{kind}","param":null,"code":"{code}"}}}}"#
    );
    let mut response = Response::new(reqwest::Body::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.0.url.host_str().unwrap_or_default();
        f.debug_struct("Forward").field("host", &host).finish_non_exhaustive()
    }
}

/// The answer of a provider to a request that was sent on.
#[must_use = "futures do nothing unless polled"]
pub struct ForwardFuture(
    Pin<Box<dyn Future<Output = Result<Response<reqwest::Body>, Infallible>> + Send>>,
);

impl Future for ForwardFuture {
    type Output = Result<Response<reqwest::Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ForwardFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwardFuture").finish_non_exhaustive()
    }
}

/// A body on its way to the provider.
struct Sent<B> {
    body: SyncWrapper<B>,
    /// The body's own, as far as it told before it was sent.
    hint: SizeHint,
}

impl<B: Body> Sent<B> {
    fn new(body: B) -> Self {
        let hint = body.size_hint();
        Self { body: SyncWrapper::new(body), hint }
    }
}

impl<B: Body + Unpin> Body for Sent<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(self.body.get_mut()).poll_frame(cx)
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}
