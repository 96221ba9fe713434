//! A built stack says what it is made of, whoever made its layers.

use std::{convert::Infallible, time::Duration};

use tower::{
    BoxError, Service, ServiceBuilder, ServiceExt, filter::FilterLayer, limit::RateLimit,
    retry::RetryLayer, service_fn, util::option_layer,
};
use tower_agent::{
    BoxModelService, BoxToolService, Description, Error, ErrorKind, ModelRequest, ModelResponse,
    ToolCall, ToolOutput, allow_list::DenyListLayer, catch_panic::CatchPanicLayer, check,
    concurrency_limit::ConcurrencyLimitLayer, describe, log::LogLayer, metrics::MetricsLayer,
    report_errors::ReportErrorsLayer, timeout::TimeoutLayer,
};

fn tool() -> impl Service<
    ToolCall,
    Response = ToolOutput,
    Error = BoxError,
    Future = impl Future<Output = Result<ToolOutput, BoxError>> + Send,
> + Clone
+ Send
+ Sync
+ 'static {
    service_fn(|_: ToolCall| async { Ok(ToolOutput::text("done")) })
}

#[derive(Clone)]
struct Never;

impl tower::retry::Policy<ToolCall, ToolOutput, BoxError> for Never {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut ToolCall,
        _: &mut Result<ToolOutput, BoxError>,
    ) -> Option<Self::Future> {
        None
    }

    fn clone_request(&mut self, request: &ToolCall) -> Option<ToolCall> {
        Some(request.clone())
    }
}

fn keep(call: ToolCall) -> ToolCall {
    call
}

#[tokio::test]
async fn the_layers_of_tower_show_in_their_order() {
    let stack = ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(2)
        .layer(RetryLayer::new(Never))
        .rate_limit(5, Duration::from_secs(1))
        .timeout(Duration::from_secs(1))
        .service(tool());
    assert_eq!(
        describe(&stack).to_string(),
        "load_shed > concurrency_limit > retry > rate_limit > timeout > service_fn"
    );
}

#[test]
fn combinators_show_whether_they_hold_closures_or_functions() {
    let stack = ServiceBuilder::new()
        .map_request(keep)
        .map_request(|call: ToolCall| call)
        .map_response(|output: ToolOutput| output)
        .map_err(|error: BoxError| Error::from(error))
        .map_result(|result: Result<ToolOutput, BoxError>| result)
        .and_then(|output: ToolOutput| async move { Ok::<_, BoxError>(output) })
        .then(|result: Result<ToolOutput, BoxError>| async move { result })
        .layer(FilterLayer::new(|call: ToolCall| Ok::<_, BoxError>(call)))
        .service(tool());
    assert_eq!(
        describe(&stack).layers(),
        [
            "map_request",
            "map_request",
            "map_response",
            "map_err",
            "map_result",
            "and_then",
            "then",
            "filter"
        ]
    );
}

#[tokio::test]
async fn a_buffer_hides_the_service_but_its_future_tells() {
    let stack = ServiceBuilder::new()
        .load_shed()
        .buffer::<ToolCall>(4)
        .timeout(Duration::from_secs(1))
        .service(tool());
    assert_eq!(describe(&stack).to_string(), "load_shed > buffer > timeout > closure");
}

#[test]
fn an_optional_layer_is_marked() {
    let limit = Some(tower::limit::ConcurrencyLimitLayer::new(1));
    let stack = ServiceBuilder::new().load_shed().layer(option_layer(limit)).service(tool());
    assert_eq!(describe(&stack).to_string(), "load_shed > concurrency_limit? > service_fn");
}

#[test]
fn our_own_layers_show_and_their_reference_order_is_good() {
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(MetricsLayer::new())
        .layer(CatchPanicLayer::new())
        .layer(DenyListLayer::exact(["deploy"]))
        .layer(ReportErrorsLayer::new())
        .layer(ConcurrencyLimitLayer::new(8))
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .service(tool());
    let description = describe(&stack);
    assert_eq!(
        description.to_string(),
        "log > metrics > catch_panic > deny_list > report_errors > concurrency_limit > timeout > service_fn"
    );
    assert_eq!(check(&description), []);
}

