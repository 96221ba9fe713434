//! Results as the text that the server sent, in the place of the library's types.

use std::collections::HashSet;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, GetExtensions, ListToolsResult,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tower_agent_core::Json;

use super::Ask;
use crate::convert::fields::Fields;

const FLAW: &str = "!";

const TEXT: &str = "tower-agent/text";

/// The method under which the library is shown what a server asks, for it would read it into types that drop fields.
pub(crate) const ASKED: &str = "tower-agent/asked";

/// Stands in the extensions of a request whose result is wanted as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    /// Fields of the parameters, as they are to be sent.
    pub(crate) params: Vec<(&'static str, Json)>,
    /// Further fields of `_meta`.
    pub(crate) meta: Option<Json>,
    /// The key of the call among those that are open.
    pub(crate) call: Option<u64>,
}

impl Raw {
    pub(crate) fn of(request: &ClientRequest) -> Option<&Self> {
        request.extensions().get()
    }

    fn is_empty(&self) -> bool {
        self.params.is_empty() && self.meta.is_none()
    }
}

/// What came for a request that is marked as [`Raw`].
pub(crate) enum Reply {
    Text(Json),
    Flaw(String),
}

impl Reply {
    /// Both stand in a string, which no result of the protocol is; no JSON begins like a flaw does.
    pub(crate) fn of(mut result: ServerResult) -> Self {
        if let Some(text) = taught(&mut result) {
            return Self::Text(text);
        }
        match result {
            ServerResult::CustomResult(CustomResult(Value::String(text))) => {
                match text.strip_prefix(FLAW) {
                    Some(why) => Self::Flaw(why.to_owned()),
                    None => Self::Text(Json::from_text(text)),
                }
            }
            typed => match serde_json::to_string(&typed) {
                Ok(text) => Self::Text(Json::from_text(text)),
                Err(error) => Self::Flaw(error.to_string()),
            },
        }
    }

    fn into_message(self, id: RequestId) -> ServerJsonRpcMessage {
        let value = match self {
            Self::Text(json) => Value::from(json.as_str()),
            Self::Flaw(why) => Value::from(format!("{FLAW}{why}")),
        };
        ServerJsonRpcMessage::response(ServerResult::CustomResult(CustomResult(value)), id)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A message of the server, unless it is to be passed over.
pub(crate) fn decode(line: &[u8], raw: &mut HashSet<RequestId>) -> Option<ServerJsonRpcMessage> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return flawed(line, "a message is not UTF-8", raw);
    };
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(error) => return flawed(line, &format!("a message is malformed: {error}"), raw),
    };
    if envelope.method.is_none()
        && let Some(id) = envelope.id.as_ref().and_then(|id| take(raw, id))
    {
        return Some(reply(&envelope, id));
    }
    let wrapped = wrapped(text);
    serde_json::from_str(wrapped.as_deref().unwrap_or(text))
        .inspect_err(|error| tracing::warn!(%error, "a message of a server is of no known kind"))
        .ok()
}

