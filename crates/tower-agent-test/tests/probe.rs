//! The probe finds each way to break the contract, and stock layers of tower pass.
#![cfg(test)]

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use futures_util::FutureExt as _;
use tower::{Layer, Service, ServiceExt, layer::layer_fn};
use tower_agent_core::{
    Error, ErrorKind, FinishReason, ModelEvent, ModelRequest, ModelResponse, ModelStream,
    Operation, RunRequest, ToolCall,
};
use tower_agent_test::{Plan, Probe, Sample, assert_service_contract};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

fn complaint(broken: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(broken)).expect_err("the probe found nothing");
    panic.downcast_ref::<String>().expect("a text").clone()
}

/// Runs the stories on a runtime of its own, so that the panic can be caught.
fn complaint_about<O, L>(layer: L) -> String
where
    O: Sample,
    L: Layer<Probe<O>>,
    L::Service: Service<O, Response = O::Output, Error: Into<Error>> + Clone,
{
    complaint(|| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(assert_service_contract::<O, _>(&layer));
    })
}

/// Does what `call` says with the service inside.
#[derive(Clone)]
struct Broken<S, F> {
    inner: S,
    call: F,
}

impl<O, S, F, T> Service<O> for Broken<S, F>
where
    O: Operation,
    S: Service<O, Response = O::Output>,
    F: FnMut(&mut S, O) -> T,
    T: Future<Output = Result<O::Output, S::Error>>,
{
    type Response = O::Output;
    type Error = S::Error;
    type Future = T;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: O) -> T {
        (self.call)(&mut self.inner, request)
    }
}

#[test]
fn a_layer_that_calls_an_unready_clone_is_found() {
    let layer = layer_fn(|inner: Probe<ToolCall>| Broken {
        inner,
        call: |inner: &mut Probe<ToolCall>, request| inner.clone().call(request),
    });
    assert!(complaint_about::<ToolCall, _>(layer).contains("an instance that was not ready"));
}

#[test]
fn a_layer_that_calls_twice_on_one_readiness_is_found() {
    let layer = layer_fn(|inner: Probe<ToolCall>| Broken {
        inner,
        call: |inner: &mut Probe<ToolCall>, request: ToolCall| {
            drop(inner.call(request.clone()));
            inner.call(request)
        },
    });
    assert!(complaint_about::<ToolCall, _>(layer).contains("an instance that was not ready"));
}

#[test]
fn a_layer_that_says_ready_without_asking_is_found() {
    #[derive(Clone)]
    struct AlwaysReady<S>(S);
    impl<S: Service<ToolCall>> Service<ToolCall> for AlwaysReady<S> {
        type Response = S::Response;
        type Error = S::Error;
        type Future = S::Future;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, request: ToolCall) -> S::Future {
            self.0.call(request)
        }
    }
    let complaint = complaint_about::<ToolCall, _>(layer_fn(AlwaysReady));
    assert!(complaint.contains("an instance that was not ready"), "{complaint}");
}

#[test]
fn a_layer_whose_call_lives_on_after_a_drop_is_found() {
    let layer = layer_fn(|inner: Probe<ToolCall>| Broken {
        inner,
        call: |inner: &mut Probe<ToolCall>, request| {
            let call = inner.call(request);
            #[expect(clippy::disallowed_methods, reason = "this is the fault under test")]
            let task = tokio::spawn(call);
            async { task.await.expect("no panic before the drop") }
        },
    });
    let complaint = complaint_about::<ToolCall, _>(layer);
    assert!(complaint.contains("Hang"), "{complaint}");
    assert!(complaint.contains("never becomes ready again"), "{complaint}");
}

#[test]
fn a_layer_that_keeps_a_permit_to_itself_is_found() {
    let layer = layer_fn(|inner: Probe<ToolCall>| Broken {
        inner,
        call: |inner: &mut Probe<ToolCall>, request| {
            let mut ready = std::mem::replace(inner, inner.clone());
            let mut next = inner.clone();
            Box::pin(async move {
                poll_fn(|cx| next.poll_ready(cx)).await?;
                ready.call(request).await
            }) as BoxFuture<_>
        },
    });
    let complaint = complaint_about::<ToolCall, _>(layer);
    assert!(complaint.contains("never ends"), "{complaint}");
}

/// Says that a reply is complete when it only stopped.
struct Completing(ModelStream, bool);

impl Stream for Completing {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.1 {
            return Poll::Ready(None);
        }
        self.0.as_mut().poll_next(cx).map(|event| {
            self.1 |= matches!(event, None | Some(Err(_) | Ok(ModelEvent::Finish { .. })));
            Some(event.unwrap_or(Ok(ModelEvent::Finish { reason: FinishReason::Stop })))
        })
    }
}

