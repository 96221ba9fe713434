//! What a server finds at the other end: the client that it greets, and that it asks.

use std::sync::Arc;

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ErrorCode, Implementation,
        ProtocolVersion, TASKS_EXTENSION_ID,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower_agent_core::Json;

use super::{Ask, fault, open::Asked, options::Options, raw, tap::Wire};

/// Leads what a server asks to the call that it belongs to. Without a service that answers, users decline and there are no
/// folders.
pub(crate) struct Host {
    config: ClientConfig,
    asks: Option<Arc<[Ask]>>,
    wire: Arc<Wire>,
}

impl Host {
    pub(crate) fn new(options: &Options, wire: Arc<Wire>) -> Self {
        let (name, version) = &options.client;
        let info = Implementation::new(name.as_str(), version.as_str());
        let config = ClientConfig::new(capabilities(options), info);
        let asks = options.answerer.as_ref().map(|answerer| Arc::clone(&answerer.asks));
        Self { config, asks, wire }
    }

    async fn answer(
        &self,
        (ask, params): (Ask, Json),
        context: &RequestContext<RoleClient>,
    ) -> Result<Value, ErrorData> {
        let Some(asks) = &self.asks else { return unanswered(ask) };
        if !asks.contains(&ask) || is_stateless(context) {
            return Err(fault::undeclared(ask));
        }
        let call = self.wire.calls.asked(context.extensions.get()).ok_or_else(unassociated)?;
        let (answer, answered) = oneshot::channel();
        call.try_send(Asked { ask, params, answer })
            .map_err(|_| ErrorData::internal_error("too many questions are open", None))?;
        tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(over()),
            answered = answered => {
                let json = answered.map_err(|_| over())?.map_err(|error| fault::unanswered(&error))?;
                json.value().cloned().map_err(|_| ErrorData::internal_error("the answer is no JSON", None))
            }
        }
    }
}

fn capabilities(options: &Options) -> ClientCapabilities {
    let asks: &[Ask] = options.answerer.as_ref().map_or(&[], |answerer| &answerer.asks);
    let mut capabilities = ClientCapabilities::default();
    if options.input || asks.contains(&Ask::Elicitation) {
        capabilities.elicitation = Some(Default::default());
    }
    if asks.contains(&Ask::Sampling) {
        capabilities.sampling = Some(Default::default());
    }
    if asks.contains(&Ask::Roots) {
        capabilities.roots = Some(Default::default());
    }
    if options.tasks {
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new());
    }
    capabilities
}

/// What nobody answers: nothing that a person would have to decide.
fn unanswered(ask: Ask) -> Result<Value, ErrorData> {
    match ask {
        Ask::Elicitation => Ok(json!({ "action": "decline" })),
        Ask::Roots => Ok(json!({ "roots": [] })),
        Ask::Sampling => Err(fault::undeclared(ask)),
    }
}

/// The newer generation has no requests of servers.
fn is_stateless(context: &RequestContext<RoleClient>) -> bool {
    context.peer.peer_info().is_some_and(|info| {
        info.protocol_version.as_str() >= ProtocolVersion::V_2026_07_28.as_str()
    })
}

fn unassociated() -> ErrorData {
    ErrorData::invalid_params("it cannot be told which call this belongs to", None)
}

fn over() -> ErrorData {
    ErrorData::internal_error("the call that this belongs to is over", None)
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let asked = raw::unwrapped(request.params.as_ref());
        match asked.filter(|_| request.method == raw::ASKED) {
            Some(asked) => self.answer(asked, &context).await.map(CustomResult::new),
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }
}
