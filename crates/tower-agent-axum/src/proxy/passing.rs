//! What a proxy passes on.

use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, request::Parts};
use tower_agent_core::{Error, ModelResponse};
use tower_agent_wire::{ApiError as Said, CallerHeaders, ProviderHeaders};

const GOOGLE_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Headers that decide what a provider does with a request, and on whose account.
const USUAL: [&str; 6] = [
    "anthropic-beta",
    "anthropic-version",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "x-goog-user-project",
];

/// What of a caller goes to the provider, and how the provider's errors come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passing {
    pub(crate) keys: bool,
    pub(crate) names: Vec<HeaderName>,
    /// Whether headers of the provider's answer stay here.
    pub(crate) hides_answer: bool,
}

impl Passing {
    pub(crate) fn headers_of(&self, parts: &Parts) -> Option<CallerHeaders> {
        let keys = CallerHeaders::KEYS.into_iter().filter(|_| self.keys);
        let usual = USUAL.into_iter().map(HeaderName::from_static);
        let mut headers = HeaderMap::new();
        for name in keys.chain(usual).chain(self.names.iter().cloned()) {
            for value in parts.headers.get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if let Some(key) = self.key_in_query(parts).filter(|_| !headers.contains_key(GOOGLE_KEY)) {
            headers.insert(GOOGLE_KEY, key);
        }
        (!headers.is_empty()).then(|| CallerHeaders::new(headers))
    }

    /// Clients of Gemini may put their key into the URL, where it would not go further.
    fn key_in_query(&self, parts: &Parts) -> Option<HeaderValue> {
        let query = parts.uri.query().filter(|_| self.keys)?;
        let key = query.split('&').find_map(|pair| pair.strip_prefix("key="))?;
        HeaderValue::from_str(key).ok()
    }

    /// The headers of a provider's answer that its client gets.
    pub(crate) fn of_answer(
        &self,
        answer: &Result<ModelResponse, Error>,
    ) -> Option<Arc<ProviderHeaders>> {
        let extensions = match answer {
            Ok(answer) => &answer.head.extensions,
            Err(error) => error.extensions(),
        };
        extensions.get_arc().filter(|_| !self.hides_answer)
    }

    /// An error that a provider answered, with the words that the caller may read.
    pub(crate) fn words_of_provider(&self, error: &Error) -> Option<Error> {
        let said = error.extensions().get::<Said>()?;
        said.status?;
        // The account that a text may be about is the caller's.
        let text = said.message.as_ref().filter(|_| self.keys);
        Some(match text {
            Some(text) => error.clone().with_model_text(text.to_string()),
            None => error.clone(),
        })
    }
}

/// Adds headers of a provider; what the host says counts.
pub(crate) fn hand_back(response: &mut Response, provider: &ProviderHeaders) {
    let headers = response.headers_mut();
    let is_ours = |name: &&HeaderName| headers.contains_key(*name);
    let ours: Vec<_> = provider.as_map().keys().filter(is_ours).cloned().collect();
    for (name, value) in provider.as_map() {
        if !ours.contains(name) {
            headers.append(name.clone(), value.clone());
        }
    }
}
