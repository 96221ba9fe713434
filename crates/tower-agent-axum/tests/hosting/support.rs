//! Agents, callers and counters that the tests share.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode, header},
    response::Response,
};
use futures_core::Stream;
use serde_json::Value;
use tower::{Service, ServiceExt, service_fn};
use tower_agent_core::{
    Error, Message, ModelRequest, ModelResponse, RunBody, RunEvent, RunFinish, RunRequest,
    RunResponse, Usage,
};

/// The events of a run that says one thing.
pub(crate) fn says(text: &str) -> Vec<RunEvent> {
    vec![
        RunEvent::Started { run: "r".into(), agent: "parrot".into() },
        RunEvent::TurnStarted { turn: 1 },
        RunEvent::Message { turn: 1, message: Message::assistant(text) },
        finished(),
    ]
}

pub(crate) fn finished() -> RunEvent {
    RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Usage::new(3, 5) }
}

/// An agent that keeps what it was asked and gives the same events each time.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<RunRequest>>>);

impl Seen {
    pub(crate) fn last(&self) -> RunRequest {
        self.0.lock().unwrap().last().expect("the agent was asked").clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn agent(
        &self,
        events: Vec<RunEvent>,
    ) -> impl Service<
        RunRequest,
        Response = RunResponse,
        Error = Error,
        Future = impl Future<Output = Result<RunResponse, Error>> + Send,
    > + Clone
    + Send
    + Sync
    + 'static {
        let seen = self.clone();
        service_fn(move |request: RunRequest| {
            seen.0.lock().unwrap().push(request);
            let events = events.clone();
            async move { Ok(RunResponse::new(RunBody::from_events(events))) }
        })
    }
}

/// What happened to the streams of an agent.
#[derive(Clone, Default)]
pub(crate) struct Counters {
    pub(crate) polled: Arc<AtomicUsize>,
    pub(crate) made: Arc<AtomicUsize>,
    pub(crate) started: Arc<AtomicUsize>,
    pub(crate) dropped: Arc<AtomicUsize>,
}

impl Counters {
    pub(crate) fn polled(&self) -> usize {
        self.polled.load(Ordering::SeqCst)
    }

    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    pub(crate) fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// A stream that gives `events` and then `end`s, or hangs.
    pub(crate) fn stream(&self, events: Vec<RunEvent>, hang: bool) -> Counted {
        self.started.fetch_add(1, Ordering::SeqCst);
        Counted { events: events.into_iter(), hang, counters: self.clone() }
    }
}

pub(crate) struct Counted {
    events: std::vec::IntoIter<RunEvent>,
    hang: bool,
    counters: Counters,
}

impl Stream for Counted {
    type Item = Result<RunEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.counters.polled.fetch_add(1, Ordering::SeqCst);
        match self.events.next() {
            Some(event) => {
                self.counters.made.fetch_add(1, Ordering::SeqCst);
                Poll::Ready(Some(Ok(event)))
            }
            None if self.hang => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counters.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// A JSON request.
pub(crate) fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).header(header::CONTENT_TYPE, "application/json").body(body.into()).unwrap()
}

pub(crate) fn with_header(
    mut request: Request<Body>,
    name: &'static str,
    value: &str,
) -> Request<Body> {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

pub(crate) fn wants_json(request: Request<Body>) -> Request<Body> {
    with_header(request, "accept", "application/json")
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        Self { status: head.status, headers: head.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The error, whose shape is checked.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{}", self.body);
        let error = self.json()["error"].clone();
        for field in ["message", "type", "code"] {
            assert!(error[field].is_string(), "{field} of {}", self.body);
        }
        assert!(error.as_object().unwrap().contains_key("param"));
        error
    }

    /// The chunks of a chat stream, whose end is checked.
    #[track_caller]
    pub(crate) fn chunks(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.body);
        assert_eq!(self.header("content-type"), "text/event-stream");
        let body = self.body.strip_suffix("data: [DONE]\n\n").expect("the stream ends with [DONE]");
        datas(body)
    }

    /// The chunks of a chat stream that failed: those before, and the error.
    #[track_caller]
    pub(crate) fn broken_chunks(&self) -> (Vec<Value>, Value) {
        assert!(!self.body.contains("[DONE]"), "{}", self.body);
        let mut datas = datas(&self.body);
        let error = datas.pop().expect("there is an error")["error"].clone();
        assert!(error["message"].is_string(), "{}", self.body);
        (datas, error)
    }

    /// The events of a stream: name, id, data.
    pub(crate) fn events(&self) -> Vec<(String, String, Value)> {
        let blocks = self.body.split("\n\n").filter(|block| !block.is_empty());
        blocks.map(event).collect()
    }
}

fn datas(body: &str) -> Vec<Value> {
    let blocks = body.split("\n\n").filter(|block| !block.is_empty());
    blocks
        .map(|block| serde_json::from_str(block.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

/// The text that chunks say together.
pub(crate) fn text_of(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

/// Why the reply of chunks is over, told exactly once.
#[track_caller]
pub(crate) fn finish_of(chunks: &[Value]) -> String {
    let reasons: Vec<_> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str()).collect();
    assert_eq!(reasons.len(), 1, "{chunks:?}");
    reasons[0].to_owned()
}

fn event(block: &str) -> (String, String, Value) {
    let field = |name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim_start().to_owned()
    };
    let data = serde_json::from_str(&field("data:")).unwrap();
    (field("event:"), field("id:"), data)
}

pub(crate) async fn ask(app: &Router, request: Request<Body>) -> Answer {
    Answer::of(app.clone().oneshot(request).await.unwrap()).await
}

/// A chat request for a model with one message of the user, and more fields.
pub(crate) fn chat(model: &str, more: impl Into<Value>) -> Request<Body> {
    let mut body =
        serde_json::json!({"model": model, "messages": [{"role": "user", "content": "Hello"}]});
    let Value::Object(more) = more.into() else { panic!("more fields are an object") };
    body.as_object_mut().unwrap().extend(more);
    post("/v1/chat/completions", body.to_string())
}

/// Model requests that arrived.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<Mutex<Vec<ModelRequest>>>);

impl Asked {
    pub(crate) fn last(&self) -> ModelRequest {
        self.0.lock().unwrap().last().expect("the model was asked").clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// A model that keeps what it was asked and answers the same each time.
    pub(crate) fn model(
        &self,
        answer: impl Fn(&ModelRequest) -> Result<ModelResponse, Error> + Clone + Send + Sync + 'static,
    ) -> impl Service<
        ModelRequest,
        Response = ModelResponse,
        Error = Error,
        Future = impl Future<Output = Result<ModelResponse, Error>> + Send,
    > + Clone
    + Send
    + Sync
    + 'static {
        let asked = self.clone();
        service_fn(move |request: ModelRequest| {
            let answer = answer(&request);
            asked.0.lock().unwrap().push(request);
            std::future::ready(answer)
        })
    }
}
