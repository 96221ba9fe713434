//! Random stacks under random failures, time-outs and drops at every await.

use std::{
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    pin::pin,
    task::Poll,
    time::Duration,
};

use futures_util::{FutureExt as _, future::join_all};
use proptest::{collection, option, prelude::*};
use tokio::time::timeout;
use tower::{Layer as _, Service, ServiceExt as _};
use tower_agent::{Error, ErrorKind, MetricsLayer, ModelRequest, RunRequest, ToolCall};
use tower_agent_test::{Plan, Probe, Sample};

use super::table::{Inner, Layered, Stack};

const HOUR: Duration = Duration::from_secs(3600);

/// What happens to one call.
#[derive(Clone, Debug)]
struct Fate {
    /// What the service inside does.
    plan: Plan,
    /// After how many polls the caller drops it, if it does.
    drop_after: Option<usize>,
    /// How long the caller waits, if not for ever.
    patience: Option<Duration>,
}

impl Fate {
    fn panics_in_call(&self) -> bool {
        (0..4).any(|polls| self.plan == Plan::panic_in_call().pending(polls))
    }
}

/// What happens to the service inside besides.
#[derive(Clone, Debug)]
struct Setting {
    permits: Option<usize>,
    unready: u32,
    fail_ready_after: Option<usize>,
}

fn fate() -> impl Strategy<Value = Fate> {
    let plan = any::<u64>().prop_map(Plan::from_seed);
    let patience = option::weighted(0.3, (1..120u64).prop_map(Duration::from_secs));
    (plan, option::weighted(0.4, 0..24usize), patience)
        .prop_map(|(plan, drop_after, patience)| Fate { plan, drop_after, patience })
}

fn setting() -> impl Strategy<Value = Setting> {
    (option::of(1..3usize), 0..3u32, option::weighted(0.15, 0..3usize)).prop_map(
        |(permits, unready, fail_ready_after)| Setting { permits, unready, fail_ready_after },
    )
}

/// Each place takes its layer from a table of its own, so that no layer's state occurs twice in a stack.
fn stack<O: Layered>() -> impl Strategy<Value = Stack<O>> {
    let layer = any::<prop::sample::Index>().prop_map(|index| index.get(&O::table()).clone());
    collection::vec(layer, 0..7).prop_map(Stack)
}

/// What became of a call.
#[derive(Debug, PartialEq)]
enum Became {
    Answered,
    Error,
    Panic,
    Dropped,
    /// The caller lost patience, or nothing could happen any more.
    GaveUp,
}

async fn make_call<O: Sample>(mut service: Inner<O>, key: String, fate: &Fate) -> Became {
    let work = AssertUnwindSafe(whole_call::<O>(&mut service, &key)).catch_unwind();
    let patient = timeout(fate.patience.unwrap_or(HOUR), work);
    let drop_after = fate.drop_after.unwrap_or(usize::MAX);
    match poll_at_most(patient, drop_after).await {
        None => Became::Dropped,
        Some(Err(_)) => Became::GaveUp,
        Some(Ok(Err(_))) => Became::Panic,
        Some(Ok(Ok(Err(_)))) => Became::Error,
        Some(Ok(Ok(Ok(())))) => Became::Answered,
    }
}

async fn whole_call<O: Sample>(service: &mut Inner<O>, key: &str) -> Result<(), Error> {
    let output = service.ready().await?.call(O::sample(key)).await?;
    let Some(steps) = O::into_steps(output) else { return Ok(()) };
    let drained = steps.drain().await;
    assert!(drained.completions <= 1, "{drained:?}");
    drained.error.map_or(Ok(()), Err)
}

/// Polls a future at most that often, and drops it if it has not ended by then.
pub(crate) async fn poll_at_most<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

async fn settle() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

async fn tell<O: Layered>(stack: Stack<O>, setting: Setting, fates: Vec<Fate>) {
    let mut probe = Probe::<O>::builder().unready(setting.unready);
    if let Some(permits) = setting.permits {
        probe = probe.permits(permits);
    }
    if let Some(calls) = setting.fail_ready_after {
        probe = probe.fail_ready_after(calls, ErrorKind::Unavailable);
    }
    for (number, fate) in fates.iter().enumerate() {
        probe = probe.plan_for(format!("c{number}"), fate.plan.clone());
    }
    let (probe, handle) = probe.build();
    let metrics = MetricsLayer::new();
    let service = stack.layer(probe);
    let outermost = Stack(Vec::new()).layer(metrics.layer(service));

    let calls = fates
        .iter()
        .enumerate()
        .map(|(number, fate)| make_call::<O>(outermost.clone(), format!("c{number}"), fate));
    let became = join_all(calls).await;
    let again = make_call::<O>(outermost, "again".to_owned(), &PATIENT).await;
    settle().await;
    handle.verify_idle();

    // A layer that is dropped with its stack takes the instances inside along.
    assert_eq!(handle.counts().instances, 0, "instances of the service are left");
    if !stack.has("tower's retry") {
        for (key, outputs) in handle.outputs() {
            assert_eq!(outputs, 1, "call {key} had {outputs} outputs");
        }
        let mut keys: Vec<_> = handle.requests().iter().map(Sample::key).collect();
        let calls = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), calls, "something called again");
    }
    // A buffer of tower that was ready when its worker panicked takes one more call, which nobody answers.
    let buffer = stack.has("tower's buffer") || stack.has("tower's buffer and rate limit");
    let worker_died = buffer && fates.iter().any(Fate::panics_in_call);
    assert!(worker_died || again != Became::GaveUp, "the stack is stuck after {became:?}");
    assert_ne!(again, Became::Panic, "the stack is broken after {became:?}");

    // Every call that began is over, and counted as one thing.
    let counted: u64 = metrics
        .registry()
        .snapshot()
        .series
        .iter()
        .map(|series| {
            assert_eq!(series.in_flight, 0, "{series:?}");
            series.calls()
        })
        .sum();
    let made = u64::try_from(fates.len()).unwrap() + 1;
    let answered = became.iter().filter(|became| **became == Became::Answered).count();
    assert!(counted <= made, "{counted} calls were counted of {made}");
    assert!(
        counted >= u64::try_from(answered).unwrap(),
        "{counted} calls were counted: {became:?}"
    );
}

const PATIENT: Fate = Fate { plan: Plan::ok(), drop_after: None, patience: None };

fn run(story: impl Future<Output = ()>) {
    tower_agent_tests::set_up();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(story);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_stacks_around_a_tool_keep_the_contract(
        stack in stack::<ToolCall>(), setting in setting(), fates in collection::vec(fate(), 1..5),
    ) {
        run(async { tell(stack, setting, fates).await });
    }

    #[test]
    fn random_stacks_around_a_model_keep_the_contract(
        stack in stack::<ModelRequest>(), setting in setting(), fates in collection::vec(fate(), 1..5),
    ) {
        run(async { tell(stack, setting, fates).await });
    }

    #[test]
    fn random_stacks_around_an_agent_keep_the_contract(
        stack in stack::<RunRequest>(), setting in setting(), fates in collection::vec(fate(), 1..5),
    ) {
        run(async { tell(stack, setting, fates).await });
    }
}
