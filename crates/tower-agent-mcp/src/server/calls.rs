use std::{sync::Arc, time::Duration};

use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, ErrorCode, Extensions},
    service::RequestContext,
};
use tokio::{sync::Semaphore, time::Instant};
use tower_agent_core::{
    CancellationToken, Context, Denial, Error, ErrorKind, Json, Operation, Run, Str, ToolCall,
    ToolOutput, ToolSpec, Tools,
};
use uuid::Uuid;

use super::{Caller, ask, copied::Copied, gate::Gate, identity::Identify, raw};

/// The most calls at a time, unless the host sets another number.
pub(crate) const MAX_CALLS: usize = 64;

/// What every call of a server goes through.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    pub(crate) gate: Gate,
    pub(crate) identify: Identify,
    pub(crate) deadline: Option<Duration>,
    pub(crate) permits: Arc<Semaphore>,
}

impl Calls {
    /// Runs a call until it is done or the client gives it up; then the stack's future is dropped at once.
    pub(crate) async fn run(
        &self,
        mut request: CallToolRequestParams,
        spec: Option<Arc<ToolSpec>>,
        context: RequestContext<RoleServer>,
    ) -> Result<Answer, ErrorData> {
        let arguments = arguments(&mut request, &context.extensions);
        let mut call =
            ToolCall::new(Str::from(&*request.name), arguments).with_id(context.id.to_string());
        call.spec = spec;
        let token = context.ct.child_token();
        let _cancels_on_drop = token.clone().drop_guard();
        let peer = context.peer.clone();
        let (caller, mut abandoned) = Caller::new(context, Some(request));
        let result = tokio::select! {
            biased;
            () = token.cancelled() => Err(cancelled()),
            answer = self.answer(call, caller.clone(), token.clone()) => Ok(answer),
            () = ask::take_back(&peer, &mut abandoned) => Err(cancelled()),
        };
        // What was asked for a call that is over is void.
        ask::take_back_rest(&peer, &mut abandoned).await;
        Ok(Answer { caller, result: result? })
    }

    async fn answer(
        &self,
        mut call: ToolCall,
        caller: Caller,
        token: CancellationToken,
    ) -> Result<ToolOutput, Error> {
        let Ok(_permit) = self.permits.try_acquire() else {
            let busy = Error::new(ErrorKind::Overloaded, "the server runs as many calls as it may");
            return Ok(call.failed(&busy));
        };
        match self.context(caller, token) {
            Ok(ctx) => call.ctx = ctx,
            Err(denial) => return Ok(call.denied(denial)),
        }
        self.gate.call(call).await
    }

    /// The tools that this caller may call.
    pub(crate) async fn visible(
        &self,
        tools: Tools,
        context: RequestContext<RoleServer>,
    ) -> Result<Tools, ErrorData> {
        let token = context.ct.child_token();
        let _cancels_on_drop = token.clone().drop_guard();
        let (caller, _) = Caller::new(context, None);
        let Ok(ctx) = self.context(caller, token.clone()) else {
            return Ok(Tools::new());
        };
        tokio::select! {
            biased;
            () = token.cancelled() => Err(cancelled()),
            visible = self.gate.visible(tools, ctx) => visible.map_err(|error| {
                tracing::warn!(%error, "a policy failed, so no tools are listed");
                ErrorData::internal_error("the tools cannot be listed now", None)
            }),
        }
    }

    fn context(&self, caller: Caller, token: CancellationToken) -> Result<Context, Denial> {
        let mut identity = self.identify.find(&caller)?;
        identity.session = identity.session.or_else(|| caller.session().cloned());
        let run = Run::builder(Uuid::now_v7().to_string()).cancellation(token);
        let mut run = run.identity(identity);
        if let Some(deadline) = self.deadline.and_then(|limit| Instant::now().checked_add(limit)) {
            run = run.deadline(deadline.into_std());
        }
        let mut ctx = run.build();
        ctx.extensions.insert(caller);
        Ok(ctx)
    }
}

/// What came of a call, and who asked.
pub(crate) struct Answer {
    pub(crate) caller: Caller,
    pub(crate) result: Result<ToolOutput, Error>,
}

/// Takes the arguments, as they were written if that is known, and leaves whether there were any.
fn arguments(request: &mut CallToolRequestParams, extensions: &Extensions) -> Json {
    let Some(arguments) = &mut request.arguments else { return Json::object() };
    let arguments = std::mem::take(arguments);
    let written = match extensions.get() {
        Some(raw::Arguments(json)) => Some(json.clone()),
        None => extensions.get::<Parts>().and_then(|head| head.extensions.get::<Copied>()?.take()),
    };
    written.unwrap_or_else(|| Json::from_value(arguments.into()))
}

fn cancelled() -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, "the request was cancelled", None)
}
