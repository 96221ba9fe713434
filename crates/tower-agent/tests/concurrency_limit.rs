//! Never more calls at a time than allowed, counted to the end of their streams, and no permit is ever lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures_util::{StreamExt, future::join_all, stream};
use tokio::time::{Instant, sleep, timeout};
use tokio_test::{assert_pending, assert_ready_ok, task};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxToolService, Effect, Error, ErrorKind, ModelEvent, ModelRequest, ModelResponse, ToolCall,
    ToolOutput,
    concurrency_limit::{ConcurrencyLimit, ConcurrencyLimitLayer, WhenFull},
};

/// Counts how many calls run, and the most that ever did.
#[derive(Clone, Debug, Default)]
struct Gauge {
    now: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
}

struct Running(Gauge);

impl Gauge {
    fn enter(&self) -> Running {
        self.peak.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        Running(self.clone())
    }

    fn peak(&self) -> usize {
        self.peak.load(SeqCst)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, SeqCst);
    }
}

/// A tool that takes a second, `hang`s or fails at once, over a service that panics when it is called unready.
fn tool(limit: &ConcurrencyLimitLayer, gauge: &Gauge) -> BoxToolService {
    let gauge = gauge.clone();
    let leaf = service_fn(move |call: ToolCall| {
        let gauge = gauge.clone();
        async move {
            let _running = gauge.enter();
            match call.name.as_str() {
                "hang" => std::future::pending().await,
                "fail" => Err(Error::new(ErrorKind::Tool, "no")),
                _ => {
                    sleep(Duration::from_secs(1)).await;
                    Ok(ToolOutput::text("done"))
                }
            }
        }
    });
    BoxToolService::new(ServiceBuilder::new().layer(limit).concurrency_limit(100).service(leaf))
}

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, "")
}

