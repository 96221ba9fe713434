use std::time::Duration;

use tower_agent_core::{Error, ErrorKind, Json, Str};
use tower_service::Service;

use crate::pins::Pins;

use super::{
    Ask, Backoff, Endpoint, Limits, McpClient, Protocol, Question, fault, options::Options,
    questions::Answerer, shared::Shared,
};

/// Collects how a client behaves; see [`McpClient::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    name: Str,
    endpoint: Endpoint,
    options: Options,
    pins: Option<Pins>,
}

impl Builder {
    pub(crate) fn new(name: Str, endpoint: Endpoint) -> Self {
        Self { name, endpoint, options: Options::default(), pins: None }
    }

    /// Which generation of the protocol to speak; whichever the server knows unless set.
    pub const fn protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = protocol;
        self
    }

    /// How long connecting, greeting and reading the tools may take; 30 seconds.
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.options.connect = limit;
        self
    }

    /// How long a call may show no progress; 60 seconds. Each report of progress starts it again.
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.options.idle = limit;
        self
    }

    /// How long a call may take in all, whatever its progress; 10 minutes.
    pub const fn total_timeout(mut self, limit: Duration) -> Self {
        self.options.total = limit;
        self
    }

    /// How a lost server is tried again.
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.options.backoff = backoff;
        self
    }

    /// How much the server may send.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Pins the definitions of the tools when they are first seen, and keeps out what changes; see [`pins`](crate::pins).
    /// Nothing is pinned unless set.
    pub fn pins(mut self, pins: Pins) -> Self {
        self.pins = Some(pins);
        self
    }

    /// What the server is told about who calls; `tower-agent` and its version unless set.
    pub fn client_info(mut self, name: impl Into<Str>, version: impl Into<Str>) -> Self {
        self.options.client = (name.into(), version.into());
        self
    }

    /// Tells the server that a call may be answered with a question, which comes back as a suspended output; off unless
    /// set. Servers of 2025-11-25 ask in the middle of a call instead: without a service that [answers](Self::answer) they are then
    /// told that the user declined.
    pub const fn input(mut self, is_welcome: bool) -> Self {
        self.options.input = is_welcome;
        self
    }

    /// Tells the server that it may ask these things, and has a service answer: with the result of the protocol's method, such as
    /// `{"action": "accept", "content": {..}}`. Nothing may be asked unless set.
    ///
    /// A server of 2025-11-25 asks in the middle of a call. The service runs as a part of that call: it sees its context, is dropped
    /// with it, or when the server takes the question back, and while it runs the call may show no progress; the
    /// [limit in all](Self::total_timeout) holds. What a server asks outside a call, or in a way that does not tell which of several
    /// callers it means, is refused. A server of 2026-07-28 answers the call with its questions, and gets the answers with the same
    /// call once more, ten times at most; with [`input`](Self::input) or [`Asking`](super::Asking) these questions suspend the call
    /// instead.
    ///
    /// # Errors
    /// What the service returns as an error reaches the server as one: `rmcp`'s `ErrorData` from among its sources as it is, and
    /// otherwise its code and text for models.
    ///
    /// ```
    /// use tower_agent_core::{Error, Json};
    /// use tower_agent_mcp::client::{Ask, McpClient, Question};
    /// # use tower_agent_mcp::client::Child;
    ///
    /// let ask_user = tower::service_fn(|question: Question| async move {
    ///     println!("{} asks: {}", question.server, question.params.as_str());
    ///     Ok::<_, Error>(Json::from_text(r#"{"action": "cancel"}"#))
    /// });
    /// let builder = McpClient::builder("files", Child::new("mcp-server-files")).answer([Ask::Elicitation], ask_user);
    /// ```
    pub fn answer<S>(mut self, asks: impl IntoIterator<Item = Ask>, service: S) -> Self
    where
        S: Service<Question, Response = Json> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        self.options.answerer = Some(Answerer::new(asks, service));
        self
    }

    /// Tells the server that a call may become a task, which comes back as a suspended output; off unless set.
    pub const fn tasks(mut self, are_welcome: bool) -> Self {
        self.options.tasks = are_welcome;
        self
    }

    /// Connects, greets the server and reads its tools. From then on the client keeps the connection by itself.
    ///
    /// # Errors
    /// When the server cannot be reached, speaks no generation of the protocol that this client does, or is not ready
    /// in time; when the name is empty, or has control characters.
    pub async fn connect(self) -> Result<McpClient, Error> {
        let name = &*self.name;
        if name.is_empty() || name.chars().any(char::is_control) {
            let what =
                format!("{name:?} cannot name a server: it is empty, or has control characters");
            return Err(fault::error(ErrorKind::Other, what));
        }
        McpClient::open(Shared::new(self.name, self.endpoint, self.options, self.pins)).await
    }
}
