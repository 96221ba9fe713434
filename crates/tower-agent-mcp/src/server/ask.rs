//! Questions to the client of a request, in the generations of the protocol in which a server may ask.

use rmcp::{
    ErrorData, RoleServer, ServiceError,
    model::{
        CancelledNotificationParam, ClientCapabilities, CustomRequest, ErrorCode, ProtocolVersion,
        RequestId, ServerRequest,
    },
    service::{OriginatingRequestId, Peer, PeerRequestOptions},
};
use serde_json::Value;
use tokio::sync::mpsc;
use tower_agent_core::{Error, ErrorKind, Json};

use super::Caller;

pub(crate) type Abandoned = mpsc::UnboundedReceiver<RequestId>;

/// Asks the client and waits for its answer.
pub(crate) async fn ask(
    caller: &Caller,
    abandoned: &mpsc::UnboundedSender<RequestId>,
    method: &str,
    params: &Json,
) -> Result<Json, Error> {
    let value = params.value()?;
    if !can_be_asked(caller, method, value) {
        return Err(untaken(method));
    }
    let mut request = CustomRequest::new(method, Some(value.clone()));
    // It belongs on the stream of the request that it is asked for, whichever task this is.
    request.extensions.insert(OriginatingRequestId(caller.context().id.clone()));
    let options = PeerRequestOptions::no_options();
    let request = ServerRequest::CustomRequest(request);
    let handle = caller.peer().send_request_with_option(request, options).await.map_err(failed)?;
    let mut guard = Guard { abandoned, id: Some(handle.id.clone()) };
    let answer = handle.await_response().await;
    guard.id = None;
    Ok(Json::from_serialize(&answer.map_err(failed)?)?)
}

/// Leaves the id of a question that nobody waits for any more.
struct Guard<'a> {
    abandoned: &'a mpsc::UnboundedSender<RequestId>,
    id: Option<RequestId>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            // After the call there is nobody left to tell the client.
            drop(self.abandoned.send(id));
        }
    }
}

/// Tells the client of the questions that nobody waits for, for as long as it is polled.
pub(crate) async fn take_back(peer: &Peer<RoleServer>, abandoned: &mut Abandoned) {
    while let Some(id) = abandoned.recv().await {
        tell(peer, id).await;
    }
}

/// The same for those that are there now.
pub(crate) async fn take_back_rest(peer: &Peer<RoleServer>, abandoned: &mut Abandoned) {
    while let Ok(id) = abandoned.try_recv() {
        tell(peer, id).await;
    }
}

async fn tell(peer: &Peer<RoleServer>, id: RequestId) {
    let reason = Some("the call does not need the answer any more".to_owned());
    if let Err(error) =
        peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await
    {
        tracing::debug!(%error, "a question was not taken back");
    }
}

fn can_be_asked(caller: &Caller, method: &str, params: &Value) -> bool {
    let is_older = caller
        .protocol_version()
        .is_some_and(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str());
    is_older && takes(&caller.capabilities().unwrap_or_default(), method, params)
}

/// Whether a client says that it takes a question of a method with these parameters.
pub(crate) fn takes(client: &ClientCapabilities, method: &str, params: &Value) -> bool {
    match method {
        "elicitation/create" => client.elicitation.as_ref().is_some_and(|takes| {
            let is_url = params.get("mode").and_then(Value::as_str) == Some("url");
            // One that names no mode takes forms.
            if is_url { takes.url.is_some() } else { takes.form.is_some() || takes.url.is_none() }
        }),
        "sampling/createMessage" => client.sampling.as_ref().is_some_and(|takes| {
            let has_tools = ["tools", "toolChoice"].iter().any(|key| params.get(key).is_some());
            !has_tools || takes.tools.is_some()
        }),
        "roots/list" => client.roots.is_some(),
        _ => false,
    }
}

fn untaken(method: &str) -> Error {
    let what = format!("the client of this call does not take {method}");
    let refusal = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what.clone(), None);
    Error::new(ErrorKind::NotFound, what).with_layer("mcp").with_source(refusal)
}

fn failed(fault: ServiceError) -> Error {
    let what = "the client did not answer what it was asked";
    let error = |kind| Error::new(kind, what).with_layer("mcp");
    match fault {
        ServiceError::McpError(data) => error(ErrorKind::Other).with_source(data),
        fault => error(ErrorKind::Unavailable).with_source(fault),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_a_client_says_that_it_takes_is_asked() {
        let table = [
            (json!({}), "elicitation/create", json!({}), false),
            (json!({"elicitation": {}}), "elicitation/create", json!({}), true),
            (json!({"elicitation": {}}), "elicitation/create", json!({"mode": "form"}), true),
            (json!({"elicitation": {}}), "elicitation/create", json!({"mode": "url"}), false),
            (
                json!({"elicitation": {"url": {}}}),
                "elicitation/create",
                json!({"mode": "url"}),
                true,
            ),
            (json!({"elicitation": {"url": {}}}), "elicitation/create", json!({}), false),
            (
                json!({"elicitation": {"form": {}, "url": {}}}),
                "elicitation/create",
                json!({}),
                true,
            ),
            (json!({"roots": {}}), "sampling/createMessage", json!({}), false),
            (json!({"sampling": {}}), "sampling/createMessage", json!({}), true),
            (json!({"sampling": {}}), "sampling/createMessage", json!({"tools": []}), false),
            (
                json!({"sampling": {"tools": {}}}),
                "sampling/createMessage",
                json!({"toolChoice": {}}),
                true,
            ),
            (json!({"sampling": {}}), "roots/list", json!({}), false),
            (json!({"roots": {"listChanged": true}}), "roots/list", json!({}), true),
            (json!({"roots": {}}), "ping", json!({}), false),
        ];
        for (client, method, params, expected) in table {
            let capabilities = serde_json::from_value(client.clone()).unwrap();
            assert_eq!(
                takes(&capabilities, method, &params),
                expected,
                "{client} {method} {params}"
            );
        }
    }
}
