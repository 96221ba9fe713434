use tower_agent_core::{Json, JsonError, Suspension};

use crate::convert::from_mcp;

/// The `_meta` that goes with a call: an object in the extensions of its context. The protocol's own keys are set by
/// the client.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "it is one value")]
pub struct RequestMeta(pub Json);

/// The answers to what a server asked in a call that it suspended. They stand in the extensions of the context of a
/// new call with the same name and arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    state: Option<Json>,
    responses: Json,
}

impl Answers {
    /// Answers to a suspended call: an object with an answer for each key of its `inputRequests`.
    ///
    /// # Errors
    /// When the answers are no JSON.
    pub fn new(suspension: &Suspension, responses: impl Into<Json>) -> Result<Self, JsonError> {
        let responses = responses.into();
        responses.check()?;
        Ok(Self { state: state(suspension), responses })
    }

    /// The same of a suspension whose state came back from somewhere else.
    ///
    /// # Errors
    /// When the answers are no JSON.
    pub fn to_state(state: Option<&str>, responses: impl Into<Json>) -> Result<Self, JsonError> {
        let responses = responses.into();
        responses.check()?;
        Ok(Self { state: state.map(|state| Json::from_value(state.into())), responses })
    }

    pub(crate) const fn of(state: Option<Json>, responses: Json) -> Self {
        Self { state, responses }
    }

    pub(crate) fn put(&self, params: &mut Vec<(&'static str, Json)>) {
        params.push(("inputResponses", self.responses.clone()));
        params.extend(self.state.clone().map(|state| ("requestState", state)));
    }
}

/// A layer that masks what is asked may have masked the state in it, which is nobody's but the server's. The id is that state.
fn state(suspension: &Suspension) -> Option<Json> {
    let state = suspension.request.as_ref().and_then(from_mcp::request_state)?;
    let is_ours = suspension.layer == "mcp" && !suspension.id.is_empty();
    if !is_ours || state.read::<String>().is_ok_and(|text| text == suspension.id.as_str()) {
        return Some(state);
    }
    Some(Json::from_value(suspension.id.as_str().into()))
}