#[test]
fn layers_of_others_show_as_well() {
    type Stack = tower_http::set_status::SetStatus<RateLimit<Never>>;
    assert_eq!(Description::of::<Stack>().to_string(), "set_status > rate_limit > never");
}

#[test]
fn a_stack_without_layers_still_says_something() {
    assert_eq!(describe(&tool()).to_string(), "service_fn (no layers)");
    assert_eq!(describe(&|| ()).to_string(), "closure (no layers)");
    assert_eq!(Description::from_names([""; 0]).to_string(), "(nothing)");
}

#[test]
fn a_box_keeps_the_description_it_was_built_with() {
    let boxed = BoxToolService::new(ServiceBuilder::new().load_shed().service(tool()));
    assert_eq!(boxed.description().to_string(), "load_shed > service_fn");
    assert_eq!(describe(&boxed.clone()), *boxed.description());
    assert_eq!(format!("{boxed:?}"), "Boxed(Description(load_shed > service_fn))");

    let around = ServiceBuilder::new().concurrency_limit(1).service(boxed.clone());
    let outside = describe(&around);
    assert_eq!(outside.to_string(), "concurrency_limit > boxed");
    let whole = BoxToolService::with_description(around, outside.around(boxed.description()));
    assert_eq!(whole.description().to_string(), "concurrency_limit > load_shed > service_fn");
}

#[test]
fn it_serialises_as_the_list_of_names() {
    let stack = Description::from_names(["metrics", "tool_fn"]);
    assert_eq!(serde_json::to_string(&stack).unwrap(), r#"["metrics","tool_fn"]"#);
    assert_eq!(stack.service().map(|name| name.as_str()), Some("tool_fn"));
}

#[tokio::test]
async fn a_box_turns_the_errors_of_tower_into_ours() {
    let slow = service_fn(|_: ToolCall| std::future::pending::<Result<ToolOutput, Infallible>>());
    let stack = ServiceBuilder::new().timeout(Duration::ZERO).service(slow);
    let error = BoxToolService::new(stack).oneshot(ToolCall::new("slow", "")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}

#[test]
fn a_box_can_be_cloned_and_shared() {
    fn shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>(_: &T) {}
    let model = service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::default()) });
    shared(&BoxModelService::new(model));
    shared(&BoxToolService::new(tool()));
}

#[test]
fn known_bad_orders_are_named() {
    let warned = |names: &[&str]| {
        let warnings = check(&Description::from_names(names.iter().copied()));
        warnings.iter().map(|w| format!("{} > {}", w.outer, w.inner)).collect::<Vec<_>>()
    };
    assert_eq!(warned(&["redact", "truncate", "tool"]), ["redact > truncate"]);
    assert_eq!(warned(&["redact?", "log", "truncate", "tool"]), ["redact? > truncate"]);
    assert_eq!(warned(&["report_errors", "redact", "tool"]), ["report_errors > redact"]);
    assert_eq!(warned(&["retry", "report_errors", "tool"]), ["retry > report_errors"]);
    assert_eq!(warned(&["concurrency_limit", "retry", "tool"]), ["concurrency_limit > retry"]);
    assert_eq!(warned(&["deny_list", "metrics", "metrics", "tool"]), ["deny_list > metrics"]);
    assert_eq!(warned(&["cache", "allow_list", "tool"]), ["cache > allow_list"]);
}

#[test]
fn the_reference_order_is_not_warned_of() {
    let reference = [
        "trace",
        "metrics",
        "catch_panic",
        "allow_list",
        "deny_list",
        "truncate",
        "cache",
        "redact",
        "report_errors",
        "retry",
        "concurrency_limit",
        "timeout",
        "tool_fn",
    ];
    assert_eq!(check(&Description::from_names(reference)), []);
}
