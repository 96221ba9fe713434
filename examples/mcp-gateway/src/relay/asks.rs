//! Questions of servers on their way to clients.

use rmcp::model::{ClientCapabilities, ProtocolVersion};
use tokio::sync::{mpsc, oneshot};
use tower_agent::{Effect, Error, ErrorKind, Json};
use tower_agent_mcp::{
    client::{Ask, Asking, Question},
    server::Caller,
};

use super::{Said, held::Asked};
use crate::{config::PassOn, masks::Masks};

/// A client of the newer protocol is asked by results, one of an older in the middle of its call; each only what it takes and the
/// file allows.
pub(super) fn asking(caller: &Caller, pass_on: &PassOn) -> Asking {
    let takes = caller.capabilities().unwrap_or_default();
    let may = |ask| pass_on.asks.contains(&ask);
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = takes.elicitation.filter(|_| may(Ask::Elicitation));
    capabilities.sampling = takes.sampling.filter(|_| may(Ask::Sampling));
    capabilities.roots = takes.roots.filter(|_| may(Ask::Roots));
    let capabilities = Json::from_serialize(&capabilities).unwrap_or_else(|_| Json::object());
    if is_newer(caller) { Asking::suspended(capabilities) } else { Asking::answered(capabilities) }
}

/// Whether a client speaks the generation of the protocol in which it is asked by results.
pub(super) fn is_newer(caller: &Caller) -> bool {
    let newest = ProtocolVersion::V_2026_07_28;
    caller.protocol_version().is_some_and(|version| version.as_str() >= newest.as_str())
}

/// Stands in the context of a call whose client cannot be asked in its middle.
#[derive(Clone)]
pub(super) struct Desk(pub(super) mpsc::Sender<Said>);

/// Asks the client of the call that a question belongs to.
pub(crate) async fn ask(question: Question) -> Result<Json, Error> {
    let extensions = &question.ctx.extensions;
    let (Some(caller), Some(masks)) = (Caller::of(&question.ctx), extensions.get::<Masks>()) else {
        return Err(Error::new(ErrorKind::NotFound, "there is no client to ask"));
    };
    let params = masks.outward(question.params.clone()).ok_or_else(withheld)?;
    let Some(Desk(desk)) = extensions.get() else {
        let answer = caller.ask(question.ask.method(), &params).await?;
        return masks.inward(answer).ok_or_else(withheld);
    };
    if !caller.takes(question.ask.method(), &params) {
        let what = format!("the client of this call does not take {}", question.ask.method());
        return Err(Error::new(ErrorKind::NotFound, what.clone()).with_model_text(what));
    }
    let (answer, answered) = oneshot::channel();
    let asked = Asked { ask: question.ask, params, answer };
    desk.send(Said::Asked(asked)).await.map_err(|_| unanswered())?;
    answered.await.map_err(|_| unanswered())?
}

fn unanswered() -> Error {
    Error::new(ErrorKind::Unavailable, "the client did not come back with an answer")
}

pub(super) fn withheld() -> Error {
    let what = "a question or its answer has something confidential in it";
    Error::new(ErrorKind::InvalidArguments, what)
        .with_layer("redact")
        .with_effect(Effect::NotStarted)
        .with_model_text("It was withheld, as it has something confidential in it.")
}
