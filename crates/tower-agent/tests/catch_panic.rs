//! A crash is one failed call: it has an answer, and everything else goes on.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use futures_util::{StreamExt, future::join_all, stream};
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxToolService, Effect, Error, ErrorKind, ModelEvent, ModelRequest, ModelResponse, Outcome,
    RunFinish, RunRequest, RunResponse, ToolCall, ToolOutput, catch_panic::CatchPanicLayer,
    concurrency_limit::ConcurrencyLimitLayer,
};

/// Panics for the names `crash` and `crash_at_once`.
fn tool(layer: CatchPanicLayer) -> BoxToolService {
    let leaf = service_fn(|call: ToolCall| {
        assert_ne!(call.name.as_str(), "crash_at_once", "secret at line 7");
        async move {
            tokio::task::yield_now().await;
            assert_ne!(call.name.as_str(), "crash", "secret at line 9");
            Ok::<_, Infallible>(ToolOutput::text("done"))
        }
    });
    BoxToolService::new(ServiceBuilder::new().layer(layer).concurrency_limit(10).service(leaf))
}

#[tokio::test]
async fn the_model_reads_which_tool_crashed_and_nothing_of_its_insides() {
    for name in ["crash", "crash_at_once"] {
        let output = tool(CatchPanicLayer::new()).oneshot(ToolCall::new(name, "")).await.unwrap();
        let Outcome::Failed(failure) = &output.outcome else { panic!("{output:?}") };
        assert_eq!((failure.kind, failure.effect), (ErrorKind::Panic, Effect::Unknown));
        assert_eq!(failure.layer.as_deref(), Some("catch_panic"));
        let text = output.joined_text();
        assert!(text.starts_with(&format!("`{name}` crashed.")), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn the_operator_reads_what_the_panic_said() {
    let tool = tool(CatchPanicLayer::new().as_error());
    let error = tool.oneshot(ToolCall::new("crash", "")).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Panic, Effect::Unknown));
    assert!(error.to_string().starts_with("catch_panic: `crash` panicked: "), "{error}");
    assert!(error.to_string().contains("secret at line 9"), "{error}");
}

#[tokio::test]
async fn calls_at_the_same_time_are_not_affected() {
    let tool = tool(CatchPanicLayer::new());
    let calls = ["read", "crash", "read", "crash_at_once", "read"]
        .map(|name| tool.clone().oneshot(ToolCall::new(name, "")));
    let texts: Vec<_> = join_all(calls)
        .await
        .into_iter()
        .map(|output| output.unwrap().outcome.as_str().to_owned())
        .collect();
    assert_eq!(texts, ["success", "failed", "success", "failed", "success"]);
}

#[tokio::test]
async fn a_crash_gives_its_permit_back() {
    let limit = ConcurrencyLimitLayer::new(1);
    let crashes_first = service_fn(|call: ToolCall| async move {
        assert_eq!(call.arguments.as_str(), r#"{"n":2}"#, "boom");
        Ok::<_, Error>(ToolOutput::text("done"))
    });
    let (catch, stack) = (CatchPanicLayer::new(), ServiceBuilder::new());
    let outside = stack.clone().layer(catch).layer(&limit).service(crashes_first);
    let inside = stack.layer(&limit).layer(catch).service(crashes_first);
    for tool in [BoxToolService::new(outside), BoxToolService::new(inside)] {
        let call = |n: u8| ToolCall::new("render", serde_json::json!({ "n": n }));
        assert!(tool.clone().oneshot(call(1)).await.unwrap().outcome.is_failed());
        assert_eq!(tool.oneshot(call(2)).await.unwrap().joined_text(), "done");
        assert_eq!(limit.in_flight(), 0);
    }
}

#[tokio::test]
async fn a_crash_in_a_stream_ends_it_with_an_error() {
    let model = ServiceBuilder::new().layer(CatchPanicLayer::new()).service(service_fn(
        |_: ModelRequest| async {
            let events = stream::iter(0..3).map(|n| {
                assert!(n < 2, "secret");
                Ok(ModelEvent::Start { id: None, model: None, extra: None })
            });
            Ok::<_, Error>(ModelResponse::stream(events))
        },
    ));
    let response = model.oneshot(ModelRequest::new("demo", vec![])).await.unwrap();
    let items: Vec<_> = response.body.into_stream().collect().await;
    assert_eq!(items.len(), 3);
    assert_eq!(items[2].as_ref().unwrap_err().kind(), ErrorKind::Panic);
}

#[tokio::test]
async fn a_model_or_an_agent_that_crashes_answers_as_well() {
    let model = ServiceBuilder::new().layer(CatchPanicLayer::new()).service(service_fn(
        |request: ModelRequest| async move {
            assert!(request.stream, "boom");
            Ok::<_, Error>(ModelResponse::default())
        },
    ));
    let reply =
        model.oneshot(ModelRequest::new("demo", vec![])).await.unwrap().body.collect().await;
    assert!(reply.unwrap().message.text().starts_with("`demo` crashed."));

    let agent = ServiceBuilder::new().layer(CatchPanicLayer::new()).service(service_fn(
        |request: RunRequest| async move {
            assert!(request.stream, "boom");
            Ok::<_, Error>(RunResponse::default())
        },
    ));
    let run = agent.oneshot(RunRequest::user("hello")).await.unwrap().collect().await.unwrap();
    assert_eq!(run.finish, Some(RunFinish::Failed));
    assert!(run.text().starts_with("the run crashed."));
}

#[tokio::test]
async fn a_crash_in_readiness_is_an_error_of_readiness() {
    struct Unready;
    impl Service<ToolCall> for Unready {
        type Response = ToolOutput;
        type Error = Infallible;
        type Future = std::future::Ready<Result<ToolOutput, Infallible>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            panic!("boom")
        }
        fn call(&mut self, _: ToolCall) -> Self::Future {
            std::future::ready(Ok(ToolOutput::default()))
        }
    }
    let tool = ServiceBuilder::new().layer(CatchPanicLayer::new()).service(Unready);
    let error = tool.oneshot(ToolCall::new("x", "")).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Panic, Effect::NotStarted));
}
