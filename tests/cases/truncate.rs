//! Cut results.

use serde_json::{Value, json};

use crate::{
    case::Case,
    check,
    layers::{number, text},
    scene::{Played, Scene},
};

pub(crate) async fn json(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    let all = played.result().text();
    assert_eq!(serde_json::from_str::<Value>(&all).is_ok(), *case.expected.field("json_valid"));
    assert!(all.len() <= number(case.expected.field("max_bytes")), "{} bytes", all.len());
    assert_eq!(is_marked(&played), *case.expected.field("marked_truncated"));
    check::texts(&case.expected, &all);
}

/// The limit includes the word about the cut, so what is kept may end before the prefix that the case allows.
pub(crate) async fn characters(case: &Case) {
    let checks = case.input["checks"].as_array().unwrap();
    let prefixes = case.expected.texts("kept_prefix");
    let marked = case.expected.list("marked_truncated");
    assert_eq!((prefixes.len(), marked.len()), (checks.len(), checks.len()));
    assert_eq!(case.expected.field("panics"), false);
    for ((check, prefix), marked) in checks.iter().zip(prefixes).zip(marked) {
        let tool =
            json!({"replies": [{"ok": {"content": [{"type": "text", "text": check["text"]}]}}]});
        let call = json!({"id": "c1", "name": "read", "args": {}});
        let input = json!({"stack": case.input["stack"], "call": call, "tool": tool});
        let played = Scene::of(&input).play().await;
        let all = played.result().text();
        check::texts(&case.expected, &all);
        assert_eq!(is_marked(&played), *marked, "{all}");
        if marked == false {
            assert_eq!(all, text(&check["text"]));
        } else {
            let kept = all.strip_suffix("[cut]").unwrap();
            assert!(!kept.is_empty() && prefix.starts_with(kept), "{kept:?} of {prefix:?}");
        }
    }
}

fn is_marked(played: &Played) -> bool {
    let marks = &played.record().output.provenance.marks;
    marks.iter().any(|mark| mark.layer == "truncate" && mark.action == "cut")
}
