use std::time::Duration;

use tower_agent_core::{Error, ErrorKind, Str};

use crate::pins::Pins;

use super::{
    Backoff, Endpoint, Limits, McpClient, Protocol, fault, options::Options, shared::Shared,
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
    /// set. Servers of 2025-11-25 ask in the middle of a call instead, and are then told that the user declined.
    pub const fn input(mut self, is_welcome: bool) -> Self {
        self.options.input = is_welcome;
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
