//! Passes on what a server says and asks beside its results: to the client whose call it belongs to.

mod asks;
mod held;
mod log;

use serde_json::Value;
use tokio::sync::mpsc;
use tower::ServiceExt;
use tower_agent::{
    Context, Effect, Error, ErrorKind, Json, Operation, Outcome, RedactLayer, Run, Str, ToolCall,
    ToolOutput,
};
use tower_agent_mcp::{
    client::{Answers, Ask, Log, McpClient, OnLog, OnProgress, Progress},
    server::Caller,
};

pub(crate) use self::{asks::ask, held::Held, log::message};
use self::{
    asks::{Desk, asking, is_newer, withheld},
    held::{Asked, Gone, Open},
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
    pub(crate) held: Held,
}

/// What a server says in the middle of a call.
enum Said {
    Progress(Progress),
    Log(Log),
    Asked(Asked),
}

/// The context of a call that goes on when the request that began it has its answer. Dropping the call still ends it.
fn lasting(ctx: &Context) -> Context {
    let run = ctx.run();
    let mut builder = Run::builder(run.id().clone());
    if let Some(session) = run.session() {
        builder = builder.session(session.clone());
    }
    if let Some(user) = run.user() {
        builder = builder.user(user.clone());
    }
    if let Some(tenant) = run.tenant() {
        builder = builder.tenant(tenant.clone());
    }
    let mut lasting = builder.build();
    lasting.extensions = ctx.extensions.clone();
    lasting
}

fn gone() -> Error {
    let text = "The call that waited for this answer is over. It may have taken effect; call again to begin anew.";
    let what = "a client answers what a call asked that is over";
    Error::new(ErrorKind::InvalidArguments, what).with_effect(Effect::Unknown).with_model_text(text)
}

impl Relay {
    /// Calls a tool. What the server says meanwhile reaches the client before the result does.
    pub(crate) async fn call(self, call: ToolCall) -> Result<ToolOutput, Error> {
        let Some(caller) = Caller::of(&call.ctx).cloned() else {
            return self.client.oneshot(call).await;
        };
        let tool = (self.client.name().clone(), call.name.clone());
        let open = match self.held.resume(&caller, &tool, &self.masks) {
            Ok(Some(open)) => open,
            Ok(None) => match self.begin(call.clone(), tool, &caller) {
                Ok(open) => open,
                Err(error) => return Ok(call.failed(&error)),
            },
            Err(Gone) => return Ok(call.failed(&gone())),
        };
        self.drive(open, &caller).await
    }

    fn begin(&self, mut call: ToolCall, tool: (Str, Str), caller: &Caller) -> Result<Open, Error> {
        if let Some(answers) = self.answers(caller)? {
            call.ctx.extensions.insert(answers);
        }
        call.ctx.extensions.insert(self.masks.clone());
        call.ctx.extensions.insert(asking(caller, &self.pass_on));
        let (sender, said) = mpsc::channel(WAITING);
        self.listen(caller, &mut call, &sender);
        if is_newer(caller) {
            call.ctx = lasting(&call.ctx);
            call.ctx.extensions.insert(Desk(sender));
        }
        Ok(Open { tool, answer: Box::pin(self.client.clone().oneshot(call)), said })
    }

    async fn drive(self, mut open: Open, caller: &Caller) -> Result<ToolOutput, Error> {
        let result = loop {
            tokio::select! {
                Some(said) = open.said.recv() => {
                    if let Some(asked) = self.say(caller, said).await {
                        return self.hold(open, asked, caller).await;
                    }
                }
                result = &mut open.answer => break result,
            }
        };
        // What came together with the answer comes before it.
        while let Ok(said) = open.said.try_recv() {
            self.say(caller, said).await;
        }
        result.and_then(|output| self.asked(output))
    }

    /// Keeps a call until its client comes back with answers to all that is asked by now.
    async fn hold(
        self,
        mut open: Open,
        first: Asked,
        caller: &Caller,
    ) -> Result<ToolOutput, Error> {
        let mut asked = vec![first];
        while let Ok(said) = open.said.try_recv() {
            asked.extend(self.say(caller, said).await);
        }
        self.held.keep(open, asked).ok_or_else(|| {
            let what = "too many calls wait for their clients";
            Error::new(ErrorKind::Overloaded, what).with_effect(Effect::Unknown)
        })
    }

    fn listen(&self, caller: &Caller, call: &mut ToolCall, sender: &mpsc::Sender<Said>) {
        if caller.progress().is_wanted() {
            let sender = sender.clone();
            let hear = move |report: &Progress| {
                drop(sender.try_send(Said::Progress(report.clone())));
            };
            call.ctx.extensions.insert(OnProgress::new(hear));
        }
        if self.pass_on.logs {
            let (sender, level) = (sender.clone(), caller.log_level());
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
    }

    /// What is said in words is masked as the result is; what is asked is handed back.
    async fn say(&self, caller: &Caller, said: Said) -> Option<Asked> {
        match said {
            Said::Asked(asked) => return Some(asked),
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
        None
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
            suspension.request = Some(self.masks.outward(request).ok_or_else(withheld)?);
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
