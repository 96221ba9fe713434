//! What most cases expect, in the words of the cases.

use serde_json::Value;
use tower_agent::{Effect, ErrorKind, Outcome};

use crate::{
    case::Expected,
    layers::{millis, number, text},
    scene::Played,
};

/// What the whole text that comes out is, has and has not.
pub(crate) fn texts(expected: &Expected, all: &str) {
    if let Some(whole) = expected.get("text") {
        assert_eq!(all, text(whole));
    }
    for part in expected.texts("contains") {
        assert!(all.contains(part), "{part:?} is missing in {all:?}");
    }
    for part in expected.texts("not_contains") {
        assert!(!all.contains(part), "{part:?} is in {all:?}");
    }
    let any = expected.texts("contains_any");
    assert!(
        any.is_empty() || any.iter().any(|part| all.contains(part)),
        "none of {any:?} in {all:?}"
    );
    if let Some(start) = expected.get("starts_with") {
        assert!(all.starts_with(text(start)), "{all:?}");
    }
    if let Some(end) = expected.get("ends_with") {
        assert!(all.ends_with(text(end)), "{all:?}");
    }
}

/// Which values at which places of the output are those of before, and of what type the others are.
pub(crate) fn places(expected: &Expected, before: &Value, after: &Value) {
    for place in expected.texts("unchanged") {
        let value = after.pointer(place).unwrap_or_else(|| panic!("{place} is gone"));
        assert_eq!(Some(value), before.pointer(place), "{place}");
    }
    let types = expected.get("type_at").and_then(Value::as_object);
    for (place, kind) in types.into_iter().flatten() {
        assert_eq!(kind, "array", "no other type is expected anywhere");
        assert!(after.pointer(place).is_some_and(Value::is_array), "{place} of {after}");
    }
}

/// Which call got which result, how often tools ran, and what was counted.
pub(crate) fn played(expected: &Expected, played: &Played) {
    for wanted in expected.list("results") {
        result(wanted, played);
    }
    let results = played.results();
    if expected.get("result_ids").is_some() {
        let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
        assert_eq!(ids, expected.texts("result_ids"));
    }
    if expected.get("texts").is_some() {
        let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
        assert_eq!(texts, expected.texts("texts"));
    }
    if let Some(wanted) = expected.get("is_error") {
        assert_eq!(played.result().is_error, *wanted);
    }
    if let Some(id) = expected.get("call_id") {
        assert_eq!(played.result().call_id, *text(id));
    }
    if let Some(outcome) = expected.get("outcome") {
        assert_eq!(outcome, "ok", "no other outcome of a run is expected anywhere");
        assert!(played.error.is_none(), "{:?}", played.error);
    }
    counts(expected, played);
}

/// The one result of a call.
fn result(wanted: &Value, played: &Played) {
    let id = text(&wanted["call_id"]);
    let mut results = played.results();
    results.retain(|result| result.call_id == *id);
    let [result] = results[..] else { panic!("{id} has {} results", results.len()) };
    assert_eq!(result.is_error, wanted["is_error"], "{result:?}");
    if let Some(whole) = wanted["text"].as_str() {
        assert_eq!(result.text(), whole);
    }
    if let Some(reason) = wanted["reason"].as_str() {
        assert_eq!(reason_of(id, played), reason);
    }
}

/// Why the end of its run caught a call.
fn reason_of(id: &str, played: &Played) -> &'static str {
    let record = played.transcript.tools.iter().find(|record| record.id == *id).unwrap();
    match &record.output.outcome {
        Outcome::Failed(failure) if failure.kind == ErrorKind::Cancelled => match failure.effect {
            Effect::Unknown => "interrupted",
            Effect::NotStarted => "not_started",
            Effect::Completed => "completed",
        },
        other => panic!("{other:?} is no cancellation"),
    }
}

fn counts(expected: &Expected, played: &Played) {
    if let Some(count) = expected.get("executions") {
        assert_eq!(played.ran.len(), number(count));
    }
    if let Some(wanted) = expected.get("metrics") {
        let registry = played.gauges.metrics.registry();
        let sum = |counts: std::collections::BTreeMap<_, u64>| counts.into_values().sum::<u64>();
        assert_eq!(sum(registry.calls()), wanted["calls"]);
        assert_eq!(sum(registry.failures()), wanted["failures"]);
    }
    if let Some(wanted) = expected.get("in_flight_after") {
        let in_flight: usize = played.gauges.limits.iter().map(|limit| limit.in_flight()).sum();
        assert!(!played.gauges.limits.is_empty());
        assert_eq!(in_flight, number(wanted));
    }
    if let Some(wanted) = expected.get("wall_ms_max") {
        assert!(played.took <= millis(wanted), "{:?}", played.took);
    }
    if let Some(alive) = expected.get("process_alive") {
        assert_eq!(alive, true, "or nothing would get here");
    }
}
