//! Headers of an answer that are kept for those above.

use http::{HeaderMap, HeaderName};
use tower_agent_wire::ProviderHeaders;

use super::BuildError;

/// Which request it was, how long it took, and what is left of a limit. A `*` stands for the rest of a name.
const USUAL: &[&str] = &[
    "anthropic-fast-*",
    "anthropic-priority-*",
    "anthropic-ratelimit-*",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "ratelimit",
    "ratelimit-*",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-*",
    "x-request-id",
    "x-should-retry",
];

/// What a builder names beside the usual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Vec<String>);

impl Kept {
    pub(super) fn add(&mut self, pattern: &str) -> Result<(), BuildError> {
        let (name, rest) = match pattern.strip_suffix('*') {
            Some(beginning) => (beginning, "*"),
            None => (pattern, ""),
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| {
            BuildError::header("the name of a header to keep is invalid", error)
        })?;
        if name.as_str().contains('*') {
            return Err(BuildError::because(
                "the name of a header to keep has a `*` before its end",
            ));
        }
        if !ProviderHeaders::may_hold(&name) {
            let why = "a header to keep belongs to a connection, a body, an origin or a login";
            return Err(BuildError::because(why));
        }
        self.0.push(format!("{name}{rest}"));
        Ok(())
    }

    /// The headers that are kept; none that tells one of the keys that were sent.
    pub(super) fn of(&self, headers: &HeaderMap, keys: &[&str]) -> Option<ProviderHeaders> {
        let tells_key = |name: &HeaderName| {
            let values = headers.get_all(name).iter();
            let mut texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
            texts.any(|text| keys.iter().any(|key| !key.is_empty() && text.contains(key)))
        };
        let kept = ProviderHeaders::pick(headers, |name| self.has(name) && !tells_key(name));
        (!kept.as_map().is_empty()).then_some(kept)
    }

    fn has(&self, name: &HeaderName) -> bool {
        let more = self.0.iter().map(String::as_str);
        USUAL.iter().copied().chain(more).any(|pattern| fits(pattern, name.as_str()))
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}
