//! Streamable HTTP whose results are the text that the server sent.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
    },
};
use sse_stream::{Error as SseError, Sse, SseStream};

use super::raw::{self, Raw};

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

type Fault = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The library's client, but for the requests whose results are wanted as text.
#[derive(Clone)]
pub(crate) struct RawHttp {
    http: reqwest::Client,
    raw: Arc<Mutex<HashSet<RequestId>>>,
}

impl RawHttp {
    pub(crate) fn new(http: reqwest::Client) -> Self {
        Self { http, raw: Arc::default() }
    }

    fn raw(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces results and questions in a stream by their text.
    fn texts(&self, events: Events) -> Events {
        let this = self.clone();
        Box::pin(events.map(move |event| {
            event.map(|mut event| {
                event.data = event.data.map(|data| this.text(data));
                event
            })
        }))
    }

    fn text(&self, data: String) -> String {
        if let Some(question) = raw::wrapped(&data) {
            return question;
        }
        let mut raw = self.raw();
        if raw.is_empty() {
            return data;
        }
        let before = raw.len();
        let message = raw::decode(data.as_bytes(), &mut raw);
        match message.filter(|_| raw.len() < before) {
            Some(message) => serde_json::to_string(&raw::teach(message)).unwrap_or(data),
            None => data,
        }
    }

    async fn post(
        &self,
        post: Post,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let had_session = post.session.is_some();
        let response = post.request(&self.http)?.send().await.map_err(Fault::Client)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if let Some(fault) = refused(status, &headers, had_session) {
            return Err(fault);
        }
        let session = header(&headers, SESSION).map(str::to_owned);
        let kind = header(&headers, CONTENT_TYPE.as_str()).unwrap_or_default();
        if status.is_success() && kind.starts_with(EVENTS) {
            let events = bounded(response, limits.max_sse_event_size);
            return Ok(StreamableHttpPostResponse::Sse(self.texts(events), session));
        }
        let is_json = kind.starts_with(JSON);
        let limit =
            if is_json { limits.max_json_response_size } else { limits.max_error_response_size };
        let body = read(response, limit, is_json).await?;
        let message = if is_json { raw::decode(&body, &mut self.raw()) } else { None };
        match message {
            Some(message) if status.is_success() => {
                Ok(StreamableHttpPostResponse::Json(raw::teach(message), session))
            }
            Some(message @ ServerJsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            _ if status.is_server_error() => {
                Err(HttpStatusError::new(status.as_u16(), None).into())
            }
            _ => Err(unexpected(status, &body)),
        }
    }
}

/// A request on its way.
struct Post {
    uri: Arc<str>,
    body: String,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: Headers,
}

impl Post {
    fn request(self, http: &reqwest::Client) -> Result<reqwest::RequestBuilder, Fault> {
        let mut request = http.post(&*self.uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        for (name, value) in self.headers {
            // The protocol's own headers come from the library; a user's may not replace ours.
            if [ACCEPT.as_str(), CONTENT_TYPE.as_str(), SESSION].contains(&name.as_str()) {
                return Err(Fault::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = self.session {
            request = request.header(SESSION, &*session);
        }
        Ok(request.header(CONTENT_TYPE, JSON).body(self.body))
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// What the status alone says.
fn refused(status: StatusCode, headers: &HeaderMap, had_session: bool) -> Option<Fault> {
    let challenge = header(headers, WWW_AUTHENTICATE.as_str()).unwrap_or_default().to_owned();
    match status {
        StatusCode::UNAUTHORIZED => Some(Fault::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN if !challenge.is_empty() => {
            Some(Fault::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        StatusCode::NOT_FOUND if had_session => Some(Fault::SessionExpired),
        StatusCode::TOO_MANY_REQUESTS => {
            let wait = header(headers, RETRY_AFTER.as_str()).map(str::to_owned);
            Some(HttpStatusError::new(status.as_u16(), wait).into())
        }
        _ => None,
    }
}

fn unexpected(status: StatusCode, body: &[u8]) -> Fault {
    let start = body.get(..body.len().min(256)).unwrap_or_default();
    let text = format!("HTTP {status}: {}", String::from_utf8_lossy(start));
    Fault::UnexpectedServerResponse(Cow::Owned(text))
}

/// Reads a body to its end. One that is too long is an error if it matters, and cut otherwise.
async fn read(response: reqwest::Response, limit: usize, matters: bool) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(Fault::Client)?;
        let room = limit.saturating_sub(body.len());
        body.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
        if piece.len() > room {
            if matters {
                return Err(Fault::ResponseBodyTooLarge { max_size: limit });
            }
            break;
        }
    }
    Ok(body)
}

/// The events of a body, with a limit for what comes between two empty lines.
fn bounded(response: reqwest::Response, limit: usize) -> Events {
    let state = (response.bytes_stream().boxed(), Gauge::default());
    let pieces = stream::try_unfold(state, move |(mut pieces, mut gauge)| async move {
        match pieces.next().await {
            None => Ok(None),
            Some(Err(error)) => Err(std::io::Error::other(error)),
            Some(Ok(piece)) if gauge.fits(&piece, limit) => Ok(Some((piece, (pieces, gauge)))),
            Some(Ok(_)) => {
                Err(std::io::Error::other(format!("an event is longer than {limit} bytes")))
            }
        }
    });
    Box::pin(SseStream::from_bytes_stream(Box::pin(pieces)))
}

/// How long the event is so far.
#[derive(Default)]
struct Gauge {
    event: usize,
    line: usize,
}

impl Gauge {
    fn fits(&mut self, piece: &[u8], limit: usize) -> bool {
        piece.iter().all(|byte| {
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => (self.line, self.event) = (self.line + 1, self.event + 1),
            }
            self.event <= limit
        })
    }
}

impl StreamableHttpClient for RawHttp {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        if let ClientJsonRpcMessage::Notification(note) = &message
            && let ClientNotification::CancelledNotification(note) = &note.notification
            && let Some(id) = &note.params.request_id
        {
            self.raw().remove(id);
        }
        let ClientJsonRpcMessage::Request(request) = &message else {
            return self
                .http
                .post_message_with_response_limits(uri, message, session, token, headers, limits)
                .await;
        };
        if Raw::of(&request.request).is_none() {
            return self
                .http
                .post_message_with_response_limits(uri, message, session, token, headers, limits)
                .await;
        }
        let id = request.id.clone();
        let body = raw::encode(&message)?;
        self.raw().insert(id.clone());
        let result = self.post(Post { uri, body, session, token, headers }, limits).await;
        if result.is_err() {
            self.raw().remove(&id);
        }
        result
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        self.http.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let events = self.http.get_stream(uri, session, last_event, token, headers).await?;
        Ok(self.texts(events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<Events, Fault> {
        let events = self
            .http
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
            .await?;
        Ok(self.texts(events))
    }
}
