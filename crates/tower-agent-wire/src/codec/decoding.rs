//! Streamed replies: what is the same whatever the dialect.

use std::collections::VecDeque;

use tower_agent_core::{Error, ErrorKind, ModelEvent};

use super::{
    Flaw, cut_off,
    raw::{self, Fields},
};
use crate::sse::{Event, ParseError, Parser};

/// What is told of a reply, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    events: VecDeque<Result<ModelEvent, Error>>,
    is_over: bool,
}

impl Told {
    pub(crate) fn emit(&mut self, event: ModelEvent) {
        self.events.push_back(Ok(event));
    }

    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = ModelEvent>) {
        self.events.extend(events.into_iter().map(Ok));
    }

    /// Tells why the reply is over. Further bytes mean nothing.
    pub(crate) fn finish(&mut self, event: ModelEvent) {
        self.emit(event);
        self.is_over = true;
    }

    fn fail(&mut self, error: Error) {
        self.is_over = true;
        self.events.push_back(Err(error));
    }
}

/// How a dialect reads the events of a stream.
pub(crate) trait Reading: Default {
    /// What the dialect calls an event.
    const UNIT: &'static str = "event";

    fn told(&self) -> &Told;
    fn told_mut(&mut self) -> &mut Told;

    /// Takes the fields of an event with its name, if it has one, and its text.
    fn event(&mut self, name: Option<&str>, fields: Fields<'_>, text: &str) -> Result<(), Error>;

    /// `[DONE]`, which gateways send in dialects that do not have it, too.
    fn done(&mut self) {}

    /// Whether what came is a whole reply, although the stream goes on.
    fn is_complete(&self) -> bool {
        false
    }

    /// The end of the body of a whole reply.
    fn end(&mut self) {}
}

/// A stream that is read, from bytes that may be cut anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Decoding<R> {
    sse: Parser,
    reply: R,
}

impl<R: Reading> Decoding<R> {
    pub(crate) fn new(event_limit: usize) -> Self {
        Self { sse: Parser::new().limit(event_limit), reply: R::default() }
    }

    pub(crate) fn event_limit(mut self, bytes: usize) -> Self {
        self.sse = self.sse.limit(bytes);
        self
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.is_over() {
            self.sse.push(bytes);
            if let Err(error) = self.read() {
                self.reply.told_mut().fail(error);
            }
        }
    }

    pub(crate) fn finish(&mut self) {
        if self.is_over() {
            return;
        }
        self.sse.finish();
        match self.read() {
            // Half an event is no malformed one: whether the reply is whole was decided before it.
            Err(error) if error.kind() != ErrorKind::Protocol => self.reply.told_mut().fail(error),
            _ if self.is_over() => {}
            _ if self.reply.is_complete() => self.reply.end(),
            _ => {
                let what = "the provider's stream broke off before the reply was complete";
                self.reply.told_mut().fail(cut_off(what));
            }
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<Result<ModelEvent, Error>> {
        self.reply.told_mut().events.pop_front()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.is_over() || self.reply.is_complete()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.reply.told().is_over
    }

    fn read(&mut self) -> Result<(), Error> {
        while !self.is_over() {
            match self.sse.next_event() {
                None => break,
                Some(event) => self.event(&event.map_err(malformed)?)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.reply.done();
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let flaw = |reason| Flaw::new(R::UNIT, reason).in_reply();
        let text = raw::check(data.as_bytes()).map_err(flaw)?;
        let fields = Fields::parse(text).ok_or_else(|| flaw("is no JSON object"))?;
        self.reply.event(event.name.as_deref(), fields, text)
    }
}

fn malformed(error: ParseError) -> Error {
    Flaw::new("stream", error.to_string()).in_reply().with_source(error)
}

/// The decoder of a dialect, around how it reads events.
macro_rules! decoder {
    ($(#[$about:meta])* pub struct Decoder($reading:ty), $mebibytes:literal MiB) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct Decoder($crate::codec::Decoding<$reading>);

        impl Decoder {
            /// A decoder at the beginning of a stream.
            #[must_use]
            pub fn new() -> Self {
                Self($crate::codec::Decoding::new($mebibytes << 20))
            }

            #[doc = concat!("Sets how many bytes one event may have; without it ", $mebibytes, " MiB.")]
            #[must_use]
            pub fn event_limit(self, bytes: usize) -> Self {
                Self(self.0.event_limit(bytes))
            }

            /// Takes the next bytes of the body.
            pub fn push(&mut self, bytes: &[u8]) {
                self.0.push(bytes);
            }

            /// Takes the end of the body.
            pub fn finish(&mut self) {
                self.0.finish();
            }

            /// The next event, or the error that ends the stream.
            pub fn next_event(
                &mut self,
            ) -> Option<Result<tower_agent_core::ModelEvent, tower_agent_core::Error>> {
                self.0.next_event()
            }

            /// Whether the provider said all that makes the reply a whole one, even if the connection breaks now.
            #[must_use]
            pub fn is_complete(&self) -> bool {
                self.0.is_complete()
            }

            /// Whether the stream has ended, so that further bytes mean nothing.
            #[must_use]
            pub fn is_over(&self) -> bool {
                self.0.is_over()
            }
        }

        impl Default for Decoder {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}
