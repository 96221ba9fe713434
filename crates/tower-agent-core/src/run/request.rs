use serde::{Deserialize, Serialize};

use crate::{
    Context, Conversation, Denial, Error, Failure, Json, Message, Operation, OperationKind, Origin,
    Outcome, OutputFormat, Provenance, RunBody, RunEvent, RunFinish, RunHead, RunResponse,
    Sampling, Str, Usage,
};

/// A run of an agent: new messages in, an answer out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunRequest {
    /// The conversation before this run.
    pub conversation: Conversation,
    /// The messages that this run answers.
    pub input: Conversation,
    /// Replaces the agent's own instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Str>,
    /// Replaces the agent's own model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Str>,
    /// Replaces the agent's own sampling parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// The form of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Whether to ask the model for streams, so that events carry the answer as it is made.
    pub stream: bool,
    /// Limits of this run; each can only tighten the agent's own.
    pub limits: RunLimits,
    /// Fields of the dialect for the model, an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
    /// Who asks, and until when.
    #[serde(skip)]
    pub ctx: Context,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunLimits {
    /// The most model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The most tool calls at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<usize>,
}

impl RunRequest {
    /// A run that answers messages.
    pub fn new(input: impl Into<Conversation>) -> Self {
        Self { input: input.into(), ..Self::default() }
    }

    /// A run that answers a user's text.
    pub fn user(text: impl Into<Str>) -> Self {
        Self::new(vec![Message::user(text)])
    }

    /// Sets who asks, and until when.
    #[must_use]
    pub fn with_context(mut self, ctx: Context) -> Self {
        self.ctx = ctx;
        self
    }

    /// Asks for a stream.
    #[must_use]
    pub fn streamed(mut self) -> Self {
        self.stream = true;
        self
    }

    fn in_place(&self, text: Str, finish: RunFinish, head: RunHead) -> RunResponse {
        let id = self.ctx.run().id().clone();
        let agent = self.ctx.run().agent().clone();
        let mut events = vec![RunEvent::Started { run: id, agent }];
        events.extend(
            self.input
                .iter()
                .map(|message| RunEvent::Message { turn: 0, message: message.clone() }),
        );
        events.push(RunEvent::Message { turn: 0, message: Message::assistant(text) });
        events.push(RunEvent::Finished { finish, turns: 0, usage: Usage::default() });
        RunResponse { head, body: RunBody::from_events(events) }
    }
}

impl Operation for RunRequest {
    type Output = RunResponse;

    const KIND: OperationKind = OperationKind::Run;

    /// The agent's name; empty before the request reached an agent.
    fn name(&self) -> &str {
        self.ctx.run().agent()
    }

    fn context(&self) -> &Context {
        &self.ctx
    }

    fn context_mut(&mut self) -> &mut Context {
        &mut self.ctx
    }

    fn denied(&self, denial: Denial) -> RunResponse {
        let text = denial.message.clone();
        let provenance = Provenance::made(Origin::Denied, denial.layer.clone());
        let head = RunHead { outcome: denial.into(), provenance, ..RunHead::default() };
        self.in_place(text, RunFinish::Denied, head)
    }

    fn failed(&self, error: &Error) -> RunResponse {
        let head = RunHead { outcome: Outcome::from(Failure::from(error)), ..RunHead::default() };
        self.in_place(error.model_text().into(), RunFinish::Failed, head)
    }
}
