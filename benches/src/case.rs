//! One thing to measure.

use std::{
    future::Future,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use cpu_time::ThreadTime;

/// Inputs that are made ahead of the clock: enough that reading the clock costs nothing, few enough to stay in the cache.
const BATCH: usize = 256;

/// What to do again and again, and how to make its input, which is not measured. Nor is the drop of what it returns.
pub struct Case<I, O> {
    prepare: Box<dyn FnMut() -> I>,
    run: Box<dyn FnMut(I) -> O>,
    batch: usize,
}

impl<I, O> Case<I, O> {
    /// Puts a case together.
    pub fn new(prepare: impl FnMut() -> I + 'static, run: impl FnMut(I) -> O + 'static) -> Self {
        Self { prepare: Box::new(prepare), run: Box::new(run), batch: BATCH }
    }

    /// Makes fewer inputs, and keeps fewer outputs, at a time.
    #[must_use]
    pub fn in_batches_of(mut self, batch: usize) -> Self {
        self.batch = batch.max(1);
        self
    }

    /// Both halves, for a harness of another's making.
    pub fn into_parts(self) -> (Box<dyn FnMut() -> I>, Box<dyn FnMut(I) -> O>) {
        (self.prepare, self.run)
    }
}

/// A case whose input and output are nobody's business.
pub trait Measured {
    /// The time of the processor that so many rounds take on this thread.
    fn time(&mut self, rounds: usize) -> Duration;

    /// Hands one round, its input ready, to an observer who runs it once.
    fn observe(&mut self, observer: &mut dyn FnMut(&mut dyn FnMut()));

    /// Runs so many rounds and nothing else.
    fn repeat(&mut self, rounds: usize);
}

impl<I, O> Measured for Case<I, O> {
    fn time(&mut self, rounds: usize) -> Duration {
        let mut taken = Duration::ZERO;
        let mut left = rounds;
        while left > 0 {
            let batch = left.min(self.batch);
            left -= batch;
            let inputs: Vec<_> = (0..batch).map(|_| (self.prepare)()).collect();
            let mut outputs = Vec::with_capacity(batch);
            let start = ThreadTime::now();
            for input in inputs {
                outputs.push((self.run)(black_box(input)));
            }
            taken += start.elapsed();
            drop(black_box(outputs));
        }
        taken
    }

    fn observe(&mut self, observer: &mut dyn FnMut(&mut dyn FnMut())) {
        let mut input = Some((self.prepare)());
        let mut output = None;
        observer(&mut || output = input.take().map(|input| (self.run)(input)));
        drop(black_box(output));
    }

    fn repeat(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let input = (self.prepare)();
            black_box((self.run)(black_box(input)));
        }
    }
}

/// What a future that is ready at once resolves to.
///
/// # Panics
/// When it is not, as then something else than the stack would be measured.
pub fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a measured future had to wait"),
    }
}
