use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use futures_core::Stream as _;
use futures_util::future::join3;
use tower_agent_core::{Error, ErrorKind};
use tower_layer::Layer;
use tower_service::Service;

use super::drive::{Seen, answer, call, give_way, poll_times, ready, start, watch};
use crate::{Counts, Drained, Plan, Probe, ProbeBuilder, ProbeHandle, Sample, panics::panic_with};

/// How many polls a story tries before it is sure to have seen every await.
const ENOUGH: usize = 32;

/// What the layer under test makes of the probe.
pub(super) trait Stack<O: Sample>:
    Service<O, Response = O::Output, Error: Into<Error>> + Clone
{
}

impl<O, S> Stack<O> for S
where
    O: Sample,
    S: Service<O, Response = O::Output, Error: Into<Error>> + Clone,
{
}

/// One story: what happens is told by `act`, which owns the service; afterwards everything must be over.
async fn story<O, L>(
    name: &str,
    layer: &L,
    probe: ProbeBuilder<O>,
    act: impl AsyncFnOnce(L::Service, &ProbeHandle<O>),
) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let (probe, handle) = probe.build();
    act(layer.layer(probe), &handle).await;
    // A worker task that a layer has, such as that of tower's buffer, sees only now that it can stop.
    for _ in 0..8 {
        give_way().await;
    }
    handle.check_idle(name);
    handle.counts()
}

/// Calls once more: whatever happened before must not have broken the service for good.
async fn still_works<O: Sample>(service: &mut impl Stack<O>, name: &str) {
    match call(service, "again", name).await {
        Seen::Value(_) | Seen::Error => {}
        Seen::Stuck => panic_with(&format!("{name}: the next call never ends")),
        Seen::Panic => panic_with(&format!("{name}: the next call panics")),
    }
}

fn one_at_a_time<O: Sample>(plan: &Plan) -> ProbeBuilder<O> {
    Probe::builder().plan_for("c1", plan.clone()).permits(1)
}

pub(super) async fn readiness<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let mut counts = Counts::default();
    let name = "ready, ready again, then called three times in a row";
    counts += story(name, layer, Probe::builder().unready(1), async |mut service, _| {
        for key in ["c1", "c2", "c3"] {
            let _ = ready(&mut service, name).await;
            let _ = call(&mut service, key, name).await;
        }
    })
    .await;

    let name = "not ready at first";
    counts += story(name, layer, Probe::builder().unready(3).permits(1), async |mut service, _| {
        still_works(&mut service, name).await;
        still_works(&mut service, name).await;
    })
    .await;

    let name = "ready, but dropped before the call";
    counts += story(name, layer, Probe::builder(), async |mut service, _| {
        let _ = ready(&mut service, name).await;
    })
    .await;

    for after in [0, 1] {
        let name = format!("poll_ready fails after {after} calls");
        let probe = Probe::builder().fail_ready_after(after, ErrorKind::Unavailable);
        counts += story(&name, layer, probe, async |mut service, handle| {
            for _ in 0..=after {
                still_works(&mut service, &name).await;
            }
            let calls = handle.counts().calls;
            assert!(calls <= after, "{name}: {calls} calls reached a service that was not ready");
        })
        .await;
    }
    counts
}

pub(super) async fn clones<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let mut counts = Counts::default();
    let name = "made ready, cloned, then the original is called first";
    counts += story(name, layer, Probe::builder(), async |mut service, _| {
        if ready(&mut service, name).await.is_ok() {
            let mut clone = service.clone();
            if let Seen::Value(future) = start(&mut service, "original") {
                watch(future).await;
            }
            still_works(&mut clone, name).await;
        }
    })
    .await;

    let name = "made ready, cloned, then the clone is called first";
    counts += story(name, layer, Probe::builder(), async |mut service, _| {
        if ready(&mut service, name).await.is_ok() {
            still_works(&mut service.clone(), name).await;
            if let Seen::Value(future) = start(&mut service, "original") {
                watch(future).await;
            }
        }
    })
    .await;

    let name = "made ready, cloned, and dropped: the clone gets the permit";
    counts += story(name, layer, Probe::builder().permits(1), async |mut service, _| {
        let _ = ready(&mut service, name).await;
        let mut clone = service.clone();
        drop(service);
        still_works(&mut clone, name).await;
    })
    .await;

    let name = "three clones are called at once, the inner service takes one at a time";
    let probe = Probe::builder().permits(1).otherwise(Plan::ok().pending(2));
    counts += story(name, layer, probe, async |service, _| {
        // Each is dropped after its call: a layer that refuses leaves the service inside ready, with its permit.
        let once = async |mut service| still_works(&mut service, name).await;
        join3(once(service.clone()), once(service.clone()), once(service)).await;
    })
    .await;
    counts
}

