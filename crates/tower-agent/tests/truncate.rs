//! What is left of outputs that are too long.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "a helper of a test fails the test")]
#![cfg(feature = "truncate")]

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Content, Error, ErrorKind, Failure, Json, Media, MediaSource, Outcome, Resource, ToolCall,
    ToolOutput, TruncateLayer,
    truncate::{Keep, Unit},
};
use tower_test::mock;

fn cut(layer: TruncateLayer, output: ToolOutput) -> ToolOutput {
    let service = layer
        .layer(service_fn(move |_: ToolCall| std::future::ready(Ok::<_, Error>(output.clone()))));
    tokio_test::block_on(service.oneshot(ToolCall::new("t", "{}"))).unwrap()
}

fn cut_text(layer: TruncateLayer, text: &str) -> String {
    cut(layer, ToolOutput::text(text)).joined_text()
}

fn marks(output: &ToolOutput) -> Vec<String> {
    let mark = |mark: &tower_agent::Mark| {
        format!("{} {} {}", mark.layer, mark.action, mark.detail.as_deref().unwrap_or_default())
    };
    output.provenance.marks.iter().map(mark).collect()
}

#[test]
fn a_cut_falls_between_characters() {
    assert_eq!(cut_text(TruncateLayer::bytes(4), "日本語日本語"), "日");
    assert_eq!(cut_text(TruncateLayer::bytes(4).keep(Keep::Tail), "日本語日本語"), "語");
    assert_eq!(cut_text(TruncateLayer::characters(4), "日本語日本語"), "日本語日");
    let both = TruncateLayer::characters(5).keep(Keep::HeadAndTail);
    assert_eq!(cut_text(both, "日本語abc日本語"), "日本語本語");
}

#[test]
fn no_kind_of_character_at_the_limit_panics_or_is_broken() {
    let inputs = [
        format!("{}✓ updated", "a".repeat(19)),
        format!("{}🦀🦀", "a".repeat(18)),
        "✓".repeat(7),
        "é".repeat(10),
    ];
    for (input, whole) in inputs.iter().zip([false, false, false, true]) {
        let text = cut_text(TruncateLayer::bytes(20), input);
        assert_eq!(text == *input, whole, "{text:?}");
        assert!(text.len() <= 20 && !text.contains('\u{fffd}'), "{text:?}");
        let kept = text.strip_suffix("[cut]").unwrap_or(&text);
        assert!(input.starts_with(kept), "{kept:?} of {input:?}");
        assert_eq!(text.ends_with("[cut]"), !whole);
    }
}

#[test]
fn the_note_is_part_of_the_limit_and_an_output_never_grows() {
    assert_eq!(cut_text(TruncateLayer::bytes(10), "0123456789a"), "0123456789");
    let text = cut_text(TruncateLayer::bytes(100), &"x".repeat(101));
    assert_eq!(text, format!("{}\n\n[cut: the first 55 of 101 bytes are shown]", "x".repeat(55)));
}

#[test]
fn a_cut_says_so_with_both_sizes_in_the_text_and_in_the_provenance() {
    let output = cut(TruncateLayer::default(), ToolOutput::text("x".repeat(48_000)));
    let text = output.joined_text();
    assert!(text.len() < 48_000);
    let shown = text.bytes().take_while(|byte| *byte == b'x').count();
    assert!(text.ends_with(&format!("\n\n[cut: the first {shown} of 48000 bytes are shown]")));
    assert_eq!(marks(&output), [format!("truncate cut {} of 48000 bytes", text.len())]);
}

#[test]
fn the_end_or_both_ends_stay_where_asked_for() {
    let lines: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
    let tail = cut_text(TruncateLayer::bytes(300).keep(Keep::Tail), &lines);
    assert!(tail.starts_with("[cut: the last ") && tail.ends_with("line 999\n"), "{tail}");
    let both = cut_text(TruncateLayer::bytes(300).keep(Keep::HeadAndTail), &lines);
    assert!(both.starts_with("line 0\n") && both.ends_with("line 999\n"), "{both}");
    assert!(both.contains("\n\n[cut: the first ") && both.contains(" of 8890 bytes are shown]"));
}

#[test]
fn short_outputs_keep_their_handles() {
    let output = ToolOutput::structured(json!({"a": 1}));
    let same = cut(TruncateLayer::bytes(7), output.clone());
    assert_eq!(same, output);
    let (Content::Text(ours), Content::Text(theirs)) = (&same.content[0], &output.content[0])
    else {
        panic!("text")
    };
    assert!(ours.text.ptr_eq(&theirs.text));
    assert!(same.structured.unwrap().ptr_eq(output.structured.as_ref().unwrap()));
    assert!(marks(&output).is_empty());
}

