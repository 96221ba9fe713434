use std::{fmt, future::poll_fn, panic::AssertUnwindSafe, pin::Pin, sync::Arc};

use futures_util::FutureExt;
use tower_agent_core::{CallId, Context, Effect, Error, ErrorKind, Json, Str};
use tower_service::Service;

use super::fault;

/// What a server may ask of its client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Ask {
    /// That the user fills in a form or looks at a page: `elicitation/create`.
    Elicitation,
    /// That the client's model answers: `sampling/createMessage`.
    Sampling,
    /// Which folders the client works in: `roots/list`.
    Roots,
}

impl Ask {
    /// All that there is.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// The protocol's method.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The capability of clients that can be asked.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    pub(crate) fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ask| ask.method() == method)
    }
}

/// What a server asks in the middle of a call; see [`Builder::answer`](super::Builder::answer).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// What it wants.
    pub ask: Ask,
    /// The parameters, as the server wrote them.
    pub params: Json,
    /// What this program calls the server.
    pub server: Str,
    /// The id of the call.
    pub call: CallId,
    /// The tool's name, as the server knows it.
    pub tool: Str,
    /// The context of the call.
    pub ctx: Context,
}

/// How the questions of a server reach whoever calls. It stands in the extensions of a call's context; without it a call goes by
/// what its client was built with.
///
/// A server of 2026-07-28 is told with each call what can be asked, in the words of the protocol's `ClientCapabilities`; older ones
/// are told once, when they are greeted.
#[derive(Clone, Debug)]
pub struct Asking {
    capabilities: Json,
    is_suspended: bool,
}

impl Asking {
    /// Questions are answered by the client's [service](super::Builder::answer).
    #[must_use]
    pub fn answered(capabilities: impl Into<Json>) -> Self {
        Self { capabilities: capabilities.into(), is_suspended: false }
    }

    /// Questions suspend the call. Those of older servers, which wait for their answer in the middle of a call, still go to the
    /// client's service.
    #[must_use]
    pub fn suspended(capabilities: impl Into<Json>) -> Self {
        Self { capabilities: capabilities.into(), is_suspended: true }
    }

    pub(crate) const fn capabilities(&self) -> &Json {
        &self.capabilities
    }

    pub(crate) const fn is_suspended(&self) -> bool {
        self.is_suspended
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Json, Error>> + Send>>;

/// Who answers, and what.
#[derive(Clone)]
pub(crate) struct Answerer {
    pub(crate) asks: Arc<[Ask]>,
    service: Arc<dyn Fn(Question) -> Answering + Send + Sync>,
}

impl Answerer {
    pub(crate) fn new<S>(asks: impl IntoIterator<Item = Ask>, service: S) -> Self
    where
        S: Service<Question, Response = Json> + Clone + Send + Sync + 'static,
        S::Error: Into<Error>,
        S::Future: Send + 'static,
    {
        let service = Arc::new(move |question| {
            let mut service = service.clone();
            let answering = async move {
                poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
                service.call(question).await.map_err(Into::into)
            };
            Box::pin(answering) as Answering
        });
        Self { asks: asks.into_iter().collect(), service }
    }

    pub(crate) async fn ask(&self, question: Question) -> Result<Json, Error> {
        let answering = AssertUnwindSafe(async { (self.service)(question).await });
        answering.catch_unwind().await.unwrap_or_else(|_| {
            let what = "the service that answers what servers ask panicked";
            Err(fault::error(ErrorKind::Panic, what).with_effect(Effect::Unknown))
        })
    }
}

impl fmt::Debug for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answerer").field("asks", &self.asks).finish_non_exhaustive()
    }
}
