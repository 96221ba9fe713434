use std::fmt;

use serde::Serialize;
use tower_agent_core::Str;

use super::Description;

/// A known bad order of two layers.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Warning {
    /// The layer that stands further outside.
    pub outer: Str,
    /// The layer that stands further inside.
    pub inner: Str,
    /// What goes wrong so.
    pub reason: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stands outside {}: {}", self.outer, self.inner, self.reason)
    }
}

/// Layers that keep calls from what is inside them, by answering in its place.
const JUDGES: &[&str] = &["allow_list", "deny_list"];
/// Layers that only look.
const OBSERVERS: &[&str] = &["log", "metrics", "trace"];
const CACHE: &[&str] = &["cache"];
const CONCURRENCY: &[&str] = &["concurrency_limit"];
const REDACT: &[&str] = &["redact"];
const REPORT_ERRORS: &[&str] = &["report_errors"];
const RETRY: &[&str] = &["retry"];
const TRUNCATE: &[&str] = &["truncate"];

/// What must not stand outside what, and why.
const BAD_ORDERS: &[(&[&str], &[&str], &str)] = &[
    (REDACT, TRUNCATE, "a cut can split a secret, which then is not recognised any more"),
    (REPORT_ERRORS, REDACT, "the text of errors reaches the model without being redacted"),
    (RETRY, REPORT_ERRORS, "what is retried has no errors any more, so nothing is retried"),
    (CONCURRENCY, RETRY, "a call keeps its permit while it waits for its next attempt"),
    (JUDGES, OBSERVERS, "the observer does not see what was refused"),
    (CACHE, JUDGES, "an answer from the cache is given without being judged"),
];

/// Names the known bad orders in a stack. That it finds none does not make an order good.
///
/// ```
/// use tower_agent::{Description, check};
///
/// let stack = Description::from_names(["metrics", "redact", "truncate", "tool_fn"]);
/// let [warning] = &check(&stack)[..] else { panic!("one bad order") };
/// assert_eq!((&*warning.outer, &*warning.inner), ("redact", "truncate"));
/// assert!(check(&Description::from_names(["truncate", "redact", "tool_fn"])).is_empty());
/// ```
#[must_use]
pub fn check(description: &Description) -> Vec<Warning> {
    let names = description.names();
    let pairs = names.iter().enumerate().flat_map(|(position, outer)| {
        names.iter().skip(position + 1).map(move |inner| (outer, inner))
    });
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in pairs.flat_map(|(outer, inner)| bad_orders(outer, inner)) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings
}

fn bad_orders(outer: &Str, inner: &Str) -> impl Iterator<Item = Warning> {
    let is_in = |names: &[&str], name: &Str| names.contains(&name.trim_end_matches('?'));
    BAD_ORDERS
        .iter()
        .filter(move |(outers, inners, _)| is_in(outers, outer) && is_in(inners, inner))
        .map(|(_, _, reason)| Warning { outer: outer.clone(), inner: inner.clone(), reason })
}