#[test]
fn all_texts_share_one_limit_and_pictures_are_not_touched() {
    let picture = Content::Image(Media {
        source: MediaSource::Base64("A".repeat(500).into()),
        mime_type: Some("image/png".into()),
        extra: None,
    });
    let resource = Content::Resource(Resource {
        uri: "file:///a".into(),
        name: None,
        description: None,
        mime_type: None,
        text: Some("r".repeat(60).into()),
        blob: None,
        extra: None,
    });
    let mut output = ToolOutput::text("a".repeat(60));
    output.content.extend([picture.clone(), resource, Content::text("z".repeat(60))]);

    let head = cut(TruncateLayer::bytes(120), output.clone());
    assert_eq!(head.content[0], output.content[0]);
    assert_eq!(head.content[1], picture);
    let note = "\n\n[cut: the first 75 of 180 bytes are shown]";
    assert_eq!(head.content[2].as_text().unwrap(), format!("{}{note}", "r".repeat(15)));
    assert_eq!(head.content.len(), 3);
    assert_eq!(marks(&head), ["truncate cut 119 of 180 bytes"]);

    let tail = cut(TruncateLayer::bytes(120).keep(Keep::Tail), output.clone());
    assert_eq!(tail.content[0], picture);
    assert!(tail.content[1].as_text().unwrap().starts_with("[cut: the last 76 of 180 bytes"));
    assert_eq!(tail.content[2], output.content[3]);

    let both = cut(TruncateLayer::bytes(130).keep(Keep::HeadAndTail), output);
    assert!(both.content[0].as_text().unwrap().ends_with(" of 180 bytes are shown]\n\n"));
    assert!(both.content.last().unwrap().as_text().unwrap().ends_with("zzz"));
}

#[test]
fn a_list_loses_its_end_and_keeps_its_small_fields() {
    let items: Vec<_> = (1..=40).map(|id| json!({"id": id, "name": format!("row {id}")})).collect();
    let value = json!({"items": items, "total": 40, "next_cursor": "c-41"});
    let output = cut(TruncateLayer::bytes(400), ToolOutput::structured(value.clone()));

    let text = output.joined_text();
    assert!(text.len() <= 400 && text.len() > 350, "{}", text.len());
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(output.structured.as_ref().unwrap().value().unwrap(), &read);
    assert_eq!((&read["total"], &read["next_cursor"]), (&value["total"], &value["next_cursor"]));
    let shown = read["items"].as_array().unwrap();
    assert_eq!(shown.first(), value["items"].get(0));
    let note = shown.last().unwrap().as_str().unwrap();
    assert_eq!(note, format!("[{} of 40 items cut]", 41 - shown.len()));
}

