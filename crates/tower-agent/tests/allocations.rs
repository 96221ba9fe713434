//! What a layer adds to a whole answer costs no allocation.

use std::{convert::Infallible, time::Duration};

use allocation_counter::measure;
use futures_util::FutureExt;
use tower::{Service, ServiceBuilder, service_fn};
use tower_agent::{
    AllowListLayer, BoxToolService, DenyListLayer, RedactLayer, ReportErrorsLayer, ToolCall,
    ToolOutput, TruncateLayer,
    catch_panic::CatchPanicLayer,
    concurrency_limit::ConcurrencyLimitLayer,
    log::LogLayer,
    metrics::MetricsLayer,
    timeout::{Limits, TimeoutLayer},
};

type Ready = std::future::Ready<Result<ToolOutput, Infallible>>;

fn leaf() -> tower::util::ServiceFn<fn(ToolCall) -> Ready> {
    service_fn(|_| std::future::ready(Ok(ToolOutput::default())))
}

/// Allocations of one call that is over at once.
fn allocations<S>(tool: &mut S, call: ToolCall) -> u64
where
    S: Service<ToolCall, Response = ToolOutput>,
{
    let counted = measure(|| {
        let ready = std::future::poll_fn(|cx| tool.poll_ready(cx)).now_or_never();
        assert!(ready.is_some_and(|ready| ready.is_ok()));
        let output = tool.call(call).now_or_never();
        assert!(output.is_some_and(|output| output.is_ok()));
    });
    counted.count_total
}

/// Allocations of a second call, with everything that only the first one makes there already.
fn second<S>(mut tool: S) -> u64
where
    S: Service<ToolCall, Response = ToolOutput>,
{
    let call = ToolCall::new("read", r#"{"path": "a.txt"}"#);
    allocations(&mut tool, call.clone());
    allocations(&mut tool, call)
}

#[tokio::test]
async fn each_layer_alone_adds_nothing() {
    let stack = ServiceBuilder::new();
    let seconds = Duration::from_secs;
    assert_eq!(second(leaf()), 0);
    assert_eq!(second(stack.clone().layer(MetricsLayer::new()).service(leaf())), 0);
    assert_eq!(second(stack.clone().layer(CatchPanicLayer::new()).service(leaf())), 0);
    assert_eq!(second(stack.clone().layer(TimeoutLayer::new(seconds(30))).service(leaf())), 0);
    // Nobody listens.
    assert_eq!(second(stack.clone().layer(LogLayer::new()).service(leaf())), 0);
    let limits =
        TimeoutLayer::limits(Limits::new().head(seconds(1))).for_name("crawl", Limits::new());
    assert_eq!(second(stack.clone().layer(limits).service(leaf())), 0);
    let limit = ConcurrencyLimitLayer::new(8).for_name("read", 2);
    assert_eq!(second(stack.layer(limit).service(leaf())), 0);
}

#[tokio::test]
async fn each_layer_that_looks_at_a_call_adds_nothing_where_it_changes_nothing() {
    let text = || service_fn(|_: ToolCall| std::future::ready(Ok::<_, Infallible>(output())));
    fn output() -> ToolOutput {
        ToolOutput::text("2 files were found")
    }
    let (stack, bare) = (ServiceBuilder::new(), second(text()));
    let globs = AllowListLayer::new(["read", "list_*"]).unwrap();
    assert_eq!(second(stack.clone().layer(globs).service(text())), bare);
    let denied = DenyListLayer::exact(["delete"]);
    assert_eq!(second(stack.clone().layer(denied).service(text())), bare);
    assert_eq!(second(stack.clone().layer(TruncateLayer::default()).service(text())), bare);
    assert_eq!(second(stack.clone().layer(ReportErrorsLayer::new()).service(text())), bare);
    assert_eq!(second(stack.layer(RedactLayer::default()).service(text())), bare);
}

#[tokio::test]
async fn all_of_them_together_add_nothing_and_one_box_two() {
    let stack = ServiceBuilder::new()
        .layer(MetricsLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(ConcurrencyLimitLayer::new(8))
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .service(leaf());
    assert_eq!(second(stack.clone()), 0);

    let boxed = BoxToolService::new(stack);
    let call = ToolCall::new("read", "{}");
    allocations(&mut boxed.clone(), call.clone());
    let counted = measure(|| {
        allocations(&mut boxed.clone(), call);
    });
    assert_eq!(counted.count_total, 2);
}

#[tokio::test]
async fn a_name_that_is_not_counted_apart_allocates_nothing_either() {
    let registry = tower_agent::metrics::Registry::with_max_names(1);
    let layer = MetricsLayer::new().with_registry(&registry);
    let mut tool = ServiceBuilder::new().layer(layer).service(leaf());
    for name in ["known", "first"] {
        allocations(&mut tool, ToolCall::new(name, "{}"));
    }
    assert_eq!(allocations(&mut tool, ToolCall::new("second", "{}")), 0);
}
