//! The arguments of calls as the client wrote them. The library reads them into values, which sort the keys and round numbers that
//! no double holds; here they are read off the wire beside it.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use rmcp::model::RequestId;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, ReadBuf};
use tower_agent_core::Json;

/// The longest message, as the library has it.
const LINE: usize = 16 << 20;
/// How many calls may be read before the library takes them.
const AHEAD: usize = 1024;

/// Stands in the extensions of a request.
#[derive(Clone)]
pub(crate) struct Arguments(pub(crate) Json);

#[derive(Deserialize)]
struct Call<'a> {
    id: RequestId,
    #[serde(borrow)]
    method: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// The id and the arguments of a message that is a call. Nothing for arguments in which a key stands twice: two readers may see two
/// calls in them, so there the library's reading holds for everybody.
pub(crate) fn arguments(message: &[u8]) -> Option<(RequestId, Json)> {
    let call: Call<'_> = serde_json::from_slice(message.trim_ascii()).ok()?;
    let text = call.params.arguments.get();
    (call.method == "tools/call" && is_unique(text)).then(|| (call.id, Json::from_text(text)))
}

fn is_unique(json: &str) -> bool {
    serde_json::from_str::<Unique>(json).is_ok()
}

/// JSON in which no object has a key twice.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a key that stands twice")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Unique, A::Error> {
        let mut keys = HashSet::new();
        while let Some((key, Unique)) = fields.next_entry::<String, Unique>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Unique)
    }
}

/// The calls that were read off a connection and not yet taken, in their order.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<VecDeque<(RequestId, Json)>>>);

impl Calls {
    fn calls(&self) -> MutexGuard<'_, VecDeque<(RequestId, Json)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, line: &[u8]) {
        let Some(call) = arguments(line) else { return };
        let mut calls = self.calls();
        if calls.len() == AHEAD {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    /// The arguments of the next call with an id; those that the library passed over are gone.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Arguments> {
        let mut calls = self.calls();
        let at = calls.iter().position(|(known, _)| known == id)?;
        calls.drain(..=at).next_back().map(|(_, json)| Arguments(json))
    }
}

/// A reader whose lines are looked at as they pass.
pub(crate) struct Lines<R> {
    inner: R,
    line: Vec<u8>,
    is_too_long: bool,
    calls: Calls,
}

impl<R> Lines<R> {
    pub(crate) fn new(inner: R, calls: Calls) -> Self {
        Self { inner, line: Vec::new(), is_too_long: false, calls }
    }

    fn see(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            self.add(line);
            if !std::mem::take(&mut self.is_too_long) {
                self.calls.put(&self.line);
            }
            self.line.clear();
            bytes = rest.split_first().map_or(&[], |(_, rest)| rest);
        }
        self.add(bytes);
    }

    fn add(&mut self, piece: &[u8]) {
        self.is_too_long |= self.line.len() + piece.len() > LINE;
        if !self.is_too_long {
            self.line.extend_from_slice(piece);
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = buf.filled().get(before..).unwrap_or_default();
        self.see(read);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_calls_whose_arguments_have_one_meaning_keep_their_text() {
        let table = [
            (r#"{"b": 1.50, "a": 123456789012345678901234567890}"#, true),
            (r#"{"a": [{"b": 1}, {"b": 1}], "b": {"a": null, "c": "x"}}"#, true),
            (r#"{"a": 1, "a": 2}"#, false),
            (r#"{"a": 1, "\u0061": 2}"#, false),
            (r#"{"l": [{"a": true, "a": false}]}"#, false),
        ];
        for (text, is_kept) in table {
            let message = format!(
                r#"{{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{{"name":"t","arguments":{text}}}}}"#
            );
            let kept = arguments(message.as_bytes()).map(|(_, json)| json.as_str().to_owned());
            assert_eq!(kept, is_kept.then(|| text.to_owned()));
        }
        let other = r#"{"id":1,"method":"tools/list","params":{"arguments":{}}}"#;
        assert!(arguments(other.as_bytes()).is_none());
    }

    #[test]
    fn calls_of_one_id_are_told_apart_by_their_order() {
        let (calls, id) = (Calls::default(), RequestId::Number(1));
        for n in 1..=3 {
            calls.put(
                format!(
                    r#"{{"id":{},"method":"tools/call","params":{{"arguments":{{"n":{n}}}}}}}"#,
                    n % 2
                )
                .as_bytes(),
            );
        }
        let taken = || calls.take(&id).map(|Arguments(json)| json.as_str().to_owned());
        assert_eq!(taken().as_deref(), Some(r#"{"n":1}"#));
        assert_eq!(taken().as_deref(), Some(r#"{"n":3}"#));
        assert_eq!(taken(), None);
        assert!(calls.calls().is_empty());
    }

    proptest! {
        #[test]
        fn lines_are_the_same_in_any_pieces(lines in prop::collection::vec("[ -~]{0,40}", 0..6), piece in 1..30_usize) {
            let call = |n: usize| format!(r#"{{"id":{n},"method":"tools/call","params":{{"arguments":{{"n": {n}.0}}}}}}"#);
            let text: String = lines.iter().enumerate().map(|(n, noise)| format!("{noise}\n{}\r\n", call(n))).collect();
            let calls = Calls::default();
            let mut reader = Lines::new(tokio::io::empty(), calls.clone());
            for piece in text.as_bytes().chunks(piece) {
                reader.see(piece);
            }
            for n in 0..lines.len() {
                let id = RequestId::Number(i64::try_from(n).unwrap());
                let Some(Arguments(json)) = calls.take(&id) else { panic!("{n}") };
                prop_assert_eq!(json.as_str(), format!(r#"{{"n": {n}.0}}"#));
            }
        }
    }
}
