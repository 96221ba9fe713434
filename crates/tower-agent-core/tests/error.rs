//! An error keeps what it says through every mixture of layers.
#![cfg(test)]

use std::{error::Error as StdError, fmt, future::ready, time::Duration};

use proptest::prelude::*;
use tower::{
    BoxError, Layer, Service, ServiceBuilder, ServiceExt,
    buffer::BufferLayer,
    limit::{ConcurrencyLimitLayer, RateLimitLayer},
    load_shed::LoadShedLayer,
    retry::{Policy, RetryLayer},
    service_fn,
    timeout::TimeoutLayer,
    util::BoxService,
};
use tower_agent_core::{Effect, Error, ErrorKind};

#[derive(Clone, Debug, PartialEq)]
struct DiskFull(u32);

impl fmt::Display for DiskFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes too many", self.0)
    }
}

impl StdError for DiskFull {}

fn failure(kind: ErrorKind) -> Error {
    Error::new(kind, "cannot write")
        .with_effect(Effect::Completed)
        .with_layer("store")
        .with_model_text("The disk is full.")
        .with_extension(7u8)
        .with_source(DiskFull(4096))
}

fn assert_kept(error: &Error, kind: ErrorKind) {
    assert_eq!(error.kind(), kind);
    assert_eq!(error.effect(), Effect::Completed);
    assert_eq!(error.layer(), Some("store"));
    assert_eq!(error.model_text(), "The disk is full.");
    assert_eq!(error.extensions().get::<u8>(), Some(&7));
    assert_eq!(error.find::<DiskFull>(), Some(&DiskFull(4096)));
}

/// Tries twice.
#[derive(Clone)]
struct Twice(u8);

impl<E> Policy<u32, u32, E> for Twice {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut u32, result: &mut Result<u32, E>) -> Option<Self::Future> {
        self.0 += 1;
        (result.is_err() && self.0 < 2).then(|| ready(()))
    }

    fn clone_request(&mut self, request: &u32) -> Option<u32> {
        Some(*request)
    }
}

/// A layer as ours are: it looks at errors, so they are ours above it.
#[derive(Clone)]
struct Looks;

#[derive(Clone)]
struct Looking<S>(S);

impl<S> Layer<S> for Looks {
    type Service = Looking<S>;

    fn layer(&self, inner: S) -> Looking<S> {
        Looking(inner)
    }
}

impl<S> Service<u32> for Looking<S>
where
    S: Service<u32>,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = Error;
    type Future = futures_util::future::MapErr<S::Future, fn(S::Error) -> Error>;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Error>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: u32) -> Self::Future {
        futures_util::TryFutureExt::map_err(self.0.call(request), Into::into as fn(_) -> _)
    }
}

#[derive(Clone, Copy, Debug)]
enum Stock {
    Timeout,
    LoadShed,
    Buffer,
    ConcurrencyLimit,
    RateLimit,
    Retry,
    Ours,
}

type Boxed = BoxService<u32, u32, BoxError>;

impl Stock {
    const ALL: [Self; 7] = [
        Self::Timeout,
        Self::LoadShed,
        Self::Buffer,
        Self::ConcurrencyLimit,
        Self::RateLimit,
        Self::Retry,
        Self::Ours,
    ];

    fn wrap(self, inner: Boxed) -> Boxed {
        let hour = Duration::from_secs(3600);
        match self {
            Self::Timeout => boxed(TimeoutLayer::new(hour).layer(inner)),
            Self::LoadShed => boxed(LoadShedLayer::new().layer(inner)),
            Self::Buffer => boxed(BufferLayer::new(4).layer(inner)),
            Self::ConcurrencyLimit => boxed(ConcurrencyLimitLayer::new(4).layer(inner)),
            Self::RateLimit => boxed(RateLimitLayer::new(100, hour).layer(inner)),
            // Retry clones its service, which only a buffer makes possible for a boxed one.
            Self::Retry => boxed(
                ServiceBuilder::new().layer(RetryLayer::new(Twice(0))).buffer(4).service(inner),
            ),
            Self::Ours => boxed(Looks.layer(inner)),
        }
    }
}

fn boxed<S>(service: S) -> Boxed
where
    S: Service<u32, Response = u32> + Send + 'static,
    S::Error: Into<BoxError> + 'static,
    S::Future: Send + 'static,
{
    BoxService::new(service.map_err(Into::into))
}

fn kinds() -> impl Strategy<Value = ErrorKind> {
    prop_oneof![
        Just(ErrorKind::Timeout),
        Just(ErrorKind::Tool),
        Just(ErrorKind::Overloaded),
        Just(ErrorKind::Upstream { status: Some(503) }),
        Just(ErrorKind::RateLimited { retry_after: Some(Duration::from_secs(3)) }),
    ]
}

