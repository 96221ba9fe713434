//! Passes on what a server says and asks beside its results: to the client whose call it belongs to.
#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

use std::pin::pin;

use rmcp::model::{ClientCapabilities, LoggingMessageNotificationParam, ProtocolVersion};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;
use tower_agent::{
    Effect, Error, ErrorKind, Json, Operation, Outcome, RedactLayer, Str, ToolCall, ToolOutput,
};
use tower_agent_mcp::{
    client::{Answers, Ask, Asking, Log, McpClient, OnLog, OnProgress, Progress, Question},
    server::Caller,
};

use crate::{
    config::PassOn,
    masks::{Masks, scrub},
};

/// How many messages may wait for a slow client; further ones are left out.
const WAITING: usize = 256;

/// What stands between a server and the clients that call it.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    pub(crate) client: McpClient,
    pub(crate) pass_on: PassOn,
    /// What masks the results of the tool.
    pub(crate) redact: Option<RedactLayer>,
    pub(crate) masks: Masks,
}

enum Said {
    Progress(Progress),
    Log(Log),
}

impl Relay {
    /// Calls a tool. What the server says meanwhile reaches the client before the result does.
    pub(crate) async fn call(self, mut call: ToolCall) -> Result<ToolOutput, Error> {
        let Some(caller) = Caller::of(&call.ctx).cloned() else {
            return self.client.oneshot(call).await;
        };
        match self.answers(&caller) {
            Ok(answers) => drop(answers.map(|answers| call.ctx.extensions.insert(answers))),
            Err(error) => return Ok(call.failed(&error)),
        }
        call.ctx.extensions.insert(self.masks.clone());
        call.ctx.extensions.insert(asking(&caller, &self.pass_on));
        let mut said = self.listen(&caller, &mut call);
        let mut answer = pin!(self.client.clone().oneshot(call));
        let result = loop {
            tokio::select! {
                Some(said) = said.recv() => self.say(&caller, said).await,
                result = &mut answer => break result,
            }
        };
        // What came together with the answer comes before it.
        while let Ok(said) = said.try_recv() {
            self.say(&caller, said).await;
        }
        result.and_then(|output| self.asked(output))
    }

    fn listen(&self, caller: &Caller, call: &mut ToolCall) -> mpsc::Receiver<Said> {
        let (sender, said) = mpsc::channel(WAITING);
        if caller.progress().is_wanted() {
            let sender = sender.clone();
            let hear = move |report: &Progress| {
                drop(sender.try_send(Said::Progress(report.clone())));
            };
            call.ctx.extensions.insert(OnProgress::new(hear));
        }
        if self.pass_on.logs {
            let level = caller.log_level();
            // What belongs to a call is nobody else's, even if this client does not want to hear it.
            let hear = OnLog::new(move |log| {
                if level.is_some_and(|level| level as u8 <= log.severity() as u8) {
                    drop(sender.try_send(Said::Log(log.clone())));
                }
            });
            call.ctx.extensions.insert(match level {
                Some(level) => hear.from_level(level),
                None => hear,
            });
        }
        said
    }

    /// What is said in words is masked as the result is.
    async fn say(&self, caller: &Caller, said: Said) {
        match said {
            Said::Progress(report) => {
                let text = report.message.and_then(|message| match &self.redact {
                    Some(redact) => Some(scrub(redact, ToolOutput::text(message))?.joined_text()),
                    None => Some(message.to_string()),
                });
                caller.progress().send(report.progress, report.total, text.as_deref()).await;
            }
            Said::Log(log) => {
                if let Some(message) = message(self.client.name(), &self.masks, &log) {
                    caller.pass_log(message).await;
                }
            }
        }
    }

    /// What a client sends back with a call that asked it something.
    fn answers(&self, caller: &Caller) -> Result<Option<Answers>, Error> {
        let (state, responses) = (caller.request_state(), caller.input_responses());
        if state.is_none() && responses.is_none() {
            return Ok(None);
        }
        let responses = match responses {
            Some(responses) => Json::from_serialize(responses)?,
            None => Json::object(),
        };
        let responses = self.masks.inward(responses).ok_or_else(withheld)?;
        Ok(Some(Answers::to_state(state, responses)?))
    }

    /// What is asked in the place of a result is masked by all that masks anything of this server, and refused if the file does not
    /// allow it.
    fn asked(&self, mut output: ToolOutput) -> Result<ToolOutput, Error> {
        if let Outcome::Suspended(suspension) = &mut output.outcome
            && let Some(request) = suspension.request.take()
        {
            if !self.may_ask(&request) {
                let what = format!("server `{}` asks what it may not", self.client.name());
                return Err(Error::new(ErrorKind::Protocol, what).with_effect(Effect::Unknown));
            }
            suspension.request = self.masks.outward(request);
        }
        Ok(output)
    }

    fn may_ask(&self, request: &Json) -> bool {
        let value = request.value().ok();
        let asked = value.and_then(|value| value.get("inputRequests")?.as_object());
        let mut methods = asked.into_iter().flatten().map(|(_, request)| request.get("method"));
        methods.all(|method| {
            let is_that = |ask: &Ask| method.and_then(Value::as_str) == Some(ask.method());
            self.pass_on.asks.iter().any(is_that)
        })
    }
}

/// A line of a server's log as clients see it: named after the server, and masked. Nothing of it is left where masking fails.
pub(crate) fn message(
    server: &Str,
    masks: &Masks,
    log: &Log,
) -> Option<LoggingMessageNotificationParam> {
    let level = log.severity();
    let json = Json::from_value(json!({ "logger": log.logger, "data": log.data.value().ok()? }));
    let masked = masks.outward(json)?;
    let masked = masked.value().ok()?;
    let logger = match masked.get("logger").and_then(Value::as_str) {
        Some(logger) => format!("{server}/{logger}"),
        None => server.to_string(),
    };
    let message = LoggingMessageNotificationParam::new(level, masked.get("data")?.clone());
    Some(message.with_logger(logger))
}

/// A client of the newer protocol is asked by results, one of an older in the middle of its call; each only what it takes and the
/// file allows.
fn asking(caller: &Caller, pass_on: &PassOn) -> Asking {
    let takes = caller.capabilities().unwrap_or_default();
    let may = |ask| pass_on.asks.contains(&ask);
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = takes.elicitation.filter(|_| may(Ask::Elicitation));
    capabilities.sampling = takes.sampling.filter(|_| may(Ask::Sampling));
    capabilities.roots = takes.roots.filter(|_| may(Ask::Roots));
    let capabilities = Json::from_serialize(&capabilities).unwrap_or_else(|_| Json::object());
    let is_newer = caller
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if is_newer { Asking::suspended(capabilities) } else { Asking::answered(capabilities) }
}

/// Asks the client of the call that a question belongs to.
pub(crate) async fn ask(question: Question) -> Result<Json, Error> {
    let extensions = &question.ctx.extensions;
    let (Some(caller), Some(masks)) = (Caller::of(&question.ctx), extensions.get::<Masks>()) else {
        return Err(Error::new(ErrorKind::NotFound, "there is no client to ask"));
    };
    let params = masks.outward(question.params.clone()).ok_or_else(withheld)?;
    let answer = caller.ask(question.ask.method(), &params).await?;
    masks.inward(answer).ok_or_else(withheld)
}

fn withheld() -> Error {
    let what = "a question or its answer has something confidential in it";
    Error::new(ErrorKind::InvalidArguments, what)
        .with_layer("redact")
        .with_effect(Effect::NotStarted)
        .with_model_text("It was withheld, as it has something confidential in it.")
}
