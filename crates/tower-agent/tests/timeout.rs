//! What takes too long is stopped, in its head or in its stream, and says so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, sleep};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Context, Effect, Error, ErrorKind, ModelEvent, ModelRequest, ModelResponse, Operation,
    PartDelta, RunEvent, RunFinish, RunRequest, RunResponse, ToolCall, ToolOutput, Usage,
    timeout::{Limits, TimeoutLayer},
};

const SECOND: Duration = Duration::from_secs(1);

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) }
}

fn finish() -> ModelEvent {
    ModelEvent::Finish { reason: "stop".into() }
}

/// Events, each after its own pause.
fn paced(
    events: Vec<(u64, ModelEvent)>,
) -> impl Stream<Item = Result<ModelEvent, Error>> + Send + 'static {
    stream::iter(events).then(|(pause, event)| async move {
        sleep(seconds(pause)).await;
        Ok(event)
    })
}

async fn ask<S>(service: S) -> Result<ModelResponse, Error>
where
    S: Service<ModelRequest, Response = ModelResponse, Error = Error>,
{
    service.oneshot(ModelRequest::new("demo", vec![])).await
}

fn model(
    layer: TimeoutLayer,
    events: Vec<(u64, ModelEvent)>,
) -> impl Service<ModelRequest, Response = ModelResponse, Error = Error> {
    ServiceBuilder::new().layer(layer).service(service_fn(move |_: ModelRequest| {
        let response = ModelResponse::stream(paced(events.clone()));
        async { Ok::<_, Error>(response) }
    }))
}

/// The events that came, and the kind and time of the error that ended them.
async fn read(response: ModelResponse) -> (usize, Option<(ErrorKind, Effect)>) {
    let mut stream = response.body.into_stream();
    let mut events = 0;
    while let Some(item) = stream.next().await {
        match item {
            Ok(_) => events += 1,
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error is the last item");
                return (events, Some((error.kind(), error.effect())));
            }
        }
    }
    (events, None)
}

const TIMED_OUT: Option<(ErrorKind, Effect)> = Some((ErrorKind::Timeout, Effect::Unknown));

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_answers_is_stopped_and_the_model_told() {
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = Arc::clone(&dropped);
    let tool = ServiceBuilder::new().layer(TimeoutLayer::new(seconds(30))).service(service_fn(
        move |_: ToolCall| {
            let guard = scopeguard(Arc::clone(&guard));
            async move {
                let _guard = guard;
                std::future::pending::<Result<ToolOutput, BoxError>>().await
            }
        },
    ));
    let start = Instant::now();
    let error = tool.oneshot(ToolCall::new("search", "")).await.unwrap_err();
    assert_eq!(start.elapsed(), seconds(30));
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::Unknown));
    assert_eq!(error.to_string(), "timeout: not finished within 30s");
    assert_eq!(error.layer(), Some("timeout"));
    assert!(error.model_text().contains("check before you repeat it"), "{}", error.model_text());
    assert!(dropped.load(Ordering::Relaxed), "the call goes on");
}

