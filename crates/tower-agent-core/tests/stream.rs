//! A reply is the same whole or in pieces, however it is cut.
#![cfg(test)]

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;
use tower_agent_core::{
    CallId, Collector, Error, ErrorKind, FinishReason, Json, Media, MediaSource, Message,
    ModelBody, ModelEvent, Part, PartDelta, PartStart, Reply, Role, ToolCallPart,
};
use tower_agent_test::strategies;

fn collect(events: impl IntoIterator<Item = ModelEvent>) -> Result<Reply, Error> {
    let mut collector = Collector::new();
    for event in events {
        collector.push(event)?;
    }
    collector.finish()
}

fn finish() -> ModelEvent {
    ModelEvent::Finish { reason: FinishReason::ToolCalls }
}

fn begin(index: u32, id: Option<&str>, name: Option<&str>) -> ModelEvent {
    let part = PartStart::ToolCall { id: id.map(Into::into), name: name.map(Into::into) };
    ModelEvent::PartStart { index, part }
}

fn delta(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelEvent {
    let delta = PartDelta::ToolCall {
        id: id.map(Into::into),
        name: name.map(Into::into),
        arguments: arguments.into(),
    };
    ModelEvent::PartDelta { index, delta }
}

fn calls(reply: &Reply) -> Vec<(&str, &str, &str)> {
    let calls = reply.message.tool_calls();
    calls.map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect()
}

fn texts(reply: &Reply) -> String {
    format!("{reply:?}")
}

proptest! {
    #[test]
    fn streaming_a_reply_and_collecting_it_gives_the_same_reply(reply in strategies::reply()) {
        let body = ModelBody::full(reply.clone());
        let streamed = ModelBody::Stream(body.into_stream());
        let back = futures_util::FutureExt::now_or_never(streamed.collect()).unwrap().unwrap();
        prop_assert_eq!(texts(&back), texts(&reply));
        prop_assert_eq!(back, reply);
    }

    #[test]
    fn the_same_reply_comes_of_any_cut_and_any_order_of_parts(
        (reply, events) in strategies::reply().prop_flat_map(|reply| {
            let events = strategies::rechunked(reply.clone().into_events());
            (Just(reply), events)
        }),
    ) {
        prop_assert_eq!(collect(events).unwrap(), reply);
    }

    #[test]
    fn any_events_collect_or_fail_but_never_panic(
        events in proptest::collection::vec(strategies::model_event(), 0..12),
    ) {
        let finished = events.iter().any(|event| matches!(event, ModelEvent::Finish { .. }));
        if let Ok(reply) = collect(events.clone()) {
            prop_assert!(finished);
            prop_assert_eq!(collect(reply.clone().into_events()).unwrap(), reply);
        }
        let stream = ModelBody::stream(stream::iter(events.into_iter().map(Ok)));
        let _ = futures_util::FutureExt::now_or_never(stream.collect()).unwrap();
    }

    #[test]
    fn half_a_reply_is_never_taken_for_a_whole_one(reply in strategies::reply(), cut in any::<prop::sample::Index>()) {
        let events = reply.into_events();
        let finish = events.iter().position(|event| matches!(event, ModelEvent::Finish { .. })).unwrap();
        let until = cut.index(finish + 1);
        let error = collect(events.into_iter().take(until)).unwrap_err();
        prop_assert_eq!(error.kind(), ErrorKind::Protocol);
    }
}

#[test]
fn two_calls_whose_pieces_alternate_are_never_merged() {
    let reply = collect([
        begin(0, Some("a"), Some("read")),
        begin(1, Some("b"), Some("write")),
        delta(0, None, None, r#"{"x":"#),
        delta(1, None, None, r#"{"y":"#),
        delta(0, None, None, "1}"),
        delta(1, None, None, "2}"),
        finish(),
    ]);
    let reply = reply.unwrap();
    assert_eq!(calls(&reply), [("a", "read", r#"{"x":1}"#), ("b", "write", r#"{"y":2}"#)]);
}

#[test]
fn two_calls_with_the_same_or_no_id_and_the_same_name_stay_two() {
    for id in [Some("same"), Some(""), None] {
        let reply =
            collect([delta(0, id, Some("read"), "{}"), delta(1, id, Some("read"), "{}"), finish()]);
        let reply = reply.unwrap();
        let id = id.unwrap_or_default();
        assert_eq!(calls(&reply), [(id, "read", "{}"), (id, "read", "{}")]);
    }
}

#[test]
fn a_call_whose_id_and_name_come_late_is_one_call() {
    let pieces = [
        delta(0, None, None, "{\"a\""),
        delta(0, Some(""), Some(""), ":"),
        delta(0, Some("late"), None, "1"),
        delta(0, None, Some("read"), "}"),
        finish(),
    ];
    assert_eq!(calls(&collect(pieces).unwrap()), [("late", "read", "{\"a\":1}")]);
}

#[test]
fn a_start_that_comes_after_the_first_piece_still_names_the_call() {
    let pieces = [
        delta(0, None, None, "{"),
        begin(0, Some("late"), Some("read")),
        delta(0, None, None, "}"),
        finish(),
    ];
    assert_eq!(calls(&collect(pieces).unwrap()), [("late", "read", "{}")]);
}

#[test]
fn an_id_that_comes_twice_splits_nothing_and_the_first_counts() {
    let pieces = [
        begin(0, Some("first"), Some("read")),
        begin(0, Some("first"), None),
        delta(0, Some("first"), Some("read"), "{"),
        delta(0, Some("second"), Some("write"), "}"),
        finish(),
    ];
    assert_eq!(calls(&collect(pieces).unwrap()), [("first", "read", "{}")]);
}

#[test]
fn fields_known_at_the_start_of_a_part_stay_unless_its_end_says_more() {
    let early = || ModelEvent::PartExtra { index: 0, extra: Json::from_text(r#"{"a":1}"#) };
    let end =
        |extra: Option<&str>| ModelEvent::PartEnd { index: 0, extra: extra.map(Json::from_text) };
    for (end, kept) in
        [(end(None), r#"{"a":1}"#), (end(Some(r#"{"a":1,"b":2}"#)), r#"{"a":1,"b":2}"#)]
    {
        let reply = collect([
            begin(0, Some("c"), Some("f")),
            early(),
            delta(0, None, None, "{}"),
            end,
            finish(),
        ]);
        let reply = reply.unwrap();
        let call = reply.message.tool_calls().next().unwrap();
        assert_eq!(call.extra.as_ref().unwrap().as_str(), kept);
    }
}

#[test]
fn a_reply_tells_the_fields_of_a_part_at_its_start_and_at_its_end() {
    let mut call = ToolCallPart::new("c", "f", "{}");
    call.extra = Some(Json::from_text(r#"{"a":1}"#));
    let reply = Reply::new(Message::new(Role::Assistant, vec![Part::ToolCall(call)]));
    let names: Vec<_> = reply
        .into_events()
        .iter()
        .map(|event| match event {
            ModelEvent::PartExtra { .. } => "extra",
            ModelEvent::PartEnd { extra: Some(_), .. } => "end",
            ModelEvent::PartStart { .. } => "start",
            _ => "",
        })
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(names, ["start", "extra", "end"]);
}

#[test]
fn another_part_under_the_same_index_is_refused_rather_than_merged() {
    let image = Part::Image(Media {
        source: MediaSource::Url("https://example.com/a.png".into()),
        mime_type: None,
        extra: None,
    });
    let clashes = [
        [begin(0, Some("a"), Some("read")), begin(0, Some("b"), Some("write"))],
        [begin(0, Some("a"), None), ModelEvent::PartStart { index: 0, part: PartStart::Text }],
        [
            ModelEvent::PartStart { index: 0, part: PartStart::Text },
            ModelEvent::PartStart { index: 0, part: PartStart::Whole(image.clone()) },
        ],
        [
            ModelEvent::PartStart { index: 0, part: PartStart::Whole(image) },
            delta(0, Some("a"), None, "{}"),
        ],
        [
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("a".into()) },
            ModelEvent::PartDelta { index: 0, delta: PartDelta::Reasoning("b".into()) },
        ],
    ];
    for clash in clashes {
        let error = collect(clash.into_iter().chain([finish()])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains("part 0"), "{error}");
    }
}

#[test]
fn text_and_reasoning_beside_tool_calls_survive_in_their_order() {
    let reply = collect([
        ModelEvent::PartDelta { index: 2, delta: PartDelta::Text("I look".into()) },
        delta(3, Some("c1"), Some("read"), "{}"),
        ModelEvent::PartDelta { index: 1, delta: PartDelta::Reasoning("hm".into()) },
        ModelEvent::PartDelta { index: 2, delta: PartDelta::Text(" it up.".into()) },
        finish(),
    ]);
    let reply = reply.unwrap();
    assert_eq!(reply.message.text(), "I look it up.");
    assert_eq!(calls(&reply), [("c1", "read", "{}")]);
    assert!(matches!(reply.message.parts()[0], Part::Reasoning(_)));
    assert!(matches!(reply.message.parts()[2], Part::ToolCall(_)));
}

#[test]
fn pictures_sound_and_files_survive_a_stream() {
    let media = |source| Media {
        source,
        mime_type: Some("application/x-thing".into()),
        extra: Some(Json::from_text(r#"{"detail": "high"}"#)),
    };
    let parts = vec![
        Part::text("see"),
        Part::Image(media(MediaSource::Base64("aGk=".into()))),
        Part::Audio(media(MediaSource::Url("https://example.com/a.mp3".into()))),
        Part::File(media(MediaSource::Id("file-1".into()))),
        Part::Opaque { json: Json::from_text(r#"{"type": "new",  "x": 1}"#) },
        Part::ToolCall(ToolCallPart::new("c1", "look", "{ }")),
    ];
    let reply = Reply::new(Message::new(Role::Assistant, parts));
    let back = collect(reply.clone().into_events()).unwrap();
    assert_eq!(format!("{back:?}"), format!("{reply:?}"));
}

#[tokio::test]
async fn an_error_in_the_middle_is_the_error_of_the_whole() {
    let broken = Error::new(ErrorKind::Upstream { status: Some(529) }, "busy");
    let events = [Ok(delta(0, Some("a"), None, "{")), Err(broken), Ok(finish())];
    let error = ModelBody::stream(stream::iter(events)).collect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(529) });
}

#[tokio::test]
async fn a_whole_body_reads_as_the_events_of_its_reply() {
    let reply = Reply::new(Message::assistant("hello"));
    let stream = ModelBody::full(reply.clone()).into_stream();
    let events = stream.map(Result::unwrap).collect::<Vec<_>>().await;
    assert_eq!(events, reply.into_events());
}

#[test]
fn a_call_without_an_id_says_so() {
    assert!(CallId::default().is_empty());
    assert!(!CallId::from("c1").is_empty());
}
