//! All dialects in front of the providers that they belong to.

mod passing;

use std::{convert::Infallible, fmt};

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderName, Request, StatusCode};
use tower::{Service, ServiceExt, util::BoxCloneSyncService};
use tower_agent_core::Error;
use tower_agent_wire::ApiError as Said;

pub(crate) use self::passing::{Passing, hand_back};
use crate::{
    chat::ChatRouter,
    gemini::{GeminiRouter, Others},
    messages::MessagesRouter,
    models::Models,
    options::Options,
    responses::ResponsesRouter,
};

/// What answers all other paths.
pub(crate) type Rest = BoxCloneSyncService<Request<Body>, Response, Infallible>;

/// A proxy for models: any client that can set a base URL gets your layers around its real provider.
///
/// Each dialect gets the model stacks that answer it, usually layers around a provider of the same dialect. A client that
/// spoke to `https://api.openai.com/v1` speaks to this host instead and notices nothing but what the layers do:
///
/// ```
/// use axum::{Router, body::{Body, to_bytes}, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::{Models, proxy_router};
/// use tower_agent_core::{Error, Message, ModelRequest, ModelResponse, Reply};
/// use tower_agent_wire::CallerHeaders;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // `OpenAi::builder(..).caller_headers(true)` in its layers; here something that says whose key it would use.
/// let provider = service_fn(|request: ModelRequest| async move {
///     let caller = request.ctx.extensions.get::<CallerHeaders>().cloned().unwrap_or_default();
///     let text = format!("{} with {:?}", request.model, caller.expose().get("authorization").unwrap());
///     Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(text))))
/// });
/// let app: Router = proxy_router().chat(Models::new().any_model(provider)).pass_keys().into();
///
/// let request = Request::post("/v1/chat/completions")
///     .header("content-type", "application/json")
///     .header("authorization", "Bearer sk-of-the-client")
///     .body(Body::from(r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}"#))?;
/// let body = to_bytes(app.oneshot(request).await?.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains("gpt-4o with Sensitive"));
/// # Ok(())
/// # }
/// ```
///
/// # What is sent
///
/// The request as the dialect's codec reads it and writes it again: the same JSON, but for spaces and the order of keys, unless
/// a layer changed it. Headers that decide what the provider does, such as `anthropic-beta`, come with it; further ones are named by
/// [`pass_header`](ProxyRouter::pass_header). With [`pass_keys`](ProxyRouter::pass_keys), so does the caller's key, in place of
/// the provider's own. They travel in the request's context, as
/// [`CallerHeaders`](tower_agent_wire::CallerHeaders), and a provider sends them only if it was built with `caller_headers(true)`.
///
/// # What comes back
///
/// The events of a stream as they arrive, each written again in the client's dialect. What no layer changed says the same as the
/// provider did; the bytes may differ in spaces, in the order of keys and in how pieces are spread over events. Of Responses' events,
/// `obfuscation` and the logarithms of single pieces stay behind.
///
/// So do the headers that the provider [keeps](tower_agent_wire::ProviderHeaders): its id of the request, what is left of its rate
/// limits, how long it took, when to ask again. Further ones are named where the provider is built, by `keep_header`. They come with whole
/// and streamed replies and with refusals, unless [`provider_headers`](ProxyRouter::provider_headers) is off; the run's own id is
/// `x-run-id`. A header that the host or a layer sets counts over the provider's.
///
/// # Paths
///
/// `/v1/chat/completions`, `/v1/responses`, `/v1/messages` and Gemini's `/v1beta/models/{model}:generateContent` are answered where
/// they were given models. Lists of models name the stacks that have names. All other paths of the providers (embeddings, files,
/// counting tokens) are 404, unless [`forward`](ProxyRouter::forward) sends them on: unseen by any layer.
///
/// # Errors
///
/// What a provider refused is passed on with its status, its names and its text for the caller, in the client's dialect. With
/// [`pass_keys`](ProxyRouter::pass_keys), the texts about the account come too, for it is the caller's. What a layer or the host refuses is an
/// [`ApiError`](crate::ApiError), as in the other routers.
///
/// # Cancellation
///
/// As for [`run_router`](crate::run_router): a client that goes away closes the connection to the provider.
pub fn proxy_router() -> ProxyRouter {
    let options = Options {
        // Pictures and files come inside of requests.
        body_limit: 32 << 20,
        proxy: Some(Passing::default()),
        ..Options::default()
    };
    ProxyRouter { chat: None, responses: None, messages: None, gemini: None, rest: None, options }
}

