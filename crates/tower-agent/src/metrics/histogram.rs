use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// The upper bounds of the buckets in microseconds: 1.25 ms, doubling 19 times to 655.36 s. Those that
/// OpenTelemetry advises for tools and models, 10 ms to 81.92 s, are among them.
const BOUNDS: [u64; 20] = {
    let mut bounds = [0; 20];
    let mut rest: &mut [u64] = &mut bounds;
    let mut bound = 1250;
    while let [first, others @ ..] = rest {
        *first = bound;
        bound *= 2;
        rest = others;
    }
    bounds
};

/// How long calls took, in buckets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Histogram {
    /// The upper bound of each bucket in seconds (inclusive), and how many calls lie between it and the bound before.
    pub buckets: Vec<(f64, u64)>,
    /// How many calls took longer than the last bound.
    pub above: u64,
    /// All durations together, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// How many calls there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.above.saturating_add(self.buckets.iter().map(|(_, count)| count).sum())
    }

    /// How many calls took at most as long as each bound, with the bounds in seconds.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        self.buckets.iter().scan(0, |below, (bound, count)| {
            *below += count;
            Some((*bound, *below))
        })
    }
}

/// The same, while it is counted.
#[derive(Debug, Default)]
pub(super) struct Durations {
    buckets: [AtomicU64; BOUNDS.len()],
    above: AtomicU64,
    micros: AtomicU64,
}

impl Durations {
    pub(super) fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.buckets.get(bucket).unwrap_or(&self.above).fetch_add(1, Relaxed);
        self.micros.fetch_add(micros, Relaxed);
    }

    pub(super) fn snapshot(&self) -> Histogram {
        let counts = self.buckets.iter().map(|count| count.load(Relaxed));
        Histogram {
            buckets: BOUNDS.into_iter().map(seconds).zip(counts).collect(),
            above: self.above.load(Relaxed),
            sum: seconds(self.micros.load(Relaxed)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact for 285 years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bounds_double_from_a_millisecond_to_eleven_minutes() {
        let bounds = BOUNDS.map(seconds);
        assert_eq!((bounds[0], bounds[3], bounds[16], bounds[19]), (0.00125, 0.01, 81.92, 655.36));
    }

    proptest! {
        #[test]
        fn every_duration_is_in_the_bucket_that_bounds_it(micros in proptest::collection::vec(0_u64..2_000_000_000, 0..50)) {
            let durations = Durations::default();
            for micros in &micros {
                durations.record(Duration::from_micros(*micros));
            }
            let histogram = durations.snapshot();
            prop_assert_eq!(histogram.count(), micros.len() as u64);
            for (bound, below) in histogram.cumulative() {
                let expected = micros.iter().filter(|micros| seconds(**micros) <= bound).count();
                prop_assert_eq!(below, expected as u64);
            }
            prop_assert!((histogram.sum - micros.iter().map(|m| seconds(*m)).sum::<f64>()).abs() < 1e-3);
        }
    }
}