fn scopeguard(flag: Arc<AtomicBool>) -> impl Drop + Send {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    Guard(flag)
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_passes_untouched() {
    let tool = ServiceBuilder::new().layer(TimeoutLayer::new(seconds(30))).service(service_fn(
        |_: ToolCall| async {
            sleep(seconds(29)).await;
            Ok::<_, BoxError>(ToolOutput::text("found"))
        },
    ));
    let output = tool.oneshot(ToolCall::new("search", "")).await.unwrap();
    assert_eq!(output, ToolOutput::text("found"));
}

#[tokio::test(start_paused = true)]
async fn an_error_from_inside_keeps_its_kind() {
    let tool = ServiceBuilder::new().layer(TimeoutLayer::new(SECOND)).load_shed().service(
        service_fn(|_: ToolCall| async {
            Err::<ToolOutput, BoxError>(Error::new(ErrorKind::NotFound, "no such file").into())
        }),
    );
    let error = tool.oneshot(ToolCall::new("read", "")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn the_head_limit_ends_where_the_stream_begins() {
    let layer = TimeoutLayer::limits(Limits::new().head(SECOND));
    let events = vec![(5, text("slow")), (5, finish())];
    assert_eq!(read(ask(model(layer, events)).await.unwrap()).await, (2, None));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_ends_with_an_error_after_the_text_that_came() {
    let layer = TimeoutLayer::limits(Limits::new().head(seconds(5)).idle(seconds(2)));
    let events = vec![(1, text("Hel")), (1, text("lo")), (3600, finish())];
    let response = ask(model(layer, events)).await.unwrap();
    let start = Instant::now();
    assert_eq!(read(response).await, (2, TIMED_OUT));
    assert_eq!(start.elapsed(), seconds(4));
}

#[tokio::test(start_paused = true)]
async fn the_idle_limit_begins_anew_with_each_event() {
    let layer = TimeoutLayer::limits(Limits::new().idle(seconds(2)));
    let mut events = vec![(1, text("x")); 60];
    events.push((1, finish()));
    assert_eq!(read(ask(model(layer, events)).await.unwrap()).await, (61, None));
}

#[tokio::test(start_paused = true)]
async fn what_a_slow_reader_takes_is_not_held_against_the_provider() {
    let layer = TimeoutLayer::limits(Limits::new().idle(seconds(2)));
    let response = ask(model(layer, vec![(1, text("a")), (1, text("b")), (1, finish())])).await;
    let mut stream = response.unwrap().body.into_stream();
    for _ in 0..3 {
        sleep(seconds(600)).await;
        stream.next().await.unwrap().unwrap();
    }
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_total_limit_covers_head_and_stream_together() {
    let layer = TimeoutLayer::new(seconds(10));
    let mut events = vec![(3, text("x")); 100];
    events.push((0, finish()));
    let start = Instant::now();
    assert_eq!(read(ask(model(layer, events)).await.unwrap()).await, (3, TIMED_OUT));
    assert_eq!(start.elapsed(), seconds(10));
}

#[tokio::test(start_paused = true)]
async fn the_total_limit_holds_for_a_stream_that_is_always_ready() {
    let endless = ServiceBuilder::new().layer(TimeoutLayer::new(seconds(10))).service(service_fn(
        |_: ModelRequest| async {
            Ok::<_, Error>(ModelResponse::stream(stream::repeat_with(|| Ok(text("x")))))
        },
    ));
    let response = ask(endless).await.unwrap();
    let mut stream = response.body.into_stream();
    stream.next().await.unwrap().unwrap();
    sleep(seconds(10)).await;
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_limits_of_a_run_cover_its_steps() {
    let run = ServiceBuilder::new()
        .layer(TimeoutLayer::limits(Limits::new().idle(seconds(2))))
        .service(service_fn(|_: RunRequest| async {
            let finished = RunEvent::Finished {
                finish: RunFinish::Answered,
                turns: 1,
                usage: Usage::default(),
            };
            let events = stream::once(async { Ok(RunEvent::TurnStarted { turn: 1 }) }).chain(
                stream::once(async {
                    sleep(seconds(3)).await;
                    Ok(finished)
                }),
            );
            Ok::<_, Error>(RunResponse::new(events))
        }));
    let response = run.oneshot(RunRequest::user("hello")).await.unwrap();
    let error = response.collect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let so_far = tower_agent::Transcript::of_error(&error).unwrap();
    assert_eq!(so_far.turns, 1);
}

fn by_deadline(at: Instant) -> Context {
    tower_agent::Run::builder("r1").deadline(at.into_std()).build()
}

fn slow_tool() -> impl Service<
    ToolCall,
    Response = ToolOutput,
    Error = BoxError,
    Future = impl Future<Output = Result<ToolOutput, BoxError>> + Send,
> + Clone {
    service_fn(|call: ToolCall| async move {
        let left = call.ctx.deadline().map(|at| Instant::from_std(at) - Instant::now());
        sleep(seconds(20)).await;
        Ok(ToolOutput::text(format!("{left:?}")))
    })
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_run_wins_when_it_is_nearer() {
    let tool = TimeoutLayer::new(seconds(30));
    let start = Instant::now();
    let call = ToolCall::new("slow", "").with_context(by_deadline(start + seconds(5)));
    let error = ServiceBuilder::new().layer(&tool).service(slow_tool()).oneshot(call.clone()).await;
    assert_eq!(error.unwrap_err().to_string(), "timeout: not finished by the deadline");
    assert_eq!(start.elapsed(), seconds(5));

    let deaf = ServiceBuilder::new().layer(tool.deadline(false)).service(slow_tool());
    assert!(deaf.oneshot(call).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_after_its_deadline_is_not_made() {
    let tool = ServiceBuilder::new()
        .layer(TimeoutLayer::limits(Limits::new()))
        .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("it ran")) }));
    let call = ToolCall::new("slow", "").with_context(by_deadline(Instant::now()));
    let error = tool.oneshot(call).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::NotStarted));
}

#[tokio::test(start_paused = true)]
async fn what_is_nested_in_a_call_knows_its_limit() {
    let tool = ServiceBuilder::new().layer(TimeoutLayer::new(seconds(30))).service(slow_tool());
    let output = tool.oneshot(ToolCall::new("slow", "")).await.unwrap();
    assert_eq!(output.joined_text(), "Some(30s)");
}

#[tokio::test(start_paused = true)]
async fn one_tool_can_have_limits_of_its_own() {
    let layer = TimeoutLayer::new(seconds(10)).for_name("crawl", Limits::new().total(seconds(60)));
    let tool = ServiceBuilder::new().layer(layer).service(slow_tool());
    assert!(tool.clone().oneshot(ToolCall::new("search", "")).await.is_err());
    assert!(tool.oneshot(ToolCall::new("crawl", "")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_retry_has_its_own_time() {
    #[derive(Clone)]
    struct Once;
    impl tower::retry::Policy<ToolCall, ToolOutput, Error> for Once {
        type Future = std::future::Ready<()>;
        fn retry(
            &mut self,
            call: &mut ToolCall,
            result: &mut Result<ToolOutput, Error>,
        ) -> Option<Self::Future> {
            call.context_mut().attempt += 1;
            (result.is_err() && call.ctx.attempt == 2).then(|| std::future::ready(()))
        }
        fn clone_request(&mut self, call: &ToolCall) -> Option<ToolCall> {
            Some(call.clone())
        }
    }
    let tool = ServiceBuilder::new().retry(Once).layer(TimeoutLayer::new(seconds(10))).service(
        service_fn(|call: ToolCall| async move {
            if call.ctx.attempt == 1 {
                sleep(seconds(100)).await;
            }
            sleep(seconds(9)).await;
            Ok::<_, Error>(ToolOutput::text("second"))
        }),
    );
    let output = tool.oneshot(ToolCall::new("flaky", "")).await.unwrap();
    assert_eq!(output.joined_text(), "second");
}

#[tokio::test]
async fn a_limit_beyond_all_time_is_none() {
    let layer = TimeoutLayer::limits(
        Limits::new().head(Duration::MAX).idle(Duration::MAX).total(Duration::MAX),
    );
    let events = vec![(0, text("x")), (0, finish())];
    assert_eq!(read(ask(model(layer, events)).await.unwrap()).await, (2, None));
}