/// The routes of [`proxy_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct ProxyRouter {
    chat: Option<Models>,
    responses: Option<Models>,
    messages: Option<Models>,
    gemini: Option<Models>,
    rest: Option<Rest>,
    options: Options,
}

impl ProxyRouter {
    /// What answers OpenAI's chat completions; usually [`any_model`](Models::any_model).
    pub fn chat(mut self, models: Models) -> Self {
        self.chat = Some(models);
        self
    }

    /// What answers OpenAI's Responses.
    pub fn responses(mut self, models: Models) -> Self {
        self.responses = Some(models);
        self
    }

    /// What answers Anthropic's messages.
    pub fn messages(mut self, models: Models) -> Self {
        self.messages = Some(models);
        self
    }

    /// What answers Gemini's API.
    pub fn gemini(mut self, models: Models) -> Self {
        self.gemini = Some(models);
        self
    }

    /// Passes the caller's key on to the provider: `Authorization`, `x-api-key`, `x-goog-api-key` and `api-key`, and Gemini's
    /// `?key=`, as a header.
    ///
    /// A provider that takes them must be the one that they are for: build it with `caller_headers(true)`, and no other.
    pub fn pass_keys(mut self) -> Self {
        self.passing().keys = true;
        self
    }

    /// Whether headers of the provider's answer come back to the client; they do without this.
    pub fn provider_headers(mut self, hand_back: bool) -> Self {
        self.passing().hides_answer = !hand_back;
        self
    }

    /// Passes another header of the caller on to the provider.
    pub fn pass_header(mut self, name: HeaderName) -> Self {
        self.passing().names.push(name);
        self
    }

    /// Answers all other paths, and lists of models that would be empty here, by a service: usually
    /// `tower_agent_providers::Forward`, which sends them to the provider as they are. No layer of a model stack sees them, and
    /// [`identity`](Self::identity) is not asked.
    pub fn forward<F, B>(mut self, service: F) -> Self
    where
        F: Service<Request<Body>, Response = http::Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        F::Future: Send,
        http::Response<B>: IntoResponse,
        B: 'static,
    {
        self.rest =
            Some(BoxCloneSyncService::new(service.map_response(IntoResponse::into_response)));
        self
    }

    options!();

    fn passing(&mut self) -> &mut Passing {
        self.options.proxy.get_or_insert_default()
    }

    /// Whether a list is answered here and not by the upstream.
    fn lists(&self, models: &Models) -> bool {
        self.rest.is_none() || models.ids().next().is_some()
    }

    /// What answers other methods on the paths of Gemini's models; some of them are those of OpenAI's list as well.
    fn others(&self, models: &Models) -> Others {
        let chat_lists = self.chat.as_ref().is_some_and(|chat| self.lists(chat));
        Others {
            v1: self.rest.clone().filter(|_| !chat_lists),
            v1beta: self.rest.clone().filter(|_| !self.lists(models)),
        }
    }
}

impl<S: Clone + Send + Sync + 'static> From<ProxyRouter> for Router<S> {
    fn from(router: ProxyRouter) -> Self {
        let options = || router.options.clone();
        let mut routes = Self::new();
        if let Some(models) = router.chat.clone() {
            let lists = router.lists(&models);
            routes = routes.merge(ChatRouter::of_proxy(models, options(), lists));
        }
        if let Some(models) = router.responses.clone() {
            routes = routes.merge(ResponsesRouter::of_proxy(models, options()));
        }
        if let Some(models) = router.messages.clone() {
            routes = routes.merge(MessagesRouter::of_proxy(models, options()));
        }
        if let Some(models) = router.gemini.clone() {
            let others = router.others(&models);
            routes = routes.merge(GeminiRouter::of_proxy(models, options(), others));
        }
        match router.rest {
            Some(rest) => routes.fallback_service(rest),
            None => routes,
        }
    }
}

impl fmt::Debug for ProxyRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyRouter")
            .field("chat", &self.chat)
            .field("responses", &self.responses)
            .field("messages", &self.messages)
            .field("gemini", &self.gemini)
            .field("forward", &self.rest.is_some())
            .field("options", &self.options)
            .finish()
    }
}

/// An error in a provider's words, with its own status.
pub(crate) fn response(error: &Error, said: http::Response<Bytes>) -> Response {
    let mut response = said.map(Body::from);
    let status = error.extensions().get::<Said>().and_then(|said| said.status);
    if let Some(status) = status.and_then(|status| StatusCode::from_u16(status).ok()) {
        *response.status_mut() = status;
    }
    response.extensions_mut().insert(error.clone());
    response
}
