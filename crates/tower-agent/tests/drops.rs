//! Whatever the order of layers, whatever a model does and whenever its caller gives up: nothing is lost and
//! nothing is counted twice.

use std::time::Duration;

use futures_util::{StreamExt, future::join_all, stream};
use proptest::prelude::*;
use tokio::time::{sleep, timeout};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    BoxModelService, Error, ErrorKind, Message, ModelEvent, ModelRequest, ModelResponse, Reply,
    catch_panic::CatchPanicLayer,
    concurrency_limit::{ConcurrencyLimitLayer, WhenFull},
    log::LogLayer,
    metrics::MetricsLayer,
    reload::ReloadLayer,
    timeout::{Limits, TimeoutLayer},
};

/// What a model does, and after how many milliseconds its caller gives up.
#[derive(Clone, Copy, Debug)]
struct Plan {
    head_ms: u64,
    head: Head,
    events: usize,
    event_ms: u64,
    end: End,
    patience_ms: u64,
}

#[derive(Clone, Copy, Debug)]
enum Head {
    Whole,
    Stream,
    Error,
    Panic,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Finish,
    Error,
    Panic,
    CutOff,
}

async fn act(plan: Plan) -> Result<ModelResponse, Error> {
    sleep(Duration::from_millis(plan.head_ms)).await;
    match plan.head {
        Head::Whole => Ok(ModelResponse::full(Reply::new(Message::assistant("hi")))),
        Head::Error => Err(Error::new(ErrorKind::Upstream { status: Some(500) }, "no")),
        Head::Panic => std::panic::resume_unwind(Box::new("boom")),
        Head::Stream => Ok(ModelResponse::stream(stream::iter(0..=plan.events).then(
            move |number| async move {
                sleep(Duration::from_millis(plan.event_ms)).await;
                if number < plan.events {
                    return Ok(ModelEvent::PartEnd { index: 0, extra: None });
                }
                match plan.end {
                    End::Finish => Ok(ModelEvent::Finish { reason: "stop".into() }),
                    End::Error => Err(Error::new(ErrorKind::Protocol, "gone")),
                    End::Panic => std::panic::resume_unwind(Box::new("boom")),
                    End::CutOff => Ok(ModelEvent::PartEnd { index: 0, extra: None }),
                }
            },
        ))),
    }
}

/// Builds a stack, outermost layer first, around a service that panics when it is called unready.
fn stack(
    order: &[usize],
    plans: Vec<Plan>,
    metrics: &MetricsLayer,
    limit: &ConcurrencyLimitLayer,
) -> BoxModelService {
    let leaf = service_fn(move |request: ModelRequest| {
        let number = request.sampling.seed.and_then(|seed| usize::try_from(seed).ok());
        let plan = number.and_then(|number| plans.get(number).copied());
        async move { act(plan.ok_or_else(|| Error::new(ErrorKind::NotFound, "no plan"))?).await }
    });
    let strict = tower::limit::ConcurrencyLimitLayer::new(100);
    let limits = Limits::new().head(Duration::from_millis(50)).idle(Duration::from_millis(20));
    order.iter().rev().fold(BoxModelService::new(strict.layer(leaf)), |inner, layer| match layer {
        0 => BoxModelService::new(metrics.layer(inner)),
        1 => BoxModelService::new(limit.layer(inner)),
        2 => BoxModelService::new(TimeoutLayer::limits(limits).layer(inner)),
        3 => BoxModelService::new(CatchPanicLayer::new().layer(inner)),
        4 => BoxModelService::new(LogLayer::new().layer(inner)),
        _ => BoxModelService::new(ReloadLayer::new(LogLayer::new()).layer(inner)),
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let head = prop_oneof![
        4 => Just(Head::Stream),
        1 => Just(Head::Whole),
        1 => Just(Head::Error),
        1 => Just(Head::Panic)
    ];
    let end = prop_oneof![Just(End::Finish), Just(End::Error), Just(End::Panic), Just(End::CutOff)];
    (0..80_u64, head, 0..4_usize, 0..30_u64, end, 0..150_u64).prop_map(
        |(head_ms, head, events, event_ms, end, patience_ms)| Plan {
            head_ms,
            head,
            events,
            event_ms,
            end,
            patience_ms,
        },
    )
}

/// Calls once and reads what comes, until it ends or the caller has no more patience.
async fn call_once(model: BoxModelService, number: usize, plan: Plan) {
    let name = if number.is_multiple_of(2) { "even" } else { "odd" };
    let mut request = ModelRequest::new(name, vec![]);
    request.sampling.seed = i64::try_from(number).ok();
    let read = async {
        let response = model.oneshot(request).await?;
        let items: Vec<_> = response.body.into_stream().collect().await;
        Ok::<_, Error>(items.len())
    };
    // Where no layer contains panics, they reach the caller.
    let read = futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(read));
    let _ = timeout(Duration::from_millis(plan.patience_ms), read).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_call_is_counted_once_and_every_permit_comes_back(
        order in Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle(),
        depth in 1..=6_usize,
        plans in proptest::collection::vec(plan(), 1..8),
        max in 1..4_usize,
        reject in any::<bool>(),
    ) {
        let when_full = if reject { WhenFull::Reject } else { WhenFull::Queue };
        let limit = ConcurrencyLimitLayer::new(max).for_name("odd", 1).when_full(when_full);
        let metrics = MetricsLayer::new();
        let order = &order[..depth];
        let model = stack(order, plans.clone(), &metrics, &limit);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let calls = plans.iter().enumerate();
            join_all(calls.map(|(number, plan)| call_once(model.clone(), number, *plan))).await;
        });
        prop_assert_eq!(limit.in_flight(), 0);
        prop_assert_eq!(limit.in_flight_of("odd"), Some(0));
        let series = metrics.registry().snapshot().series;
        prop_assert!(series.iter().all(|series| series.in_flight == 0));
        prop_assert!(series.iter().all(|series| series.calls() == series.duration.count()));
        let calls = series.iter().map(|series| series.calls()).sum::<u64>();
        let waits = order.iter().position(|layer| *layer == 1);
        let counts = order.iter().position(|layer| *layer == 0);
        match (waits, counts) {
            (_, None) => prop_assert_eq!(calls, 0),
            // A caller may lose its patience before there is a permit, and then there was no call.
            (Some(_), Some(_)) => prop_assert!(calls <= plans.len() as u64),
            (None, Some(_)) => prop_assert_eq!(calls, plans.len() as u64),
        }
    }
}
