//! The model that is built in, so that the example needs no key and no network.
//!
//! It is no language model and says so: it looks for requests that it knows in the last message ("read config.toml",
//! "search for timeout"), asks for the tools that they need, and words what came back. The same conversation always gets
//! the same answer.
//!
//! It does as it is told in one thing that a policy forbids: asked to delete something, it calls `delete_file` even
//! when that tool was not offered, as a careless model would, so that one sees the allow-list refuse.

use std::{
    future::{Ready, ready},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tower_agent::{
    Conversation, Error, ErrorKind, Message, ModelEvent, ModelRequest, ModelResponse, Part,
    PartDelta, Reply, Role, ToolCallPart, ToolChoice, Usage,
};
use tower_service::Service;

mod answer;
mod plan;

use self::plan::{Plan, Wish};

/// The name that the model goes by.
pub(crate) const NAME: &str = "demo";

/// A small deterministic planner in the place of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demo {
    pace: Duration,
}

impl Demo {
    /// A model that speaks at a pace that an eye can follow.
    pub(crate) const fn new() -> Self {
        Self { pace: Duration::from_millis(18) }
    }

    fn answer(self, request: &ModelRequest) -> Result<ModelResponse, Error> {
        let parts = match decide(request) {
            Next::Say(text) => {
                vec![Part::text(answer::in_form(text, request.output.as_ref()))]
            }
            Next::Think => vec![answer::thought(), Part::text("I have thought about it.")],
            Next::Ask(wishes) => calls(&wishes, request.messages.len()),
            Next::Fail => return Err(failure()),
            Next::BreakOff if request.stream => return Ok(self.break_off()),
            Next::BreakOff => return Err(broken_off()),
        };
        let message = Message::new(Role::Assistant, parts);
        let usage = Usage::new(tokens(&request.messages), tokens_of(&message));
        let mut reply = Reply::new(message).with_usage(usage);
        reply.model = Some(NAME.into());
        let mut response =
            if request.stream { self.speak(reply) } else { ModelResponse::full(reply) };
        response.head.model = NAME.into();
        Ok(response)
    }

    /// The reply word by word.
    fn speak(self, reply: Reply) -> ModelResponse {
        let pieces: Vec<_> = reply.into_events().into_iter().flat_map(in_words).collect();
        ModelResponse::stream(stream::iter(pieces).then(move |event| self.paced(Ok(event))))
    }

    fn break_off(self) -> ModelResponse {
        let text = PartDelta::Text("I begin to answer, and in the middle of the".into());
        let begun = in_words(ModelEvent::PartDelta { index: 0, delta: text });
        let pieces: Vec<_> = begun.into_iter().map(Ok).chain([Err(broken_off())]).collect();
        ModelResponse::stream(stream::iter(pieces).then(move |event| self.paced(event)))
    }

    async fn paced(self, event: Result<ModelEvent, Error>) -> Result<ModelEvent, Error> {
        if matches!(event, Ok(ModelEvent::PartDelta { .. })) {
            tokio::time::sleep(self.pace).await;
        }
        event
    }
}

impl Service<ModelRequest> for Demo {
    type Response = ModelResponse;
    type Error = Error;
    type Future = Ready<Result<ModelResponse, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ModelRequest) -> Self::Future {
        ready(self.answer(&request))
    }
}

enum Next {
    Say(String),
    Think,
    Ask(Vec<Wish>),
    Fail,
    BreakOff,
}

fn decide(request: &ModelRequest) -> Next {
    let messages = &request.messages;
    let Some(asked) = messages.iter().rposition(|message| *message.role() == Role::User) else {
        return Next::Say(answer::help());
    };
    let since: Vec<_> = messages.iter().skip(asked + 1).collect();
    if since.iter().any(|message| *message.role() == Role::Tool) {
        return Next::Say(answer::from_results(&since));
    }
    let text = messages.get(asked).map(Message::text).unwrap_or_default();
    let may_ask = !request.tools.is_empty() && request.tool_choice != Some(ToolChoice::None);
    match plan::plan(&text) {
        Plan::Calls(wishes) if may_ask => Next::Ask(wishes),
        Plan::Calls(wishes) => Next::Say(answer::without_tools(&wishes)),
        Plan::Help => Next::Say(answer::help()),
        Plan::Puzzled => Next::Say(answer::puzzled()),
        Plan::Count(last) => Next::Say(answer::count(last)),
        Plan::Think => Next::Think,
        Plan::Recall => Next::Say(answer::recalled(messages)),
        Plan::Fail => Next::Fail,
        Plan::BreakOff => Next::BreakOff,
    }
}

/// Ids are told apart by their place in the conversation, so that none comes twice in it.
fn calls(wishes: &[Wish], place: usize) -> Vec<Part> {
    let call = |(number, wish): (usize, &Wish)| {
        let id = format!("call_{place}_{number}");
        Part::ToolCall(ToolCallPart::new(id, wish.tool(), wish.arguments()))
    };
    wishes.iter().enumerate().map(call).collect()
}

/// Splits a piece of text or of arguments after each space.
fn in_words(event: ModelEvent) -> Vec<ModelEvent> {
    let ModelEvent::PartDelta { index, delta } = &event else { return vec![event] };
    let word = |word: &str| {
        let mut delta = delta.clone();
        *delta.text_mut() = word.into();
        ModelEvent::PartDelta { index: *index, delta }
    };
    delta.text().split_inclusive(' ').map(word).collect()
}

fn failure() -> Error {
    Error::new(ErrorKind::Upstream { status: Some(503) }, "simulated: status 503")
        .with_model_text("The demo model failed, as it was asked to.")
}

fn broken_off() -> Error {
    Error::new(ErrorKind::Protocol, "simulated: the stream broke off")
        .with_model_text("The demo model broke off, as it was asked to.")
}

/// About what a tokeniser would count.
fn tokens(messages: &Conversation) -> u64 {
    messages.iter().map(|message| tokens_of(message) + 3).sum()
}

fn tokens_of(message: &Message) -> u64 {
    let length = |part: &Part| match part {
        Part::ToolCall(call) => call.name.len() + call.arguments.as_str().len(),
        Part::ToolResult(result) => result.text().len(),
        part => part.as_text().map_or(0, str::len),
    };
    let bytes: usize = message.parts().iter().map(length).sum();
    bytes.div_ceil(4) as u64
}

#[cfg(test)]
mod tests;