fn stacks() -> impl Strategy<Value = Vec<Stock>> {
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(Stock::ALL.to_vec()), 0..8),
        Just(Stock::ALL.to_vec()).prop_shuffle(),
    ]
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_call_s_error_keeps_all_it_says_through_any_mixture_of_stock_layers(
        stack in stacks(),
        kind in kinds(),
    ) {
        run(async {
            let leaf = service_fn(move |_: u32| ready(Err::<u32, _>(failure(kind))));
            let service = stack.iter().fold(boxed(leaf), |inner, layer| layer.wrap(inner));
            let error = Error::from(service.oneshot(1).await.unwrap_err());
            assert_kept(&error, kind);
            assert_kept(&error.clone(), kind);
        });
    }

    #[test]
    fn an_error_of_poll_ready_keeps_all_it_says_too(stack in stacks(), kind in kinds()) {
        struct Gone(ErrorKind);
        impl Service<u32> for Gone {
            type Response = u32;
            type Error = Error;
            type Future = std::future::Ready<Result<u32, Error>>;
            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), Error>> {
                std::task::Poll::Ready(Err(failure(self.0)))
            }
            fn call(&mut self, _: u32) -> Self::Future {
                panic!("it is never ready")
            }
        }
        run(async {
            let service = stack.iter().fold(boxed(Gone(kind)), |inner, layer| layer.wrap(inner));
            let error = Error::from(service.oneshot(1).await.unwrap_err());
            assert_kept(&error, kind);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn all_six_stock_layers_stand_between_ours_without_any_conversion() {
    let hour = Duration::from_secs(3600);
    let mut service = ServiceBuilder::new()
        .layer(Looks)
        .load_shed()
        .layer(Looks)
        .layer(RetryLayer::new(Twice(0)))
        .layer(Looks)
        .buffer(4)
        .layer(Looks)
        .concurrency_limit(4)
        .layer(Looks)
        .rate_limit(9, hour)
        .layer(Looks)
        .layer(TimeoutLayer::new(Duration::from_secs(1)))
        .layer(Looks)
        .service(service_fn(|call: u32| async move {
            if call == 0 {
                std::future::pending::<()>().await;
            }
            Err::<u32, Error>(failure(ErrorKind::Tool))
        }));
    assert_kept(&service.ready().await.unwrap().call(1).await.unwrap_err(), ErrorKind::Tool);
    let error = service.ready().await.unwrap().call(0).await.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::Unknown));
    assert!(error.find::<tower::timeout::error::Elapsed>().is_some());
}

#[tokio::test(start_paused = true)]
async fn what_stock_layers_raise_themselves_has_the_right_kind_and_effect() {
    let hang = || service_fn(|_: u32| std::future::pending::<Result<u32, Error>>());
    let timeout = TimeoutLayer::new(Duration::from_secs(1)).layer(hang());
    let error = Error::from(timeout.oneshot(1).await.unwrap_err());
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Timeout, Effect::Unknown));

    let mut shed = ServiceBuilder::new().load_shed().concurrency_limit(1).service(hang());
    let _busy = shed.ready().await.unwrap().call(1);
    let error = Error::from(shed.ready().await.unwrap().call(2).await.unwrap_err());
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Overloaded, Effect::NotStarted));
    assert!(error.model_text().contains("did not run"));

    let mut closed = {
        let (buffer, worker) = tower::buffer::Buffer::<u32, _>::pair(hang(), 1);
        drop(worker);
        buffer
    };
    let error = match closed.ready().await {
        Ok(_) => panic!("a buffer without its worker is ready"),
        Err(error) => Error::from(error),
    };
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::NotStarted));
}

#[test]
fn an_error_of_somebody_else_is_kept_as_the_source() {
    let error = Error::from(BoxError::from(DiskFull(1)));
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Other, Effect::Unknown));
    assert_eq!(error.to_string(), "1 bytes too many");
    assert_eq!(error.find::<DiskFull>(), Some(&DiskFull(1)));
    assert!(!error.model_text().contains("bytes"), "internals are not for models");
}

#[test]
fn an_error_of_ours_comes_back_from_a_box_as_itself() {
    let ours = failure(ErrorKind::Tool);
    let back = Error::from(BoxError::from(ours.clone()));
    assert_kept(&back, ErrorKind::Tool);
    assert!(std::ptr::eq(ours.find::<DiskFull>().unwrap(), back.find::<DiskFull>().unwrap()));
}

#[derive(Debug)]
struct Wrapper(Error);

impl fmt::Display for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("while saving")
    }
}

impl StdError for Wrapper {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn a_wrapper_adds_its_text_and_keeps_the_kind_and_the_whole_chain() {
    let error = Error::from(BoxError::from(Wrapper(failure(ErrorKind::Tool))));
    assert_kept(&error, ErrorKind::Tool);
    assert!(error.to_string().contains("while saving"), "{error}");
    assert!(error.find::<Wrapper>().is_some());
}

#[test]
fn a_clone_keeps_the_source_and_an_edit_of_it_leaves_the_original() {
    let error = failure(ErrorKind::Tool);
    let clone = error.clone().with_kind(ErrorKind::Timeout).with_effect(Effect::Unknown);
    assert_kept(&error, ErrorKind::Tool);
    assert_eq!(clone.kind(), ErrorKind::Timeout);
    assert_eq!(clone.find::<DiskFull>(), Some(&DiskFull(4096)));
    assert!(clone.source().is_some_and(|source| source.is::<DiskFull>()));
}

#[test]
fn display_shows_one_level_and_debug_all() {
    let error = failure(ErrorKind::Tool);
    assert_eq!(error.to_string(), "store: cannot write");
    assert!(format!("{error:?}").contains("DiskFull(4096)"));
}

#[test]
fn refusals_say_that_nothing_began() {
    let effect = |kind| Error::new(kind, "").effect();
    for kind in [
        ErrorKind::Overloaded,
        ErrorKind::InvalidArguments,
        ErrorKind::NotFound,
        ErrorKind::Unauthorized,
        ErrorKind::Unavailable,
        ErrorKind::RateLimited { retry_after: None },
    ] {
        assert_eq!(effect(kind), Effect::NotStarted, "{kind:?}");
    }
    for kind in [ErrorKind::Timeout, ErrorKind::Cancelled, ErrorKind::Panic, ErrorKind::Other] {
        assert_eq!(effect(kind), Effect::Unknown, "{kind:?}");
    }
}
