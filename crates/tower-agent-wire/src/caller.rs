use std::fmt;

use http::{HeaderMap, HeaderName, header};

/// Headers of a caller that go with his request to its provider, such as a key of his own.
///
/// A host that passes them on puts them into the request's context; a model of tower-agent-providers sends them only if it is
/// told to, since a request may reach another provider than the one that the key is for. They are never printed.
///
/// ```
/// use http::{HeaderMap, HeaderValue, header};
/// use tower_agent_core::ModelRequest;
/// use tower_agent_wire::CallerHeaders;
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer sk-1"));
/// let mut request = ModelRequest::new("gpt-4o", vec![]);
/// request.ctx.extensions.insert(CallerHeaders::new(headers));
/// assert!(!format!("{:?}", request.ctx.extensions.get::<CallerHeaders>()).contains("sk-1"));
/// ```
#[derive(Clone, Default)]
pub struct CallerHeaders(HeaderMap);

impl CallerHeaders {
    /// Headers that say who asks. Of two of them a server takes the one or the other.
    pub const KEYS: [HeaderName; 4] = [
        header::AUTHORIZATION,
        HeaderName::from_static("x-api-key"),
        HeaderName::from_static("x-goog-api-key"),
        HeaderName::from_static("api-key"),
    ];

    /// Takes headers, whose values count as confidential from now on.
    #[must_use]
    pub fn new(mut headers: HeaderMap) -> Self {
        headers.values_mut().for_each(|value| value.set_sensitive(true));
        Self(headers)
    }

    /// The headers, for the one place that must send them.
    #[must_use]
    pub const fn expose(&self) -> &HeaderMap {
        &self.0
    }
}

impl fmt::Debug for CallerHeaders {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