#[tokio::test(start_paused = true)]
async fn ten_clones_together_never_run_more_than_allowed() {
    let (limit, gauge) = (ConcurrencyLimitLayer::new(3), Gauge::default());
    let tool = tool(&limit, &gauge);
    let start = Instant::now();
    let calls = (0..10).map(|_| tool.clone().oneshot(call("slow")));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(gauge.peak(), 3);
    assert_eq!(start.elapsed(), Duration::from_secs(4));
    assert_eq!(limit.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn services_of_one_layer_share_its_permits() {
    let (limit, gauge) = (ConcurrencyLimitLayer::new(1), Gauge::default());
    let tools = [tool(&limit, &gauge), tool(&limit, &gauge)];
    assert!(join_all(tools.map(|tool| tool.oneshot(call("slow")))).await.iter().all(Result::is_ok));
    assert_eq!(gauge.peak(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_gives_its_permit_back() {
    let (limit, gauge) = (ConcurrencyLimitLayer::new(1), Gauge::default());
    let tool = tool(&limit, &gauge);
    let given_up = timeout(Duration::from_millis(20), tool.clone().oneshot(call("hang"))).await;
    assert!(given_up.is_err());
    assert_eq!(tool.oneshot(call("slow")).await.unwrap().joined_text(), "done");
    assert_eq!((limit.in_flight(), gauge.peak()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_gives_its_permit_back() {
    let (limit, gauge) = (ConcurrencyLimitLayer::new(1), Gauge::default());
    let tool = tool(&limit, &gauge);
    for _ in 0..3 {
        let error = tool.clone().oneshot(call("fail")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tool);
    }
    assert_eq!(limit.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_instance_waits_for_its_own_call() {
    let (limit, gauge) = (ConcurrencyLimitLayer::new(1), Gauge::default());
    let mut service = task::spawn(tool(&limit, &gauge));
    assert_ready_ok!(service.enter(|cx, mut service| service.poll_ready(cx)));
    let first = service.call(call("slow"));
    assert_pending!(service.enter(|cx, mut service| service.poll_ready(cx)));
    first.await.unwrap();
    assert!(service.is_woken());
    assert_ready_ok!(service.enter(|cx, mut service| service.poll_ready(cx)));
}

fn model(
    limit: &ConcurrencyLimitLayer,
) -> impl Service<ModelRequest, Response = ModelResponse, Error = Error> + Clone {
    ServiceBuilder::new().layer(limit).service(service_fn(|request: ModelRequest| async move {
        let finish = Ok(ModelEvent::Finish { reason: "stop".into() });
        let fail = Err(Error::new(ErrorKind::Protocol, "broke off"));
        let events = match request.model.as_str() {
            "fails" => vec![Ok(ModelEvent::Start { id: None, model: None, extra: None }), fail],
            _ => vec![Ok(ModelEvent::Start { id: None, model: None, extra: None }), finish],
        };
        Ok::<_, Error>(ModelResponse::stream(stream::iter(events)))
    }))
}

#[tokio::test]
async fn a_stream_counts_until_it_ended_failed_or_was_dropped() {
    let limit = ConcurrencyLimitLayer::new(1);
    for (name, reads) in [("ends", 3), ("fails", 2), ("dropped", 1), ("unread", 0)] {
        let request = ModelRequest::new(name, vec![]);
        let mut stream = model(&limit).oneshot(request).await.unwrap().body.into_stream();
        for _ in 0..reads {
            assert_eq!(limit.in_flight(), 1, "{name}");
            let _ = stream.next().await;
        }
        if ["ends", "fails"].contains(&name) {
            assert_eq!(limit.in_flight(), 0, "{name}");
        }
        drop(stream);
        assert_eq!(limit.in_flight(), 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_name_and_the_limit_for_all_both_hold() {
    let limit = ConcurrencyLimitLayer::new(3).for_name("crawl", 2);
    let (crawls, all) = (Gauge::default(), Gauge::default());
    let (count_crawls, count_all) = (crawls.clone(), all.clone());
    let tool = ServiceBuilder::new().layer(&limit).service(service_fn(move |call: ToolCall| {
        let (crawls, all) = (count_crawls.clone(), count_all.clone());
        async move {
            let _all = all.enter();
            let _crawl = (call.name == "crawl").then(|| crawls.enter());
            sleep(Duration::from_secs(1)).await;
            Ok::<_, Error>(ToolOutput::text("done"))
        }
    }));
    let names = ["crawl", "crawl", "crawl", "crawl", "read", "read", "read", "read"];
    let calls = names.map(|name| tool.clone().oneshot(call(name)));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!((crawls.peak(), all.peak()), (2, 3));
    assert_eq!((limit.in_flight(), limit.in_flight_of("crawl")), (0, Some(0)));
    assert_eq!(limit.in_flight_of("read"), None);
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_their_name_do_not_keep_others_out() {
    let limit = ConcurrencyLimitLayer::new(2).for_name("hang", 1);
    let tool = tool(&limit, &Gauge::default());
    let mut stuck: Vec<_> =
        (0..5).map(|_| task::spawn(tool.clone().oneshot(call("hang")))).collect();
    for call in &mut stuck {
        assert_pending!(call.poll());
    }
    let other = timeout(Duration::from_secs(5), tool.clone().oneshot(call("read"))).await;
    assert!(other.unwrap().is_ok());
    drop(stuck);
    assert_eq!((limit.in_flight(), limit.in_flight_of("hang")), (0, Some(0)));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_name_keeps_no_readiness_inside() {
    let limit = ConcurrencyLimitLayer::new(2).for_name("slow", 1);
    let leaf = service_fn(|_: ToolCall| async {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, Error>(ToolOutput::text("done"))
    });
    let inner = ServiceBuilder::new().concurrency_limit(2).service(leaf);
    let mut tool = ConcurrencyLimit::new(inner, limit.clone());
    let first = tool.ready().await.unwrap().call(call("slow"));
    let second = tool.ready().await.unwrap().call(call("slow"));
    // `first` runs and `second` waits, so a permit of either limit must be free.
    let third = tool.ready().await.unwrap().call(call("read"));
    let results = join_all([first, second, third]).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(limit.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_limit_can_refuse_instead() {
    let limit = ConcurrencyLimitLayer::new(2).for_name("hang", 1).when_full(WhenFull::Reject);
    let tool = tool(&limit, &Gauge::default());
    let mut first = task::spawn(tool.clone().oneshot(call("hang")));
    assert_pending!(first.poll());

    let error = tool.clone().oneshot(call("hang")).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Overloaded, Effect::NotStarted));
    assert_eq!(
        error.to_string(),
        "concurrency_limit: as many calls of this name as may (1) run already"
    );
    assert!(error.model_text().contains("did not run"));

    let mut second = task::spawn(tool.clone().oneshot(call("slow")));
    assert_pending!(second.poll());
    let error = tool.clone().oneshot(call("slow")).await.unwrap_err();
    assert_eq!(error.to_string(), "concurrency_limit: as many calls as may (2) run already");

    drop((first, second));
    assert!(tool.oneshot(call("slow")).await.is_ok());
    assert_eq!(limit.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_readiness_reaches_the_caller() {
    let (mock, mut handle) = tower_test::mock::pair::<ToolCall, ToolOutput>();
    let mut service = ConcurrencyLimitLayer::new(1).layer(mock);
    handle.send_error(Error::new(ErrorKind::Unavailable, "gone"));
    let error = service.ready().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}
