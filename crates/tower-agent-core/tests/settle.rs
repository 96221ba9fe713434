//! Duties at the end of a response are carried out exactly once, with the usage seen so far.
#![cfg(test)]

use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;
use tower_agent_core::{
    Class, End, EndReason, Error, ErrorKind, FinishReason, Message, ModelEvent, ModelResponse,
    OnEnd, Outcome, Output, PartDelta, Reply, RunEvent, RunFinish, RunResponse, ToolOutput, Usage,
};

type Ends = Arc<Mutex<Vec<End>>>;

fn watched<O: Output>(output: O, ends: &Ends) -> O {
    let ends = Arc::clone(ends);
    output.on_end(move |end| ends.lock().unwrap().push(end))
}

fn ends(ends: &Ends) -> Vec<(EndReason, Option<u64>)> {
    let ends = ends.lock().unwrap();
    ends.iter().map(|end| (end.reason.clone(), end.usage.map(|usage| usage.output))).collect()
}

fn text() -> Result<ModelEvent, Error> {
    Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text("x".into()) })
}

fn used(output: u64) -> Result<ModelEvent, Error> {
    Ok(ModelEvent::Usage { usage: Usage::new(1, output) })
}

fn finish() -> Result<ModelEvent, Error> {
    Ok(ModelEvent::Finish { reason: FinishReason::Stop })
}

fn broken() -> Result<ModelEvent, Error> {
    Err(Error::new(ErrorKind::Timeout, "too slow"))
}

const COMPLETE: EndReason = EndReason::Complete(Outcome::Success);

/// Reads `steps` events, drops the rest, and tells how it ended.
async fn read(
    events: Vec<Result<ModelEvent, Error>>,
    steps: usize,
) -> Vec<(EndReason, Option<u64>)> {
    let seen = Ends::default();
    let response = watched(ModelResponse::stream(stream::iter(events)), &seen);
    let mut stream = response.body.into_stream();
    for _ in 0..steps {
        let _ = stream.next().await;
    }
    drop(stream);
    ends(&seen)
}