#[test]
fn a_layer_that_takes_half_a_reply_for_a_whole_one_is_found() {
    let layer = layer_fn(|inner: Probe<ModelRequest>| {
        inner.map_response(|response: ModelResponse| {
            if response.body.is_stream() {
                ModelResponse::stream(Completing(response.body.into_stream(), false))
            } else {
                response
            }
        })
    });
    let complaint = complaint_about::<ModelRequest, _>(layer);
    assert!(complaint.contains("half an answer came out as a complete one"), "{complaint}");
}

#[test]
fn a_handle_that_nobody_asked_fails_the_test_when_it_is_dropped() {
    let complaint = complaint(|| {
        let (mut probe, _handle) = Probe::<ToolCall>::new();
        drop(probe.call(ToolCall::sample("c1")));
    });
    assert!(complaint.contains(r#"call "c1" was made on an instance that was not ready"#));
}

#[tokio::test]
async fn polling_on_after_an_answer_is_found() {
    let (mut probe, handle) = Probe::<ToolCall>::new();
    let mut call = probe.ready().await.unwrap().call(ToolCall::sample("c1"));
    (&mut call).await.unwrap();
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(handle.take_violations(), ["a future was polled after it had answered"]);
}

#[tokio::test]
async fn polling_on_after_the_end_of_a_stream_is_found() {
    let (mut probe, handle) = Probe::<ModelRequest>::scripted([Plan::stream(1)]);
    let response = probe.ready().await.unwrap().call(ModelRequest::sample("c1")).await.unwrap();
    let mut stream = response.body.into_stream();
    while poll_fn(|cx| stream.as_mut().poll_next(cx)).await.is_some() {}
    handle.verify();
    let _ = poll_fn(|cx| stream.as_mut().poll_next(cx)).await;
    assert_eq!(handle.take_violations(), ["a stream was polled after its end"]);
}

#[tokio::test]
async fn every_call_reservation_and_drop_is_counted() {
    let (mut probe, handle) =
        Probe::<ToolCall>::scripted([Plan::ok(), Plan::error(ErrorKind::Tool), Plan::hang()]);
    probe.ready().await.unwrap().call(ToolCall::sample("c1")).await.unwrap();
    probe.ready().await.unwrap().call(ToolCall::sample("c2")).await.unwrap_err();
    let hanging = probe.ready().await.unwrap().call(ToolCall::sample("c3"));
    assert_eq!(handle.counts().in_flight, 1);
    drop(hanging);
    probe.clone().ready().await.unwrap();

    let counts = handle.counts();
    assert_eq!((counts.calls, counts.outputs, counts.errors, counts.dropped_calls), (3, 1, 1, 1));
    assert_eq!((counts.reserved, counts.given_back, counts.held()), (4, 1, 0));
    assert_eq!((counts.clones, counts.instances), (1, 1));
    assert_eq!(handle.outputs(), [("c1".into(), 1)]);
    assert_eq!(handle.requests().len(), 3);
    handle.verify_idle();
}

#[tokio::test]
async fn a_permit_is_taken_until_the_call_is_answered() {
    let (mut first, handle) =
        Probe::<ToolCall>::builder().permits(1).otherwise(Plan::hang()).build();
    let mut second = first.clone();
    let call = first.ready().await.unwrap().call(ToolCall::sample("c1"));
    let mut waiting = std::pin::pin!(second.ready());
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(call);
    waiting.await.unwrap();
    handle.verify();
}

async fn stock_layers_pass<O: Sample + Sync>()
where
    O::Output: Send,
{
    let timeout = tower::timeout::TimeoutLayer::new(Duration::from_secs(60));
    let shed = tower::load_shed::LoadShedLayer::new();
    let limit = tower::limit::ConcurrencyLimitLayer::new(2);
    let buffer = tower::buffer::BufferLayer::<O>::new(4);

    let counts = assert_service_contract::<O, _>(&tower::layer::util::Identity::new()).await;
    assert!(counts.outputs > 0 && counts.errors > 0 && counts.panics > 0, "{counts:?}");
    assert!(counts.dropped_calls > 0 && counts.given_back > 0, "{counts:?}");
    assert_eq!(counts.streams > 0, O::STREAMS);
    for outputs in [
        assert_service_contract::<O, _>(&timeout).await.outputs,
        assert_service_contract::<O, _>(&shed).await.outputs,
        assert_service_contract::<O, _>(&limit).await.outputs,
        assert_service_contract::<O, _>(&(buffer, timeout, limit)).await.outputs,
    ] {
        assert!(outputs > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_stock_layers_of_tower_pass_around_tools() {
    stock_layers_pass::<ToolCall>().await;
}

#[tokio::test(start_paused = true)]
async fn the_stock_layers_of_tower_pass_around_models() {
    stock_layers_pass::<ModelRequest>().await;
}

#[tokio::test(start_paused = true)]
async fn the_stock_layers_of_tower_pass_around_runs() {
    stock_layers_pass::<RunRequest>().await;
}
