//! Calls that an older server asks something in their middle, for a client of the newer protocol. It is asked by a result, and
//! answers with the same call once more; until then the call at the server is kept here.

use std::{
    collections::HashMap,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tower_agent::{Error, Json, Str, Suspension, ToolOutput};
use tower_agent_mcp::{client::Ask, server::Caller};
use uuid::Uuid;

use super::{Said, asks::withheld};
use crate::masks::Masks;

/// What the state of a call that is kept here begins with.
const PREFIX: &str = "mcp-gateway/held/";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// The most calls that are kept.
const MOST: usize = 256;

/// What a server asks, masked, and the way back.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(super) ask: Ask,
    pub(super) params: Json,
    pub(super) answer: oneshot::Sender<Result<Json, Error>>,
}

/// A call that runs at a server.
pub(crate) struct Open {
    /// The server and its name for the tool.
    pub(super) tool: (Str, Str),
    pub(super) answer: Pin<Box<dyn Future<Output = Result<ToolOutput, Error>> + Send>>,
    pub(super) said: mpsc::Receiver<Said>,
}

struct Kept {
    open: Open,
    asked: Vec<Asked>,
    until: Instant,
}

/// The calls that wait for their clients. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Held(Arc<Mutex<HashMap<Str, Kept>>>);

impl Held {
    /// Keeps a call, and returns what its client is asked.
    pub(super) fn keep(&self, open: Open, asked: Vec<Asked>) -> Option<ToolOutput> {
        let question = |(at, asked): (usize, &Asked)| {
            let params = asked.params.value().cloned().unwrap_or_default();
            (at.to_string(), json!({ "method": asked.ask.method(), "params": params }))
        };
        let request: serde_json::Map<_, _> = asked.iter().enumerate().map(question).collect();
        // Whoever knows the id may answer.
        let id = Str::from(format!("{PREFIX}{}", Uuid::now_v7()));
        let kept = Kept { open, asked, until: Instant::now() + PATIENCE };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() >= MOST {
            return None;
        }
        calls.insert(id.clone(), kept);
        drop(calls);
        let reason = "the server asks for input";
        let waits = Suspension::new("mcp", id, reason).request(Value::Object(request));
        Some(ToolOutput::default().with_outcome(waits))
    }

    /// The call that a client goes on with, to whose server its answers are on their way; nothing for a call that begins.
    ///
    /// # Errors
    /// When the call is not there any more, or is another one.
    pub(super) fn resume(
        &self,
        caller: &Caller,
        tool: &(Str, Str),
        masks: &Masks,
    ) -> Result<Option<Open>, Gone> {
        let Some(state) = caller.request_state().filter(|state| state.starts_with(PREFIX)) else {
            return Ok(None);
        };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.get(state).is_none_or(|kept| kept.open.tool != *tool) {
            return Err(Gone);
        }
        let Kept { open, asked, .. } = calls.remove(state).ok_or(Gone)?;
        drop(calls);
        let responses = caller.input_responses();
        for (at, asked) in asked.into_iter().enumerate() {
            let response = responses.and_then(|responses| responses.get(&at.to_string()));
            let answer = response.map(|response| Json::from_value(response.clone()));
            let answer = answer.and_then(|answer| masks.inward(answer)).ok_or_else(withheld);
            // A server that took its question back waits for nothing.
            drop(asked.answer.send(answer));
        }
        Ok(Some(open))
    }

    /// Gives up the calls whose clients never came back.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, kept| kept.until > now);
    }
}

/// A call that cannot be gone on with.
pub(super) struct Gone;

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(held: &Held) -> (Option<ToolOutput>, oneshot::Receiver<Result<Json, Error>>) {
        let (answer, answered) = oneshot::channel();
        let asked = Asked { ask: Ask::Roots, params: Json::object(), answer };
        let open = Open {
            tool: ("server".into(), "tool".into()),
            answer: Box::pin(std::future::pending()),
            said: mpsc::channel(1).1,
        };
        (held.keep(open, vec![asked]), answered)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_whose_client_never_comes_back_is_given_up() {
        let held = Held::default();
        let (first, gone) = asks(&held);
        assert!(first.is_some());
        tokio::time::advance(PATIENCE / 2).await;
        let (second, mut waits) = asks(&held);
        assert!(second.is_some());
        tokio::time::advance(PATIENCE / 2).await;
        held.sweep();
        assert!(gone.await.is_err());
        assert_eq!(waits.try_recv().err(), Some(oneshot::error::TryRecvError::Empty));
    }

    #[tokio::test]
    async fn there_are_never_too_many_calls_that_wait() {
        let held = Held::default();
        let waits: Vec<_> = (0..MOST).map(|_| asks(&held)).collect();
        assert!(waits.iter().all(|(output, _)| output.is_some()));
        let (refused, gone) = asks(&held);
        assert!(refused.is_none() && gone.await.is_err());
    }
}
