//! A call of a tool.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest};
use serde_json::Value;
use tower_agent_core::{
    CancellationToken, Denial, Effect, Error, ErrorKind, Json, Operation, Str, ToolCall, ToolOutput,
};

use super::{
    Answers, OnProgress, Progress, RequestMeta, ServerEvent, fault, raw::Raw, shared::Shared,
};
use crate::convert::from_mcp;

pub(crate) async fn run(shared: &Shared, call: ToolCall) -> Result<ToolOutput, Error> {
    if let Some(output) = answer(shared, &call) {
        return Ok(output);
    }
    let link = shared.link()?;
    let request = request(&call)?;
    let patience = shared.patience(call.ctx.deadline());
    let listener = call.ctx.extensions.get::<OnProgress>();
    let cancellation: &CancellationToken = call.ctx.cancellation();
    let reply = link
        .ask(request, patience, cancellation, |report| {
            let progress = Progress {
                call: call.id.clone(),
                tool: call.name.clone(),
                progress: report.progress,
                total: report.total,
                message: report.message.as_ref().map(Str::from),
                meta: report.meta.as_ref().and_then(|meta| Json::from_serialize(meta).ok()),
            };
            if let Some(listener) = listener {
                listener.tell(&progress);
            }
            drop(shared.events.send(ServerEvent::Progress(progress)));
        })
        .await
        .inspect_err(|error| {
            if error.kind() == ErrorKind::Unavailable {
                link.wire.changed.notify_one();
            }
        })?;
    read(shared, &call, &reply)
}

/// A request of any method.
pub(crate) async fn ask(shared: &Shared, method: String, params: &Json) -> Result<Json, Error> {
    let value = params.value()?;
    if !value.is_object() {
        return Err(fault::error(ErrorKind::InvalidArguments, "the parameters are no JSON object"));
    }
    let mut request = CustomRequest::new(method, Some(value.clone()));
    request.extensions.insert(Raw::default());
    let link = shared.link()?;
    let (patience, never) = (shared.patience(None), CancellationToken::new());
    link.ask(ClientRequest::CustomRequest(request), patience, &never, |_| {}).await
}

/// What needs no server: a tool that is not there, and arguments that no tool takes.
fn answer(shared: &Shared, call: &ToolCall) -> Option<ToolOutput> {
    let snapshot = shared.snapshot();
    let tool = &call.name;
    if snapshot.tools.find(tool).is_none() {
        return Some(match snapshot.refused.iter().find(|refused| refused.tool == *tool) {
            Some(refused) if refused.is_drift => call.denied(changed(tool)),
            _ => refused(
                call,
                ErrorKind::NotFound,
                format!("There is no tool \"{tool}\"; nothing ran."),
            ),
        });
    }
    match call.arguments.check() {
        Ok(()) if call.arguments.is_object() => None,
        Ok(()) => Some(refused(
            call,
            ErrorKind::InvalidArguments,
            format!(
                "The arguments for the tool \"{tool}\" are not a JSON object. The tool did not run."
            ),
        )),
        Err(error) => Some(call.failed(&Error::from(error))),
    }
}

fn changed(tool: &str) -> Denial {
    let text = format!(
        "The tool \"{tool}\" was not run: its definition changed, and nobody has approved that yet."
    );
    Denial::new(text).by("mcp").code("changed_tool")
}

fn refused(call: &ToolCall, kind: ErrorKind, text: String) -> ToolOutput {
    call.failed(&Error::new(kind, text.clone()).with_model_text(text))
}

fn request(call: &ToolCall) -> Result<ClientRequest, Error> {
    // The library looks into the arguments too, as some of them go into headers of HTTP.
    let mut params = CallToolRequestParams::new(call.name.to_string());
    params.arguments = call.arguments.value()?.as_object().cloned();
    let mut raw = Raw { params: vec![("arguments", call.arguments.clone())], meta: None };
    if let Some(answers) = call.ctx.extensions.get::<Answers>() {
        answers.put(&mut raw.params);
    }
    if let Some(RequestMeta(meta)) = call.ctx.extensions.get() {
        if !meta.value().is_ok_and(Value::is_object) {
            let what = "the `_meta` of the call is no JSON object";
            return Err(fault::error(ErrorKind::Other, what).with_effect(Effect::NotStarted));
        }
        raw.meta = Some(meta.clone());
    }
    let mut request = CallToolRequest::new(params);
    request.extensions.insert(raw);
    Ok(ClientRequest::CallToolRequest(request))
}

fn read(shared: &Shared, call: &ToolCall, reply: &Json) -> Result<ToolOutput, Error> {
    let (size, limit) = (reply.as_str().len(), shared.options.limits.result);
    let tool = &call.name;
    if size > limit {
        let text = format!(
            "The tool \"{tool}\" ran, but its result has {size} bytes and only {limit} are allowed, so none of it is shown. \
             Ask for less."
        );
        return Err(fault::error(
            ErrorKind::Upstream { status: None },
            format!("the result of tool `{tool}` has {size} bytes, and {limit} are allowed"),
        )
        .with_effect(Effect::Completed)
        .with_model_text(text));
    }
    from_mcp::output(reply).map_err(|flaw| fault::malformed(&shared.name, flaw))
}
