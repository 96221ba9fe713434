//! Counts the allocations of a piece of code. A test binary gets it by
//! `#[path = "support/allocations.rs"] mod allocations;`.

use futures_util::FutureExt;
use tower::Service;

/// How often a piece of code allocates on this thread; what it returns is dropped outside of the count.
pub(crate) fn allocations<T>(code: impl FnOnce() -> T) -> u64 {
    let mut kept = None;
    let counted = allocation_counter::measure(|| kept = Some(code()));
    drop(kept);
    counted.count_total
}

/// How often one call of a service allocates that is always ready and answers at once.
///
/// The first call does not count, so that what is made once and kept is not taken for the price of a call.
pub(crate) fn allocations_per_call<S, R>(service: &mut S, request: &R) -> u64
where
    S: Service<R>,
    S::Error: std::fmt::Debug,
    R: Clone,
{
    let mut call = || {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(service.poll_ready(&mut cx).is_ready(), "the service is always ready");
        service.call(request.clone()).now_or_never().expect("the service answers at once")
    };
    call().ok();
    allocations(call)
}
