//! What a proxy passes on.

use http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts};
use tower_agent_core::Error;
use tower_agent_wire::{ApiError as Said, CallerHeaders};

const GOOGLE_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
const KEYS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    GOOGLE_KEY,
    HeaderName::from_static("api-key"),
];

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
}

impl Passing {
    pub(crate) fn headers_of(&self, parts: &Parts) -> Option<CallerHeaders> {
        let keys = KEYS.into_iter().filter(|_| self.keys);
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
