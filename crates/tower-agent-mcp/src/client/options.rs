use std::time::Duration;

use tower_agent_core::Str;

use super::questions::Answerer;

/// The generation of the protocol that is spoken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Protocol {
    /// 2026-07-28 if the server knows it, otherwise 2025-11-25 or what it knows of before.
    #[default]
    Auto,
    /// The handshake of 2025-11-25 and before.
    Handshake,
    /// 2026-07-28, which has no handshake.
    Stateless,
}

/// How long to wait before a server is tried again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first wait; 500 milliseconds. Each further one is twice as long.
    pub first: Duration,
    /// The longest wait; 30 seconds.
    pub longest: Duration,
    /// After how many attempts in a row the client gives up; `None`, the default, means never. A connection that lasted longer
    /// than the longest wait begins a new row.
    pub attempts: Option<u32>,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), longest: Duration::from_secs(30), attempts: None }
    }
}

impl Backoff {
    /// The wait before an attempt, counted from 0.
    pub(crate) fn wait(&self, attempt: u32) -> Option<Duration> {
        if self.attempts.is_some_and(|most| attempt >= most) {
            return None;
        }
        let factor = 1u32.checked_shl(attempt).unwrap_or(u32::MAX);
        Some(self.first.saturating_mul(factor).min(self.longest))
    }
}

/// How much a server may send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest message, in bytes; 16 MiB. A longer one fails the call that it answers.
    pub message: usize,
    /// The longest result of a call, in bytes of JSON; 4 MiB.
    pub result: usize,
    /// The longest definition of one tool, in bytes of JSON; 256 KiB. A longer one keeps the tool out.
    pub tool: usize,
    /// The most tools; 4096.
    pub tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message: 16 << 20, result: 4 << 20, tool: 256 << 10, tools: 4096 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) protocol: Protocol,
    pub(crate) connect: Duration,
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
    pub(crate) backoff: Backoff,
    pub(crate) limits: Limits,
    pub(crate) client: (Str, Str),
    pub(crate) input: bool,
    pub(crate) tasks: bool,
    pub(crate) answerer: Option<Answerer>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            protocol: Protocol::Auto,
            connect: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
            backoff: Backoff::default(),
            limits: Limits::default(),
            client: ("tower-agent".into(), env!("CARGO_PKG_VERSION").into()),
            input: false,
            tasks: false,
            answerer: None,
        }
    }
}
