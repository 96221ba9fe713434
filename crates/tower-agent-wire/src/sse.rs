//! Server-sent events: a parser that is fed whatever bytes arrive, and a writer of frames.
//!
//! ```
//! use tower_agent_wire::sse::Parser;
//!
//! let mut parser = Parser::new();
//! parser.push(b": keep-alive\n\nevent: ping\nda");
//! assert!(parser.next_event().is_none());
//! parser.push(b"ta: one\ndata:two\n\n");
//! let event = parser.next_event().unwrap()?;
//! assert_eq!((event.name.as_deref(), &*event.data), (Some("ping"), "one\ntwo"));
//! # Ok::<(), tower_agent_wire::sse::ParseError>(())
//! ```
//!
//! It follows the event-stream format of the HTML standard, with three differences that suit clients of models: text
//! that is not UTF-8 is an error instead of being patched, an event may not grow without limit, and the event that
//! the last bytes leave open counts when the stream ends, since some servers leave out the last empty line. Reconnection
//! (`id`, `retry`) is not for requests that cost money, so those fields are skipped.

use std::{error::Error as StdError, fmt};

use bytes::Bytes;

/// One event.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its lines of data, joined by line ends.
    pub data: String,
}

/// Why bytes are no events.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParseError {
    /// A line is not UTF-8.
    NotUtf8,
    /// An event is larger than the parser's limit.
    TooLarge,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "an event is not UTF-8",
            Self::TooLarge => "an event is too large",
        })
    }
}

impl StdError for ParseError {}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Puts events together from pieces that may be cut anywhere.
///
/// Its work is linear in the bytes, whatever their pieces. After an error it gives nothing more.
#[derive(Clone, Debug)]
pub struct Parser {
    buffer: Vec<u8>,
    /// Where the first unread line begins.
    start: usize,
    /// Up to where the buffer holds no line end.
    scanned: usize,
    after_cr: bool,
    is_first_line: bool,
    is_failed: bool,
    event: Event,
    has_data: bool,
    limit: usize,
}

impl Parser {
    /// The usual limit of an event: 16 MiB.
    pub const DEFAULT_LIMIT: usize = 16 << 20;

    /// A parser at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            after_cr: false,
            is_first_line: true,
            is_failed: false,
            event: Event::default(),
            has_data: false,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets how many bytes one event may have.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.is_failed {
            self.buffer.drain(..self.start);
            self.scanned = self.scanned.saturating_sub(self.start);
            self.start = 0;
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next complete event.
    pub fn next_event(&mut self) -> Option<Result<Event, ParseError>> {
        if self.is_failed {
            return None;
        }
        while let Some((start, end)) = self.next_line() {
            match self.take_line(start, end) {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(error) => return Some(Err(self.fail(error))),
            }
        }
        let pending = self.buffer.len().saturating_sub(self.start);
        (pending + self.event.data.len() > self.limit).then(|| Err(self.fail(ParseError::TooLarge)))
    }

    /// Ends the stream; what the last bytes left open is the last event.
    pub fn finish(&mut self) {
        self.push(b"\n\n");
    }

    fn fail(&mut self, error: ParseError) -> ParseError {
        self.is_failed = true;
        self.buffer = Vec::new();
        (self.start, self.scanned) = (0, 0);
        error
    }

    /// The bounds of the next line; a line feed right after a carriage return belongs to the line before.
    fn next_line(&mut self) -> Option<(usize, usize)> {
        if self.after_cr && self.start < self.buffer.len() {
            self.after_cr = false;
            if self.buffer.get(self.start) == Some(&b'\n') {
                self.start += 1;
                self.scanned = self.scanned.max(self.start);
            }
        }
        let unscanned = self.buffer.get(self.scanned..)?;
        let Some(found) = unscanned.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let (start, end) = (self.start, self.scanned + found);
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.scanned = self.start;
        Some((start, end))
    }

    fn take_line(&mut self, start: usize, end: usize) -> Result<Option<Event>, ParseError> {
        let mut line = self.buffer.get(start..end).unwrap_or_default();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.take_event());
        }
        let line = std::str::from_utf8(line).map_err(|_| ParseError::NotUtf8)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        if self.event.data.len() + value.len() > self.limit {
            return Err(ParseError::TooLarge);
        }
        match field {
            "event" => self.event.name = Some(value.into()),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            _ => {}
        }
        Ok(None)
    }

    /// An event without data is none, even if it has a name.
    fn take_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes one event.
///
/// ```
/// assert_eq!(tower_agent_wire::sse::encode(Some("note"), "one\ntwo"), "event: note\ndata: one\ndata: two\n\n");
/// ```
#[must_use]
pub fn encode(name: Option<&str>, data: &str) -> Bytes {
    let mut out = String::with_capacity(data.len() + 16);
    if let Some(name) = name {
        // A line end in the name would begin another field.
        let name = name.split(['\n', '\r']).next().unwrap_or_default();
        out.push_str("event: ");
        out.push_str(name);
        out.push('\n');
    }
    for line in data.replace("\r\n", "\n").split(['\n', '\r']) {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    Bytes::from(out)
}

/// A comment, which keeps an idle connection alive and means nothing.
///
/// ```
/// assert_eq!(tower_agent_wire::sse::comment("keep-alive"), ": keep-alive\n\n");
/// ```
#[must_use]
pub fn comment(text: &str) -> Bytes {
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    Bytes::from(format!(": {line}\n\n"))
}
