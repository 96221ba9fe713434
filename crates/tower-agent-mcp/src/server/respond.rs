use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, InputRequest, InputRequests,
    InputRequiredResult, ProtocolVersion,
};
use serde_json::Value;
use tower_agent_core::{
    Effect, Error, ErrorKind, Failure, Json, Operation, Outcome, Suspension, ToolCall, ToolOutput,
};

use super::{Caller, ask};
use crate::convert::{from_mcp, to_mcp};

/// What the client gets of an output.
pub(crate) fn respond(output: ToolOutput, caller: &Caller) -> CallToolResponse {
    if let Outcome::Suspended(suspension) = &output.outcome
        && let Some(mut asked) = input_required(suspension, caller)
    {
        // A layer that masks what is asked may have masked the state, too.
        if let Some(from_mcp::State(state)) = output.extensions.get() {
            asked.request_state = Some(state.to_string());
        }
        if asked.meta.is_none() {
            asked.meta = output.meta.as_ref().and_then(|meta| meta.read().ok());
        }
        return asked.into();
    }
    finished(output).into()
}

/// The text for operators goes to the log, and only what a model may read to the client.
pub(crate) fn failed(name: &str, error: &Error) -> ToolOutput {
    tracing::warn!(tool = name, %error, "a call failed");
    ToolCall::new(name, "{}").failed(error)
}

fn finished(mut output: ToolOutput) -> CallToolResult {
    if let Outcome::Suspended(suspension) = &output.outcome {
        let text = waits(suspension);
        output.content.push(tower_agent_core::Content::text(text));
        output.outcome = Failure::new(ErrorKind::Other, Effect::Unknown).into();
    }
    to_mcp::result(output)
}

fn waits(suspension: &Suspension) -> String {
    let mut text = format!("The call is not finished: it waits. {}", suspension.reason);
    if !suspension.id.is_empty() {
        text.push_str(&format!(" (id \"{}\")", suspension.id));
    }
    text
}

/// What a call that waits asks of a client that can be asked: it sends the call again with the answers and the id.
fn input_required(suspension: &Suspension, caller: &Caller) -> Option<InputRequiredResult> {
    if caller.protocol_version()?.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
        return None;
    }
    let asked = asked(suspension)?;
    let client = caller.capabilities().unwrap_or_default();
    let mut requests = asked.input_requests.iter().flatten();
    requests.all(|(_, request)| can_answer(&client, request)).then_some(asked)
}

/// A suspension that came from an MCP server holds that server's own result, and another one the requests, if any.
fn asked(suspension: &Suspension) -> Option<InputRequiredResult> {
    let request = suspension.request.as_ref();
    if request.is_some_and(is_result) {
        // A task would have to be asked for later, which this server cannot be.
        return request?.read().ok();
    }
    let requests: Option<InputRequests> = request.and_then(|json| json.read().ok());
    let requests = requests.filter(|requests| !requests.is_empty());
    let state = (!suspension.id.is_empty()).then(|| suspension.id.to_string());
    (requests.is_some() || state.is_some()).then(|| InputRequiredResult::new(requests, state))
}

fn is_result(request: &Json) -> bool {
    request.value().is_ok_and(|value| value.get("resultType").is_some())
}

fn can_answer(client: &ClientCapabilities, request: &InputRequest) -> bool {
    let Ok(request) = serde_json::to_value(request) else { return false };
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    ask::takes(client, method, request.get("params").unwrap_or(&Value::Null))
}
