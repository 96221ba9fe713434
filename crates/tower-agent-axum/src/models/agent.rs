//! An agent, seen as a model: its conversation in, the texts of its turns out.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tower_agent_core::{
    Conversation, Error, FinishReason, Message, ModelEvent, ModelRequest, ModelResponse, PartDelta,
    Role, RunBody, RunEvent, RunFinish, RunRequest, RunResponse, Str,
};

/// The run that a request asks for: its last message is the input, what came before is the conversation.
///
/// What a client says as an operator is part of the conversation, as the agent has instructions of its own.
pub(super) fn run_of(request: ModelRequest) -> RunRequest {
    let mut conversation = request.messages;
    let input: Conversation = conversation.make_mut().pop().into_iter().collect();
    if let Some(text) = request.instructions.filter(|text| !text.is_empty()) {
        conversation.make_mut().insert(0, Message::system(text));
    }
    let mut run = RunRequest::new(input).with_context(request.ctx);
    run.conversation = conversation;
    run.output = request.output;
    run.stream = request.stream;
    run
}

/// The run as a streamed reply.
pub(super) fn as_model(run: RunResponse, input: Conversation) -> ModelResponse {
    let answer = Answer { run: run.body, input, begun: false, next: None, said: Said::default() };
    let mut response = ModelResponse::stream(answer);
    response.head.outcome = run.head.outcome;
    response.head.provenance = run.head.provenance;
    response.head.extensions = run.head.extensions;
    response
}

pin_project! {
    /// The events of a reply made of those of a run.
    struct Answer {
        #[pin]
        run: RunBody,
        input: Conversation,
        begun: bool,
        next: Option<ModelEvent>,
        said: Said,
    }
}

/// What was said so far.
#[derive(Default)]
struct Said {
    /// Something, in whatever turn.
    anything: bool,
    /// Something of the message that is being made.
    of_message: bool,
}

impl Said {
    /// What an event adds to the answer.
    fn next(&mut self, input: &Conversation, event: &RunEvent) -> Option<ModelEvent> {
        match event {
            RunEvent::Model {
                event: ModelEvent::PartDelta { delta: PartDelta::Text(text), .. },
                ..
            } => self.piece(text),
            RunEvent::Message { turn, message } if is_answer(input, *turn, message) => {
                self.message(message)
            }
            _ => None,
        }
    }

    /// A piece of the answer, parted from what an earlier turn said.
    fn piece(&mut self, text: &Str) -> Option<ModelEvent> {
        if text.is_empty() {
            return None;
        }
        let parted = self.anything && !self.of_message;
        (self.anything, self.of_message) = (true, true);
        let text = if parted { format!("\n\n{text}").into() } else { text.clone() };
        Some(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text) })
    }

    /// A whole message, if its pieces did not come before.
    fn message(&mut self, message: &Message) -> Option<ModelEvent> {
        let piece = if self.of_message { None } else { self.piece(&message.text().into()) };
        self.of_message = false;
        piece
    }
}

impl Stream for Answer {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if !std::mem::replace(this.begun, true) {
            // The client sees at once that somebody answers.
            return Poll::Ready(Some(Ok(ModelEvent::Start { id: None, model: None, extra: None })));
        }
        loop {
            if let Some(event) = this.next.take() {
                return Poll::Ready(Some(Ok(event)));
            }
            *this.next = match ready!(this.run.as_mut().poll_next(cx)) {
                Some(Ok(RunEvent::Finished { finish, usage, .. })) => {
                    *this.next = Some(ModelEvent::Usage { usage });
                    let reason = finish_of(finish);
                    return Poll::Ready(Some(Ok(ModelEvent::Finish { reason })));
                }
                Some(Ok(event)) => this.said.next(this.input, &event),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
        }
    }
}

/// The input is told again in turn 0, and so is what a policy says in the agent's place.
fn is_answer(input: &Conversation, turn: u32, message: &Message) -> bool {
    *message.role() == Role::Assistant && (turn > 0 || !input.contains(message))
}

fn finish_of(finish: RunFinish) -> FinishReason {
    match finish {
        RunFinish::Length => FinishReason::Length,
        RunFinish::ContentFilter | RunFinish::Denied => FinishReason::ContentFilter,
        _ => FinishReason::Stop,
    }
}
