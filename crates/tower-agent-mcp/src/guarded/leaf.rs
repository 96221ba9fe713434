use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, ErrorCode},
    service::RequestContext,
};
use serde_json::Value;
use tower_agent_core::{Error, ErrorKind, ToolCall, ToolOutput};
use tower_service::Service;

use super::output;
use crate::server::Caller;

/// The innermost service of a stack around a handler: the handler's own `call_tool`.
///
/// # Errors
/// What the handler returns as an error of the protocol, with rmcp's `ErrorData` as its source, and
/// [`InvalidArguments`](ErrorKind::InvalidArguments) for arguments that a layer made something else than an object.
pub(super) struct HandlerService<H> {
    handler: Arc<H>,
}

impl<H> HandlerService<H> {
    pub(super) const fn new(handler: Arc<H>) -> Self {
        Self { handler }
    }
}

impl<H> Clone for HandlerService<H> {
    fn clone(&self) -> Self {
        Self { handler: Arc::clone(&self.handler) }
    }
}

impl<H: ServerHandler> Service<ToolCall> for HandlerService<H> {
    type Response = ToolOutput;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<ToolOutput, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let handler = Arc::clone(&self.handler);
        Box::pin(async move {
            let (request, mut context) = request(&call)?;
            // What the handler spawned hears of it when a layer gives the call up.
            let token = call.ctx.cancellation().child_token();
            context.ct = token.clone();
            let _cancels_on_drop = token.drop_guard();
            let response = handler.call_tool(request, context).await.map_err(error)?;
            output::read(&response)
        })
    }
}

/// The client's own request with the name and the arguments as the layers left them.
fn request(call: &ToolCall) -> Result<(CallToolRequestParams, RequestContext<RoleServer>), Error> {
    let caller = Caller::of(&call.ctx);
    let (Some(caller), Some(mut request)) = (caller, caller.and_then(Caller::request).cloned())
    else {
        return Err(Error::new(
            ErrorKind::Other,
            "a layer took the MCP request out of the context",
        ));
    };
    let Ok(Value::Object(arguments)) = call.arguments.value() else {
        return Err(Error::new(ErrorKind::InvalidArguments, "the arguments are no object"));
    };
    request.name = call.name.to_string().into();
    if request.arguments.is_some() || !arguments.is_empty() {
        request.arguments = Some(arguments.clone());
    }
    Ok((request, caller.context().clone()))
}

/// An error of the protocol, which goes back as it is unless a layer makes something else of it.
fn error(data: ErrorData) -> Error {
    let kind = match data.code {
        ErrorCode::METHOD_NOT_FOUND => ErrorKind::NotFound,
        ErrorCode::INVALID_PARAMS => ErrorKind::InvalidArguments,
        _ => ErrorKind::Upstream { status: None },
    };
    let text = data.message.clone();
    Error::new(kind, "the MCP server answered with an error")
        .with_model_text(text)
        .with_source(data)
}

impl<H> fmt::Debug for HandlerService<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerService").finish_non_exhaustive()
    }
}
