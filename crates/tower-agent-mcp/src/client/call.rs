//! A call of a tool.

use std::time::Instant;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest, RequestMetaObject,
};
use serde_json::Value;
use tower_agent_core::{
    CancellationToken, Denial, Effect, Error, ErrorKind, Json, Operation, ToolCall, ToolOutput,
};

use super::{
    Answers, Asking, OnLog, OnProgress, Progress, RequestMeta, ServerEvent, exchange::Terms, fault,
    pending::Questions, raw::Raw, rounds::Round, shared::Shared,
};
use crate::convert::from_mcp;

/// How often a server may answer a call with questions.
const ROUNDS: usize = 10;

pub(crate) async fn run(shared: &Shared, call: ToolCall) -> Result<ToolOutput, Error> {
    if let Some(output) = answer(shared, &call) {
        return Ok(output);
    }
    let end = shared.patience(call.ctx.deadline()).latest();
    let mut answers = call.ctx.extensions.get::<Answers>().cloned();
    for _ in 0..ROUNDS {
        let output = once(shared, &call, answers.as_ref(), end).await?;
        let Some(round) = Round::of(shared, &call, &output) else { return Ok(output) };
        answers = Some(round.answer(shared, &call, end).await?);
    }
    let what = format!("server `{}` asked {ROUNDS} times in one call", shared.name);
    Err(fault::error(ErrorKind::Protocol, what).with_effect(Effect::Unknown))
}

/// One request and its answer.
async fn once(
    shared: &Shared,
    call: &ToolCall,
    answers: Option<&Answers>,
    end: Instant,
) -> Result<ToolOutput, Error> {
    let link = shared.link()?;
    let (entry, asked) = link.wire.calls.begin(&call.ctx);
    let request = request(call, answers, entry.key)?;
    let terms = Terms {
        patience: shared.patience(Some(end)),
        cancellation: call.ctx.cancellation(),
        meta: meta(shared, call),
        questions: Some(Questions::new(shared, call, asked)),
    };
    let listener = call.ctx.extensions.get::<OnProgress>();
    let reply = link
        .ask(request, terms, |report| {
            let progress = Progress::new(call, report);
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
    read(shared, call, &reply)
}

/// What the newer generation is told with each call, where this call differs from others.
fn meta(shared: &Shared, call: &ToolCall) -> Option<RequestMetaObject> {
    let asking = call.ctx.extensions.get::<Asking>();
    let level = call.ctx.extensions.get::<OnLog>().and_then(OnLog::level);
    let is_stateless = shared.snapshot().server.is_some_and(|server| server.is_stateless());
    if !is_stateless || (asking.is_none() && level.is_none()) {
        return None;
    }
    let mut meta = RequestMetaObject::new();
    if let Some(asking) = asking {
        meta.set_client_capabilities(asking.capabilities().read().unwrap_or_default());
    }
    if let Some(level) = level {
        meta.set_log_level(level);
    }
    Some(meta)
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
    link.ask(ClientRequest::CustomRequest(request), Terms::new(patience, &never), |_| {}).await
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

fn request(call: &ToolCall, answers: Option<&Answers>, key: u64) -> Result<ClientRequest, Error> {
    // The library looks into the arguments too, as some of them go into headers of HTTP.
    let mut params = CallToolRequestParams::new(call.name.to_string());
    params.arguments = call.arguments.value()?.as_object().cloned();
    let params_text = vec![("arguments", call.arguments.clone())];
    let mut raw = Raw { params: params_text, meta: None, call: Some(key) };
    if let Some(answers) = answers {
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