/// A question of the server as a request that the library hands on as it is; nothing for other messages.
pub(crate) fn wrapped(text: &str) -> Option<String> {
    if !Ask::ALL.iter().any(|ask| text.contains(ask.method())) {
        return None;
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let method: String = serde_json::from_str(envelope.method?.get()).ok()?;
    Ask::of_method(&method)?;
    let (id, params) = (envelope.id?, json!({ "text": text }));
    Some(json!({ "jsonrpc": "2.0", "id": id, "method": ASKED, "params": params }).to_string())
}

/// The question that [`wrapped`] put there.
pub(crate) fn unwrapped(params: Option<&Value>) -> Option<(Ask, Json)> {
    #[derive(Deserialize)]
    struct Request<'a> {
        method: String,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let request: Request<'_> = serde_json::from_str(params?.get("text")?.as_str()?).ok()?;
    let params = request.params.map_or_else(Json::object, |raw| Json::from_text(raw.get()));
    Some((Ask::of_method(&request.method)?, params))
}

fn reply(envelope: &Envelope<'_>, id: RequestId) -> ServerJsonRpcMessage {
    let error = envelope.error.map(|error| serde_json::from_str::<ErrorData>(error.get()));
    match (envelope.result, error) {
        (Some(result), None) => Reply::Text(Json::from_text(result.get())).into_message(id),
        (None, Some(Ok(error))) => ServerJsonRpcMessage::error(error, Some(id)),
        (None, Some(Err(error))) => {
            Reply::Flaw(format!("the error of a reply is malformed: {error}")).into_message(id)
        }
        (None, None) => {
            Reply::Flaw("a reply has neither a result nor an error".into()).into_message(id)
        }
        (Some(_), Some(_)) => {
            Reply::Flaw("a reply has both a result and an error".into()).into_message(id)
        }
    }
}

/// Answers the request that a useless message seems to be for, so that it does not wait for nothing.
pub(crate) fn flawed(
    line: &[u8],
    why: &str,
    raw: &mut HashSet<RequestId>,
) -> Option<ServerJsonRpcMessage> {
    let id = guess(line).and_then(|id| take(raw, &id));
    tracing::warn!(why, ?id, "a message of a server is passed over");
    Some(Reply::Flaw(why.to_owned()).into_message(id?))
}

/// The id of a message that cannot be read: what stands after the first `"id":`, if that is a number.
fn guess(line: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(line.get(..line.len().min(512))?);
    let (before, after) = text.split_once("\"id\":")?;
    let digits: String =
        after.trim_start().chars().take_while(char::is_ascii_digit).take(18).collect();
    before.starts_with('{').then_some(RequestId::Number(digits.parse().ok()?))
}

/// Some servers send a number back as a string.
fn take(raw: &mut HashSet<RequestId>, id: &RequestId) -> Option<RequestId> {
    raw.take(id).or_else(|| match id {
        RequestId::String(text) => raw.take(&RequestId::Number(text.parse().ok()?)),
        RequestId::Number(_) => None,
    })
}

/// A message as one line, in which fields of the parameters stand as they were written.
pub(crate) fn encode(item: &ClientJsonRpcMessage) -> serde_json::Result<String> {
    let text = serde_json::to_string(item)?;
    let ClientJsonRpcMessage::Request(request) = item else { return Ok(text) };
    let Some(raw) = Raw::of(&request.request).filter(|raw| !raw.is_empty()) else {
        return Ok(text);
    };
    let mut message: Fields<'_> = serde_json::from_str(&text)?;
    let params = message.take_json("params").unwrap_or_else(Json::object);
    let mut params: Fields<'_> = serde_json::from_str(params.as_str())?;
    for (name, json) in &raw.params {
        params.set(name, line(json));
    }
    if let Some(more) = &raw.meta {
        let meta = params.take_json("_meta").unwrap_or_else(Json::object);
        let (meta, more) = (meta.as_str(), line(more));
        let mut meta: Fields<'_> = serde_json::from_str(meta)?;
        meta.add(&serde_json::from_str(&more)?);
        params.put_rest("_meta", &meta);
    }
    message.put_rest("params", &params);
    Ok(message.into_extra().map_or(text, |json| json.as_str().to_owned()))
}

/// Outside of strings, where none can be, an end of line is mere white space.
fn line(json: &Json) -> String {
    json.as_str().replace(['\n', '\r'], " ")
}

/// A list of tools in the library's own type, for its transport over HTTP learns from it which arguments go into headers.
/// The text stands in its `_meta`.
pub(crate) fn teach(mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    if let ServerJsonRpcMessage::Response(reply) = &mut message
        && let ServerResult::CustomResult(CustomResult(Value::String(text))) = &mut reply.result
        && text.contains("\"tools\"")
        && let Ok(mut list) = serde_json::from_str::<ListToolsResult>(text)
    {
        let text = Value::String(std::mem::take(text));
        list.meta.get_or_insert_default().insert(TEXT.to_owned(), text);
        reply.result = ServerResult::ListToolsResult(list);
    }
    message
}

/// What [`teach`] put there.
fn taught(result: &mut ServerResult) -> Option<Json> {
    let ServerResult::ListToolsResult(list) = result else { return None };
    match list.meta.as_mut()?.remove(TEXT)? {
        Value::String(text) => Some(Json::from_text(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str, open: &[i64]) -> Option<Result<String, String>> {
        let mut raw = open.iter().map(|id| RequestId::Number(*id)).collect();
        let message = decode(line.as_bytes(), &mut raw)?;
        // What a stream of events carries is read once more.
        let again = serde_json::to_string(&message).unwrap();
        let ServerJsonRpcMessage::Response(reply) = serde_json::from_str(&again).unwrap() else {
            return Some(Err(again));
        };
        Some(match Reply::of(reply.result) {
            Reply::Text(json) => Ok(json.as_str().to_owned()),
            Reply::Flaw(why) => Err(why),
        })
    }

    #[test]
    fn a_result_that_was_asked_for_keeps_its_text() {
        let line = r#" {"jsonrpc":"2.0","id":"7","result":{"b":1.50, "a":[ ]}}"#;
        assert_eq!(told(line, &[7]), Some(Ok(r#"{"b":1.50, "a":[ ]}"#.to_owned())));
    }

    #[test]
    fn a_reply_that_cannot_be_read_answers_its_request() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content"#, "a message is malformed"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "a reply has neither a result nor an error"),
            (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "a reply has neither"),
            (r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#, "the error of a reply is malformed"),
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}"#,
                "a reply has both",
            ),
        ];
        for (line, why) in table {
            let told = told(line, &[7]).unwrap().unwrap_err();
            assert!(told.starts_with(why), "{line}: {told}");
        }
    }

    #[test]
    fn noise_between_the_messages_answers_nothing() {
        for line in ["", "Listening on stdio", "[]", "\u{feff}", r#"note: "id":7"#, r#"{"id":7"#] {
            assert_eq!(told(line, &[1]), None, "{line}");
        }
    }
}
