//! Headers of a caller, which a host passes on.

use http::HeaderMap;
use tower_agent_wire::CallerHeaders;

/// The headers of a model with those of a caller over them.
pub(super) fn over(mut headers: HeaderMap, caller: Option<&CallerHeaders>) -> HeaderMap {
    let Some(caller) = caller.map(CallerHeaders::expose) else { return headers };
    let keys = CallerHeaders::KEYS;
    if keys.iter().any(|name| caller.contains_key(name)) {
        keys.iter().for_each(|name| drop(headers.remove(name)));
    }
    for name in caller.keys() {
        headers.remove(name);
        for value in caller.get_all(name) {
            headers.append(name, value.clone());
        }
    }
    headers
}

/// The keys of a caller, to be kept out of what is told of an answer.
pub(super) fn keys(caller: Option<&CallerHeaders>) -> impl Iterator<Item = &str> {
    let values = caller.into_iter().flat_map(|caller| {
        CallerHeaders::KEYS.into_iter().filter_map(|name| caller.expose().get(name)?.to_str().ok())
    });
    values.map(|value| value.strip_prefix("Bearer ").unwrap_or(value))
}
