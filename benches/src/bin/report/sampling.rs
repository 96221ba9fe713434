use std::time::Duration;

use tower_agent_benches::catalog::Entry;

/// Odd, so that there is a median.
const SAMPLES: usize = 21;
/// Long beside what a sample does not want to measure: the clock, an interrupt.
const SAMPLE: Duration = Duration::from_millis(12);

/// How long one round of a case takes, in nanoseconds.
pub(crate) struct Timing {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) best: f64,
    pub(crate) median: f64,
}

struct Sampled {
    entry: Entry,
    rounds: usize,
    samples: Vec<f64>,
}

/// Takes the samples of a group's cases in turn, so that a slow spell of the machine hits all of them.
pub(crate) fn sample(group: Vec<Entry>) -> Vec<Timing> {
    eprintln!("taking {SAMPLES} samples of {} cases", group.len());
    let mut cases: Vec<_> = group.into_iter().map(calibrate).collect();
    for _ in 0..SAMPLES {
        cases.iter_mut().for_each(Sampled::take);
    }
    cases.into_iter().map(Timing::from).collect()
}

/// Warms a case up and finds out how many rounds make a sample.
fn calibrate(mut entry: Entry) -> Sampled {
    let mut rounds = 1;
    while entry.case.time(rounds) < SAMPLE {
        rounds *= 2;
    }
    Sampled { entry, rounds, samples: Vec::with_capacity(SAMPLES) }
}

impl Sampled {
    fn take(&mut self) {
        let time = self.entry.case.time(self.rounds).as_secs_f64() * 1e9;
        self.samples.push(time / self.rounds as f64);
    }
}

impl From<Sampled> for Timing {
    fn from(sampled: Sampled) -> Self {
        let Sampled { entry: Entry { name, size, .. }, mut samples, .. } = sampled;
        samples.sort_by(f64::total_cmp);
        Self { name, size, best: samples[0], median: samples[SAMPLES / 2] }
    }
}
