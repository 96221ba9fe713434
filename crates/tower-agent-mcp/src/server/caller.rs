use std::{fmt, sync::Arc};

use http::request::Parts;
#[expect(deprecated, reason = "the protocol that most clients speak has it")]
use rmcp::model::LoggingMessageNotificationParam;
use rmcp::{
    Peer, RoleServer,
    model::{
        CallToolRequestParams, ClientCapabilities, Implementation, InputResponses, ProtocolVersion,
        RequestId, RequestMetaObject,
    },
    service::RequestContext,
};
use tokio::sync::mpsc;
use tower_agent_core::{Context, Error, Json, Str};

use super::{Progress, ask, log, serve::ConnectionId};

/// The MCP request behind a call: who sent it, what came with it, and the way back to the client.
///
/// Layers and tools find it in the call's context; outside an MCP server there is none.
///
/// ```
/// use tower_agent::{Tool, ToolCall, ToolSpec};
/// use tower_agent_mcp::server::Caller;
///
/// let whoami = Tool::raw(ToolSpec::new("whoami", "Names the client"), |call: ToolCall| async move {
///     match Caller::of(&call.ctx).and_then(Caller::client) {
///         Some(client) => client.name,
///         None => "nobody".to_owned(),
///     }
/// });
/// # let _ = whoami;
/// ```
#[derive(Clone)]
pub struct Caller(Arc<Inner>);

struct Inner {
    context: RequestContext<RoleServer>,
    /// The request of a call, without what its arguments held; none of a listing.
    request: Option<CallToolRequestParams>,
    session: Option<Str>,
    progress: Progress,
    abandoned: mpsc::UnboundedSender<RequestId>,
}

impl Caller {
    /// The request that a context belongs to.
    #[must_use]
    pub fn of(ctx: &Context) -> Option<&Self> {
        ctx.extensions.get()
    }

    /// The other end has the questions that were given up.
    pub(crate) fn new(
        context: RequestContext<RoleServer>,
        request: Option<CallToolRequestParams>,
    ) -> (Self, ask::Abandoned) {
        let session = session(&context);
        let progress = Progress::of_request(&context);
        let (abandoned, receiver) = mpsc::unbounded_channel();
        (Self(Arc::new(Inner { context, request, session, progress, abandoned })), receiver)
    }

    /// The way back to the client: log messages, questions, requests of the server.
    #[must_use]
    pub fn peer(&self) -> &Peer<RoleServer> {
        &self.0.context.peer
    }

    /// What the client says it is. Nobody has checked that.
    #[must_use]
    pub fn client(&self) -> Option<Implementation> {
        self.0.context.client_info()
    }

    /// What the client says it can do.
    #[must_use]
    pub fn capabilities(&self) -> Option<ClientCapabilities> {
        self.0.context.client_capabilities()
    }

    /// The version of the protocol that the request speaks.
    #[must_use]
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.context.protocol_version()
    }

    /// The `_meta` of the request.
    #[must_use]
    pub fn meta(&self) -> &RequestMetaObject {
        &self.0.context.meta
    }

    /// The head of the HTTP request, with what middleware left in its extensions; there is none over stdio.
    #[must_use]
    pub fn http(&self) -> Option<&Parts> {
        self.0.context.extensions.get()
    }

    /// The protocol's session: that of the HTTP header, or one for each connection otherwise. Stateless requests
    /// over HTTP have none.
    #[must_use]
    pub fn session(&self) -> Option<&Str> {
        self.0.session.as_ref()
    }

    /// What the client sends back of an earlier answer that asked for input. It may have been forged.
    #[must_use]
    pub fn request_state(&self) -> Option<&str> {
        self.0.request.as_ref()?.request_state.as_deref()
    }

    /// The answers to an earlier answer that asked for input.
    #[must_use]
    pub fn input_responses(&self) -> Option<&InputResponses> {
        self.0.request.as_ref()?.input_responses.as_ref()
    }

    /// The way to report progress.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Sends the client a log message, if the server [offers them](super::McpServerBuilder::logging) and the client
    /// wants those of this level; by default it gets what is `info` or above. Nothing is sent after the call.
    #[expect(deprecated, reason = "the protocol that most clients speak has it")]
    pub async fn log(&self, level: rmcp::model::LoggingLevel, text: &str) {
        let context = &self.0.context;
        if !context.ct.is_cancelled() && log::wants(context, level) {
            log::send(context, LoggingMessageNotificationParam::new(level, text.into())).await;
        }
    }

    /// Sends the client a log message of somebody else, under the same conditions as [`log`](Self::log).
    #[expect(deprecated, reason = "the protocol that most clients speak has it")]
    pub async fn pass_log(&self, message: LoggingMessageNotificationParam) {
        let context = &self.0.context;
        if !context.ct.is_cancelled() && log::wants(context, message.level) {
            log::send(context, message).await;
        }
    }

    /// From which level on the client wants log messages during this call, if it wants any.
    #[must_use]
    #[expect(deprecated, reason = "the protocol that most clients speak has it")]
    pub fn log_level(&self) -> Option<rmcp::model::LoggingLevel> {
        log::floor(&self.0.context)
    }

    /// Whether the client says that it takes a question of a method of the protocol with these parameters, in whatever way.
    #[must_use]
    pub fn takes(&self, method: &str, params: &Json) -> bool {
        let client = self.capabilities().unwrap_or_default();
        params.value().is_ok_and(|params| ask::takes(&client, method, params))
    }

    /// Asks the client in the middle of the call, with a method and parameters of the protocol (`elicitation/create`,
    /// `sampling/createMessage`, `roots/list`), and returns its answer. When the future is dropped before, the client is told that
    /// the question is void.
    ///
    /// Clients of 2026-07-28 are asked by a result that [waits](tower_agent_core::Suspension) instead.
    ///
    /// # Errors
    /// [`NotFound`](tower_agent_core::ErrorKind::NotFound) for a client that does not say that it takes such a question; an error
    /// with rmcp's `ErrorData` as its source for one that answers with an error; and when the client goes away.
    pub async fn ask(&self, method: &str, params: &Json) -> Result<Json, Error> {
        ask::ask(self, &self.0.abandoned, method, params).await
    }

    /// The request as rmcp handed it over.
    #[must_use]
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.0.context
    }

    pub(crate) fn request(&self) -> Option<&CallToolRequestParams> {
        self.0.request.as_ref()
    }
}

fn session(context: &RequestContext<RoleServer>) -> Option<Str> {
    if let Some(ConnectionId(id)) = context.extensions.get() {
        return Some(id.clone());
    }
    let parts: &Parts = context.extensions.get()?;
    parts.headers.get("mcp-session-id")?.to_str().ok().map(Str::from)
}

impl fmt::Debug for Caller {
    /// Leaves out the HTTP head and `_meta`, which may hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("id", &self.0.context.id)
            .field("session", &self.0.session)
            .finish_non_exhaustive()
    }
}
