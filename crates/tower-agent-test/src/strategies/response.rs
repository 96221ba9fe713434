use std::time::Duration;

use proptest::{collection, option, prelude::*};
use tower_agent_core::{
    Denial, Effect, ErrorKind, Failure, Mark, Message, Origin, Outcome, Provenance, Reply, Role,
    RunEvent, Str, Suspension, ToolOutput, ToolRecord, Transcript,
};

use super::{
    event::{finish_reason, run_event, usage},
    json::{extra, json, text},
    message::{call_id, content, part},
};

fn error_kind() -> BoxedStrategy<ErrorKind> {
    let wait = option::of((0..u64::from(u32::MAX)).prop_map(Duration::from_millis));
    prop_oneof![
        Just(ErrorKind::Timeout),
        Just(ErrorKind::Cancelled),
        Just(ErrorKind::InvalidArguments),
        Just(ErrorKind::Tool),
        Just(ErrorKind::Panic),
        wait.prop_map(|retry_after| ErrorKind::RateLimited { retry_after }),
        option::of(any::<u16>()).prop_map(|status| ErrorKind::Upstream { status }),
    ]
    .boxed()
}

fn name() -> BoxedStrategy<String> {
    text().prop_map(String::from).boxed()
}

fn failure() -> BoxedStrategy<Failure> {
    let effect =
        prop_oneof![Just(Effect::NotStarted), Just(Effect::Unknown), Just(Effect::Completed)];
    (error_kind(), effect, option::of(name()))
        .prop_map(|(kind, effect, layer)| {
            let mut failure = Failure::new(kind, effect);
            failure.layer = layer.map(Into::into);
            failure
        })
        .boxed()
}

/// A call that waits.
pub fn suspension() -> BoxedStrategy<Suspension> {
    (name(), text(), text(), option::of(json()))
        .prop_map(|(layer, id, reason, request)| {
            let suspension = Suspension::new(layer, id, reason);
            match request {
                Some(request) => suspension.request(request),
                None => suspension,
            }
        })
        .boxed()
}

/// Any outcome.
pub fn outcome() -> BoxedStrategy<Outcome> {
    let denial = (text(), name(), name())
        .prop_map(|(message, layer, code)| Denial::new(message).by(layer).code(code));
    prop_oneof![
        3 => Just(Outcome::Success),
        1 => failure().prop_map(Outcome::from),
        1 => denial.prop_map(Outcome::from),
        1 => suspension().prop_map(Outcome::from),
    ]
    .boxed()
}

fn mark() -> BoxedStrategy<Mark> {
    let took = option::of(any::<u32>().prop_map(|nanos| Duration::from_nanos(nanos.into())));
    (name(), name(), option::of(text()), took)
        .prop_map(|(layer, action, detail, took)| {
            let mut mark = Mark::new(layer, action);
            (mark.detail, mark.took) = (detail, took);
            mark
        })
        .boxed()
}

/// Where a response comes from.
pub fn provenance() -> BoxedStrategy<Provenance> {
    let origin = prop_oneof![
        Just(Origin::Executed),
        Just(Origin::Cached),
        Just(Origin::Emulated),
        Just(Origin::Replayed),
        Just(Origin::Denied),
    ];
    (origin, option::of(name()), any::<u32>(), collection::vec(mark(), 0..3))
        .prop_map(|(origin, by, attempts, marks)| {
            let mut provenance = Provenance::default();
            provenance.origin = origin;
            provenance.by = by.map(Into::into);
            provenance.attempts = attempts;
            provenance.marks = marks;
            provenance
        })
        .boxed()
}

/// Any output of a tool.
pub fn tool_output() -> BoxedStrategy<ToolOutput> {
    let blocks = collection::vec(content(), 0..4);
    (blocks, option::of(json()), outcome(), extra(), extra(), provenance())
        .prop_map(|(content, structured, outcome, meta, extra, provenance)| {
            let mut output = ToolOutput::default();
            output.content = content;
            output.structured = structured;
            output.outcome = outcome;
            output.meta = meta;
            output.extra = extra;
            output.provenance = provenance;
            output
        })
        .boxed()
}

/// A finished call of a run.
pub fn tool_record() -> BoxedStrategy<ToolRecord> {
    let took = any::<u32>().prop_map(|nanos| Duration::from_nanos(nanos.into()));
    (any::<u32>(), call_id(), text(), json(), tool_output(), took)
        .prop_map(|(turn, id, name, arguments, output, took)| ToolRecord {
            turn,
            id,
            name,
            arguments,
            output,
            took,
        })
        .boxed()
}

/// A whole reply of a model.
pub fn reply() -> BoxedStrategy<Reply> {
    let message = (collection::vec(part(), 0..5), extra())
        .prop_map(|(parts, extra)| Message::new(Role::Assistant, parts).with_extra(extra));
    let ids = (option::of(text()), option::of(text()));
    (ids, message, finish_reason(), option::of(usage()), extra(), collection::vec(json(), 0..2))
        .prop_map(|((id, model), message, finish, usage, extra, other)| {
            let mut reply = Reply::new(message);
            (reply.id, reply.model, reply.finish) = (id, model, finish);
            (reply.usage, reply.extra, reply.other) = (usage, extra, other);
            reply
        })
        .boxed()
}

/// What a run did, from its events.
pub fn transcript() -> BoxedStrategy<Transcript> {
    (collection::vec(run_event(), 0..6), text())
        .prop_map(|(events, agent): (Vec<RunEvent>, Str)| {
            let mut transcript = Transcript::default();
            transcript.agent = agent;
            events.iter().for_each(|event| transcript.push(event));
            transcript
        })
        .boxed()
}
