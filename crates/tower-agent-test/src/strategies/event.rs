use std::collections::VecDeque;

use proptest::{collection, option, prelude::*};
use tower_agent_core::{
    FinishReason, ModelEvent, PartDelta, PartStart, RunEvent, RunFinish, Usage,
};

use super::{
    json::{extra, json, text},
    message::{call_id, message, part},
    response::tool_record,
};

/// Any usage.
pub fn usage() -> BoxedStrategy<Usage> {
    (any::<u64>(), any::<u64>(), 0u64..9, 0u64..9, 0u64..9)
        .prop_map(|(input, output, cached_read, cached_write, reasoning)| Usage {
            cached_read,
            cached_write,
            reasoning,
            ..Usage::new(input, output)
        })
        .boxed()
}

/// Why a model stopped.
pub fn finish_reason() -> BoxedStrategy<FinishReason> {
    prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::Length),
        Just(FinishReason::ToolCalls),
        Just(FinishReason::ContentFilter),
        Just(FinishReason::Error),
        Just(FinishReason::Unspecified),
        text().prop_map(|reason| FinishReason::from(reason.as_str())),
    ]
    .boxed()
}

fn part_start() -> BoxedStrategy<PartStart> {
    prop_oneof![
        Just(PartStart::Text),
        Just(PartStart::Reasoning),
        (option::of(call_id()), option::of(text()))
            .prop_map(|(id, name)| PartStart::ToolCall { id, name }),
        part().prop_map(PartStart::Whole),
    ]
    .boxed()
}

fn part_delta() -> BoxedStrategy<PartDelta> {
    prop_oneof![
        text().prop_map(PartDelta::Text),
        text().prop_map(PartDelta::Reasoning),
        (option::of(call_id()), option::of(text()), text())
            .prop_map(|(id, name, arguments)| PartDelta::ToolCall { id, name, arguments }),
    ]
    .boxed()
}

/// Any event of a reply that comes in pieces.
pub fn model_event() -> BoxedStrategy<ModelEvent> {
    let index = 0u32..5;
    prop_oneof![
        (option::of(text()), option::of(text()), extra())
            .prop_map(|(id, model, extra)| ModelEvent::Start { id, model, extra }),
        (index.clone(), part_start())
            .prop_map(|(index, part)| ModelEvent::PartStart { index, part }),
        (index.clone(), part_delta())
            .prop_map(|(index, delta)| ModelEvent::PartDelta { index, delta }),
        (index.clone(), json()).prop_map(|(index, extra)| ModelEvent::PartExtra { index, extra }),
        (index, extra()).prop_map(|(index, extra)| ModelEvent::PartEnd { index, extra }),
        json().prop_map(|extra| ModelEvent::MessageExtra { extra }),
        usage().prop_map(|usage| ModelEvent::Usage { usage }),
        finish_reason().prop_map(|reason| ModelEvent::Finish { reason }),
        json().prop_map(|json| ModelEvent::Other { json }),
    ]
    .boxed()
}

fn run_finish() -> BoxedStrategy<RunFinish> {
    proptest::sample::select(vec![
        RunFinish::Answered,
        RunFinish::TurnLimit,
        RunFinish::Length,
        RunFinish::ContentFilter,
        RunFinish::Denied,
        RunFinish::Suspended,
        RunFinish::Failed,
    ])
    .boxed()
}

/// Any step of a run.
pub fn run_event() -> BoxedStrategy<RunEvent> {
    let turn = || any::<u32>();
    prop_oneof![
        (text(), text()).prop_map(|(run, agent)| RunEvent::Started { run, agent }),
        turn().prop_map(|turn| RunEvent::TurnStarted { turn }),
        (turn(), model_event()).prop_map(|(turn, event)| RunEvent::Model { turn, event }),
        (turn(), message()).prop_map(|(turn, message)| RunEvent::Message { turn, message }),
        (turn(), finish_reason(), option::of(usage()), usage()).prop_map(
            |(turn, finish, usage, total)| RunEvent::TurnFinished { turn, finish, usage, total }
        ),
        (turn(), call_id(), text(), json()).prop_map(|(turn, id, name, arguments)| {
            RunEvent::ToolStarted { turn, id, name, arguments }
        }),
        tool_record().prop_map(|record| RunEvent::ToolFinished(Box::new(record))),
        (run_finish(), any::<u32>(), usage())
            .prop_map(|(finish, turns, usage)| RunEvent::Finished { finish, turns, usage }),
    ]
    .boxed()
}

/// The same reply in other pieces: every text is cut anywhere between two characters, and the parts take turns
/// where they did not before.
///
/// The first event stays the first, and what comes after the parts stays after them, so the events collect
/// to the same reply.
pub fn rechunked(events: Vec<ModelEvent>) -> BoxedStrategy<Vec<ModelEvent>> {
    collection::vec(any::<u8>(), 64)
        .prop_map(move |choices| {
            let mut choices = choices.into_iter().cycle();
            let mut choose = move || usize::from(choices.next().unwrap_or_default());
            interleave(&events, &mut choose)
        })
        .boxed()
}

fn index_of(event: &ModelEvent) -> Option<u32> {
    match event {
        ModelEvent::PartStart { index, .. }
        | ModelEvent::PartDelta { index, .. }
        | ModelEvent::PartExtra { index, .. }
        | ModelEvent::PartEnd { index, .. } => Some(*index),
        _ => None,
    }
}

fn interleave(events: &[ModelEvent], choose: &mut impl FnMut() -> usize) -> Vec<ModelEvent> {
    let first = events.iter().position(|event| index_of(event).is_some()).unwrap_or(events.len());
    let last =
        events.iter().rposition(|event| index_of(event).is_some()).map_or(first, |at| at + 1);
    let mut parts: Vec<(u32, VecDeque<ModelEvent>)> = Vec::new();
    for event in events.iter().skip(first).take(last - first) {
        let index = index_of(event).unwrap_or(u32::MAX);
        let pieces = cut(event.clone(), choose);
        match parts.iter_mut().find(|(known, _)| *known == index) {
            Some((_, queue)) => queue.extend(pieces),
            None => parts.push((index, pieces.into())),
        }
    }
    let mut out: Vec<_> = events.iter().take(first).cloned().collect();
    while !parts.is_empty() {
        let at = choose() % parts.len();
        let next = parts.get_mut(at).and_then(|(_, queue)| queue.pop_front());
        match next {
            Some(event) => out.push(event),
            None => drop(parts.remove(at)),
        }
    }
    out.extend(events.iter().skip(last).cloned());
    out
}

/// Cuts the text of a delta into pieces of chosen lengths; other events stay whole.
fn cut(event: ModelEvent, choose: &mut impl FnMut() -> usize) -> Vec<ModelEvent> {
    let ModelEvent::PartDelta { index, delta } = event else { return vec![event] };
    let mut rest: VecDeque<char> = delta.text().chars().collect();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        // A length of 0 makes an empty piece, which real streams have; the one after it is never empty.
        for length in [choose() % 4, 1] {
            let text = rest.drain(..length.min(rest.len())).collect::<String>();
            let mut piece = delta.clone();
            *piece.text_mut() = text.into();
            pieces.push(ModelEvent::PartDelta { index, delta: piece });
        }
    }
    pieces
}