pub(super) async fn answers<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let plans = [
        Plan::ok().pending(3),
        Plan::failed(),
        Plan::error(ErrorKind::Timeout),
        Plan::error(ErrorKind::Upstream { status: Some(503) }).pending(1),
        Plan::error(ErrorKind::RateLimited { retry_after: None }),
        Plan::panic(),
        Plan::panic_in_call(),
        Plan::hang(),
    ];
    let mut counts = Counts::default();
    for plan in plans {
        let name = format!("a call that goes {plan:?}, and another one");
        counts += story(&name, layer, one_at_a_time(&plan), async |mut service, _| {
            let _ = call(&mut service, "c1", &name).await;
            still_works(&mut service, &name).await;
        })
        .await;
    }
    counts
}

pub(super) async fn dropped_calls<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let plans = [
        Plan::ok().pending(3),
        Plan::stream(1).pending(1),
        Plan::error(ErrorKind::Upstream { status: None }).pending(2),
        Plan::hang(),
    ];
    let mut counts = Counts::default();
    for plan in plans {
        let mut polls = 0;
        let mut answered = false;
        while !answered && polls < ENOUGH {
            let name = format!("a call that goes {plan:?}, dropped after {polls} polls");
            let probe = one_at_a_time(&plan).unready(1);
            counts += story(&name, layer, probe, async |mut service, _| {
                answered = ready(&mut service, &name).await.is_err();
                if let Seen::Value(future) = start_if(!answered, &mut service) {
                    answered = matches!(poll_guarded(future, polls).await, Polled::Answered);
                }
                still_works(&mut service, &name).await;
            })
            .await;
            polls += 1;
        }
    }
    counts
}

fn start_if<O: Sample, S: Stack<O>>(is_ready: bool, service: &mut S) -> Seen<S::Future> {
    if is_ready { start(service, "c1") } else { Seen::Error }
}

enum Polled {
    Answered,
    Dropped,
}

/// Polls that often and drops; a panic on the way is an answer of its own.
async fn poll_guarded<T>(future: impl Future<Output = T>, polls: usize) -> Polled {
    match watch(poll_times(future, polls)).await.value() {
        Some(None) => Polled::Dropped,
        _ => Polled::Answered,
    }
}

pub(super) async fn streams<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let plans = [
        Plan::stream(3),
        Plan::stream(0).pending(1),
        Plan::stream(2).cut_off(),
        Plan::stream(2).breaks(ErrorKind::Upstream { status: None }).pending(1),
        Plan::stream(2).panics(),
        Plan::stream(2).stalls(),
    ];
    let mut counts = Counts::default();
    for plan in plans {
        let name = format!("a stream that goes {plan:?}");
        counts += story(&name, layer, one_at_a_time(&plan), async |mut service, handle| {
            let seen = call(&mut service, "c1", &name).await;
            if let Some(drained) = seen.value().filter(|_| handle.counts().streams == 1) {
                check_end(&plan, &drained, &name);
            }
            still_works(&mut service, &name).await;
        })
        .await;
    }
    counts
}

fn check_end(plan: &Plan, drained: &Drained, name: &str) {
    let completions = drained.completions;
    assert!(completions <= 1, "{name}: it was said to be complete {completions} times");
    assert!(
        plan.completes() || completions == 0,
        "{name}: half an answer came out as a complete one"
    );
}

pub(super) async fn dropped_streams<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>, Service: Stack<O>>,
{
    let plan = Plan::stream(3).pending(1);
    let mut counts = Counts::default();
    let mut over = false;
    for polls in 0..ENOUGH {
        let name = format!("a stream that is dropped after {polls} polls");
        counts += story(&name, layer, one_at_a_time(&plan), async |mut service, _| {
            let output = answer(&mut service, "c1", &name).await;
            if let Some(output) = output.value() {
                over = drop_after::<O>(output, polls).await;
            }
            still_works(&mut service, &name).await;
        })
        .await;
        if over {
            break;
        }
    }
    counts
}

/// Polls a stream that often and drops it; tells whether it had come to its end.
async fn drop_after<O: Sample>(output: O::Output, polls: usize) -> bool {
    let Some(steps) = O::into_steps(output) else { return true };
    let mut steps = pin!(steps);
    for _ in 0..polls {
        let step = poll_fn(|cx| Poll::Ready(steps.as_mut().poll_next(cx))).await;
        if matches!(step, Poll::Ready(None | Some(Err(_)))) {
            return true;
        }
        give_way().await;
    }
    false
}