#[tokio::test]
async fn a_stream_that_is_read_to_its_end_is_complete() {
    let events = || vec![text(), used(7), finish()];
    for steps in [3, 4, 9] {
        assert_eq!(read(events(), steps).await, [(COMPLETE, Some(7))]);
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_settles_with_the_usage_so_far() {
    let events = || vec![text(), used(3), text(), used(8), finish()];
    assert_eq!(read(events(), 0).await, [(EndReason::Dropped, None)]);
    assert_eq!(read(events(), 3).await, [(EndReason::Dropped, Some(3))]);
    assert_eq!(read(events(), 4).await, [(EndReason::Dropped, Some(8))]);
}

#[tokio::test]
async fn a_stream_that_fails_settles_with_the_kind_and_the_usage_so_far() {
    let events = || vec![text(), used(3), broken(), used(9), finish()];
    for steps in [3, 4, 9] {
        let failed = EndReason::Failed(ErrorKind::Timeout);
        assert_eq!(read(events(), steps).await, [(failed, Some(3))]);
    }
}

#[tokio::test]
async fn a_stream_that_just_stops_was_cut_off() {
    assert_eq!(read(vec![text(), used(3)], 9).await, [(EndReason::CutOff, Some(3))]);
    assert_eq!(read(vec![], 1).await, [(EndReason::CutOff, None)]);
}

#[tokio::test]
async fn a_drop_after_the_finish_is_no_loss_and_late_usage_counts() {
    let events = || vec![text(), finish(), used(5)];
    assert_eq!(read(events(), 2).await, [(COMPLETE, None)]);
    assert_eq!(read(events(), 3).await, [(COMPLETE, Some(5))]);
    assert_eq!(read(events(), 4).await, [(COMPLETE, Some(5))]);
}

#[tokio::test]
async fn two_duties_one_around_the_other_are_each_carried_out_once() {
    for (events, reason) in [
        (vec![text(), finish()], COMPLETE),
        (vec![text(), broken()], EndReason::Failed(ErrorKind::Timeout)),
        (vec![text()], EndReason::CutOff),
    ] {
        let (inner, outer) = (Ends::default(), Ends::default());
        let response = ModelResponse::stream(stream::iter(events));
        let response = watched(watched(response, &inner), &outer);
        let _ = response.body.into_stream().collect::<Vec<_>>().await;
        assert_eq!(ends(&inner), [(reason.clone(), None)]);
        assert_eq!(ends(&outer), [(reason, None)]);
    }

    let (inner, outer) = (Ends::default(), Ends::default());
    let response = ModelResponse::stream(stream::iter([text(), finish()]));
    drop(watched(watched(response, &inner), &outer));
    assert_eq!(ends(&inner), [(EndReason::Dropped, None)]);
    assert_eq!(ends(&outer), [(EndReason::Dropped, None)]);
}

#[test]
fn a_whole_answer_settles_at_once_and_with_its_outcome() {
    let seen = Ends::default();
    let reply = Reply::new(Message::assistant("hi")).with_usage(Usage::new(1, 2));
    drop(watched(ModelResponse::full(reply), &seen));
    assert_eq!(ends(&seen), [(COMPLETE, Some(2))]);

    let seen = Ends::default();
    let failure = ToolOutput::failure("disk full");
    let outcome = failure.outcome.clone();
    drop(watched(failure, &seen));
    assert_eq!(ends(&seen), [(EndReason::Complete(outcome), None)]);
}

#[tokio::test]
async fn a_run_settles_by_its_own_last_step() {
    let usage = Usage::new(1, 6);
    let finished = || RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage };
    let started = || RunEvent::TurnStarted { turn: 1 };
    for (events, steps, reason) in [
        (vec![started(), finished()], 3, (COMPLETE, Some(6))),
        (vec![started(), finished()], 1, (EndReason::Dropped, None)),
        (vec![started()], 2, (EndReason::CutOff, None)),
    ] {
        let seen = Ends::default();
        let response = watched(RunResponse::new(stream::iter(events.into_iter().map(Ok))), &seen);
        let mut stream = response.body.into_stream();
        for _ in 0..steps {
            let _ = stream.next().await;
        }
        drop(stream);
        assert_eq!(ends(&seen), [reason]);
    }
}

#[test]
fn a_duty_that_was_handed_on_is_not_carried_out_here() {
    let seen = Ends::default();
    let record = {
        let seen = Arc::clone(&seen);
        move |end| seen.lock().unwrap().push(end)
    };
    let mut guard = OnEnd::new(record);
    guard.saw_usage(Usage::new(0, 4));
    let duty = guard.disarm().unwrap();
    drop(guard);
    assert!(seen.lock().unwrap().is_empty());

    let mut next = OnEnd::new(duty);
    next.settle(EndReason::CutOff);
    assert!(next.is_settled());
    next.settle(COMPLETE);
    drop(next);
    assert_eq!(ends(&seen), [(EndReason::CutOff, None)]);
}

#[test]
fn every_end_has_one_class() {
    let class = |reason| Class::from(&End::new(reason));
    assert_eq!(class(COMPLETE), Class::Ok);
    assert_eq!(class(EndReason::CutOff), Class::Failed);
    assert_eq!(class(EndReason::Dropped), Class::Cancelled);
    assert_eq!(class(EndReason::Failed(ErrorKind::Timeout)), Class::TimedOut);
    assert_eq!(class(EndReason::Failed(ErrorKind::Cancelled)), Class::Cancelled);
    assert_eq!(class(EndReason::Failed(ErrorKind::Protocol)), Class::Failed);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Text,
    Usage(u64),
    Finish,
    Fail,
}

fn expected(steps: &[Step], read: usize) -> (EndReason, Option<u64>) {
    let (mut usage, mut complete) = (None, false);
    for step in steps.iter().take(read) {
        match step {
            Step::Text => {}
            Step::Usage(used) => usage = Some(*used),
            Step::Finish => complete = true,
            Step::Fail => return (EndReason::Failed(ErrorKind::Timeout), usage),
        }
    }
    match (complete, read > steps.len()) {
        (true, _) => (COMPLETE, usage),
        (false, true) => (EndReason::CutOff, usage),
        (false, false) => (EndReason::Dropped, usage),
    }
}

proptest! {
    #[test]
    fn any_stream_read_any_far_settles_once_and_rightly(
        steps in proptest::collection::vec(
            prop_oneof![
                3 => Just(Step::Text),
                2 => any::<u64>().prop_map(Step::Usage),
                1 => Just(Step::Finish),
                1 => Just(Step::Fail),
            ],
            0..10,
        ),
        far in 0usize..14,
    ) {
        let events = steps.iter().map(|step| match step {
            Step::Text => text(),
            Step::Usage(used_so_far) => used(*used_so_far),
            Step::Finish => finish(),
            Step::Fail => broken(),
        });
        let seen = futures_util::FutureExt::now_or_never(read(events.collect(), far)).unwrap();
        prop_assert_eq!(seen, [expected(&steps, far)]);
    }
}