#[test]
fn json_is_pruned_as_the_table_says() {
    let exact = [
        (Keep::Head, r#"{"a": 1, "b": "xxxxxxxxxxxxxxxxxxxx"}"#, 24, r#"{"a":1,"b":"xxxxx[cut]"}"#),
        (Keep::Tail, r#"{"a": 1, "b": "xxxxxxxxxxxxxxxxxxxz"}"#, 24, r#"{"a":1,"b":"[cut]xxxxz"}"#),
        (Keep::HeadAndTail, r#"{"b": "axxxxxxxxxxxxxxxxxxxz"}"#, 19, r#"{"b":"axx[cut]xxz"}"#),
        (
            Keep::Head,
            "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]",
            27,
            r#"[1,"[11 of 12 items cut]"]"#,
        ),
        (
            Keep::Tail,
            "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]",
            27,
            r#"["[11 of 12 items cut]",12]"#,
        ),
        (
            Keep::Head,
            r#"{"z": 1.50, "a": 1e400, "n":     null}"#,
            30,
            r#"{"z":1.50,"a":1e400,"n":null}"#,
        ),
        (Keep::Head, r#""a long text that is JSON""#, 20, r#""a long text t[cut]""#),
        (Keep::Head, r#"{"key": "value", "other key": 1}"#, 3, "{}"),
        (Keep::Head, "[1,2,3]", 1, ""),
    ];
    for (keep, text, limit, expected) in exact {
        assert_eq!(cut_text(TruncateLayer::bytes(limit).keep(keep), text), expected);
    }
}

#[test]
fn a_wide_object_says_how_many_fields_went() {
    let fields = (0..100).map(|field| (format!("field_{field}"), json!(field)));
    let value = Value::Object(fields.collect());
    let read: Value =
        serde_json::from_str(&cut_text(TruncateLayer::bytes(200), &value.to_string())).unwrap();
    let shown = read.as_object().unwrap().len() - 1;
    assert!(shown > 5);
    assert_eq!(read["[cut]"], format!("{} of 100 fields", 100 - shown));
}

#[test]
fn a_value_that_no_text_repeats_is_pruned_by_itself() {
    let mut output = ToolOutput::text("see the value");
    output.structured = Some(Json::from(json!({"text": "x".repeat(500)})));
    let output = cut(TruncateLayer::bytes(100), output);
    assert_eq!(output.joined_text(), "see the value");
    let text = output.structured.as_ref().unwrap().as_str();
    assert_eq!(text.len(), 100, "{text}");
    assert_eq!(marks(&output), ["truncate cut 100 of 511 bytes"]);
}

#[test]
fn failures_are_cut_like_anything_else_and_stay_failures() {
    let failed = Outcome::from(Failure::new(ErrorKind::Tool, tower_agent::Effect::Completed));
    let output = ToolOutput::text("e".repeat(500)).with_outcome(failed.clone());
    let output = cut(TruncateLayer::bytes(100), output);
    assert_eq!(output.outcome, failed);
    assert!(output.joined_text().len() <= 100);
}

#[test]
fn the_service_is_ready_when_the_inner_one_is_and_passes_its_errors_on() {
    let (mut service, mut tool) =
        mock::spawn_layer::<ToolCall, ToolOutput, _>(TruncateLayer::default());
    tool.allow(0);
    assert_pending!(service.poll_ready());
    tool.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(ToolCall::new("t", "{}")));
    assert_pending!(answer.poll());
    let (_, respond) = assert_ready!(tokio_test::task::spawn(tool.next_request()).poll()).unwrap();
    respond.send_error("x".repeat(10_000));
    assert_eq!(assert_ready!(answer.poll()).unwrap_err().to_string().len(), 10_000);
    tool.send_error("broken");
    assert_eq!(assert_ready!(service.poll_ready()).unwrap_err().to_string(), "broken");
}

fn layers() -> impl Strategy<Value = (TruncateLayer, usize, Unit)> {
    let keep = prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::HeadAndTail)];
    let unit = prop_oneof![Just(Unit::Bytes), Just(Unit::Characters)];
    (0_usize..200, unit, keep)
        .prop_map(|(limit, unit, keep)| (TruncateLayer::new(limit, unit).keep(keep), limit, unit))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,60}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn size(unit: Unit, output: &ToolOutput) -> usize {
    output.content.iter().filter_map(Content::as_text).map(|text| unit.measure(text)).sum()
}

proptest! {
    #[test]
    fn no_output_is_longer_than_the_limit_or_than_it_was((layer, limit, unit) in layers(), texts in prop::collection::vec("[ab✓🦀é\n]{0,80}", 0..5)) {
        let mut output = ToolOutput::default();
        output.content = texts.iter().map(|text| Content::text(text.as_str())).collect();
        let before = size(unit, &output);
        let after = cut(layer, output.clone());
        prop_assert!(size(unit, &after) <= before.min(limit));
        prop_assert!(size(Unit::Bytes, &after) <= size(Unit::Bytes, &output));
        prop_assert_eq!(before <= limit, after == output);
        prop_assert_eq!(after.provenance.marks.len(), usize::from(before > limit));
        let twice = cut(layer, after.clone());
        prop_assert_eq!(twice, after);
    }

    #[test]
    fn what_is_left_is_the_ends_of_what_was_there((layer, limit, unit) in layers(), text in "[a-z✓🦀é]{0,300}") {
        let after = cut_text(layer, &text);
        if unit.measure(&text) > limit {
            let (head, tail) = match (after.find('['), after.find(']')) {
                (Some(start), Some(end)) => (after[..start].trim_end(), after[end + 1..].trim_start()),
                _ => (after.as_str(), ""),
            };
            let unnoted = limit < 16 && (text.starts_with(&after) || text.ends_with(&after) || unit.measure(&after) <= limit);
            prop_assert!(unnoted || (text.starts_with(head) && text.ends_with(tail)), "{:?}", after);
        } else {
            prop_assert_eq!(after, text);
        }
    }

    #[test]
    fn json_stays_json_and_the_value_stays_the_text((layer, limit, unit) in layers(), value in values()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for text in [value.to_string(), pretty] {
            let mut output = ToolOutput::text(text.as_str());
            output.structured = Some(Json::from_text(text.as_str()));
            let after = cut(layer, output);
            let Some(block) = after.content.first().and_then(Content::as_text) else {
                prop_assert!(limit < 7);
                continue;
            };
            prop_assert!(unit.measure(block) <= limit.max(unit.measure(&text).min(limit)));
            if value.is_array() || value.is_object() || value.is_string() {
                prop_assert!(serde_json::from_str::<Value>(block).is_ok(), "{}", block);
                prop_assert_eq!(after.structured.as_ref().unwrap().as_str(), block);
            }
        }
    }
}
