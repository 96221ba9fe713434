//! The questions that a server asks during one call, while they are answered.

use std::{future::pending, pin::Pin};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::sync::mpsc;
use tower_agent_core::{Error, Json, ToolCall};

use super::{Ask, Question, fault, open::Asked, shared::Shared};

/// How many questions of one call may be open at once; further ones wait.
const OPEN: usize = 8;

/// Answered inside the call's own future, so a call that ends takes its questions with it.
pub(crate) struct Questions<'a> {
    shared: &'a Shared,
    call: &'a ToolCall,
    asked: mpsc::Receiver<Asked>,
    open: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
}

impl<'a> Questions<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        call: &'a ToolCall,
        asked: mpsc::Receiver<Asked>,
    ) -> Self {
        Self { shared, call, asked, open: FuturesUnordered::new() }
    }

    /// Whether the server waits for us instead of the other way round.
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns when a question came or was answered.
    pub(crate) async fn step(&mut self) {
        tokio::select! {
            Some(()) = self.open.next() => {}
            Some(asked) = self.asked.recv(), if self.open.len() < OPEN => {
                self.open.push(Box::pin(settle(self.shared, self.call, asked)));
            }
            else => pending().await,
        }
    }
}

/// Answers a question, unless nobody waits for the answer any more.
async fn settle(shared: &Shared, call: &ToolCall, asked: Asked) {
    let Asked { ask, params, mut answer } = asked;
    tokio::select! {
        biased;
        () = answer.closed() => {}
        answered = self::answer(shared, call, ask, params) => drop(answer.send(answered)),
    }
}

/// Asks whoever answers for this client.
pub(crate) async fn answer(
    shared: &Shared,
    call: &ToolCall,
    ask: Ask,
    params: Json,
) -> Result<Json, Error> {
    let Some(answerer) = &shared.options.answerer else { return Err(fault::unasked(ask)) };
    if !answerer.asks.contains(&ask) {
        return Err(fault::unasked(ask));
    }
    let question = Question {
        ask,
        params,
        server: shared.name.clone(),
        call: call.id.clone(),
        tool: call.name.clone(),
        ctx: call.ctx.clone(),
    };
    answerer.ask(question).await
}
