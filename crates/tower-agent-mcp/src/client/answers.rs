use serde_json::{Map, Value};
use tower_agent_core::{Error, Json, JsonError, Suspension};

/// The `_meta` that goes with a call: an object in the extensions of its context. The protocol's own keys are set by
/// the client.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "it is one value")]
pub struct RequestMeta(pub Json);

/// The answers to what a server asked in a call that it suspended. They stand in the extensions of the context of a
/// new call with the same name and arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    state: Option<Value>,
    responses: Json,
}

impl Answers {
    /// Answers to a suspended call: an object with an answer for each key of its `inputRequests`.
    ///
    /// # Errors
    /// When the suspension holds no JSON.
    pub fn new(suspension: &Suspension, responses: impl Into<Json>) -> Result<Self, JsonError> {
        let state = match &suspension.request {
            Some(request) => request.value()?.get("requestState").cloned(),
            None => None,
        };
        Ok(Self { state, responses: responses.into() })
    }

    pub(crate) fn put(&self, params: &mut Map<String, Value>) -> Result<(), Error> {
        params.insert("inputResponses".to_owned(), self.responses.value()?.clone());
        if let Some(state) = &self.state {
            params.insert("requestState".to_owned(), state.clone());
        }
        Ok(())
    }
}
