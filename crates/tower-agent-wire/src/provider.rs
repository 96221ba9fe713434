use std::fmt;

use http::{HeaderMap, HeaderName, header};

use crate::CallerHeaders;

/// Headers of a provider's answer that may go on to a client: its id of the request, what is left of a rate limit.
///
/// A model of tower-agent-providers attaches those that it keeps to the head of its answer, or to its error; a proxy of
/// tower-agent-axum hands them to its client. What belongs to one connection, one body or one origin is never among
/// them, nor is a cookie or a key.
///
/// ```
/// use http::HeaderMap;
/// use tower_agent_wire::ProviderHeaders;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-remaining-requests", "59".parse()?);
/// headers.insert("set-cookie", "session=1".parse()?);
/// headers.insert("content-length", "7".parse()?);
/// let kept = ProviderHeaders::new(&headers);
/// assert_eq!(kept.as_map().len(), 1);
/// assert_eq!(kept.as_map()["x-ratelimit-remaining-requests"], "59");
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ProviderHeaders(HeaderMap);

/// Names that never go on. What decides about a page, a cache or a server in front is the host's to say.
const NEVER: &[&str] = &[
    "accept-ranges",
    "age",
    "allow",
    "alt-svc",
    "authentication-info",
    "cache-control",
    "clear-site-data",
    "connection",
    "cookie",
    "cookie2",
    "date",
    "etag",
    "expires",
    "host",
    "keep-alive",
    "last-modified",
    "link",
    "location",
    "nel",
    "origin-agent-cluster",
    "permissions-policy",
    "pragma",
    "public-key-pins",
    "referrer-policy",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "server",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "sourcemap",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
    "www-authenticate",
    "x-frame-options",
    "x-sendfile",
];

/// What such names begin with.
const NEVER_FROM: &[&str] =
    &["access-control-", "content-", "cross-origin-", "proxy-", "sec-", "x-accel-", "x-content-"];

impl ProviderHeaders {
    /// Takes headers, without those that [never go on](Self::may_hold) and those that `Connection` names.
    #[must_use]
    pub fn new(headers: &HeaderMap) -> Self {
        Self::pick(headers, |_| true)
    }

    /// Takes those that are wished; what never goes on is left out all the same.
    #[must_use]
    pub fn pick(headers: &HeaderMap, is_wished: impl Fn(&HeaderName) -> bool) -> Self {
        let hops = of_connection(headers);
        let may_go = |name: &HeaderName| Self::may_hold(name) && !hops.contains(name);
        let mut picked = HeaderMap::new();
        for name in headers.keys().filter(|name| is_wished(name) && may_go(name)) {
            for value in headers.get_all(name) {
                picked.append(name.clone(), value.clone());
            }
        }
        Self(picked)
    }

    /// Whether a header of this name may go on.
    #[must_use]
    pub fn may_hold(name: &HeaderName) -> bool {
        let text = name.as_str();
        !CallerHeaders::KEYS.contains(name)
            && !NEVER.contains(&text)
            && !NEVER_FROM.iter().any(|beginning| text.starts_with(beginning))
    }

    /// The headers.
    #[must_use]
    pub const fn as_map(&self) -> &HeaderMap {
        &self.0
    }
}

/// The names that a message says belong to its connection.
fn of_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).iter();
    let names = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    names.filter_map(|name| name.trim().parse().ok()).collect()
}

impl fmt::Debug for ProviderHeaders {
    /// Names only: the values say much of an account.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
