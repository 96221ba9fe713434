//! The verdicts of another scanner's tests.

use std::collections::BTreeMap;

use crate::{Engine, Find, Sample, Share};

/// What was counted on the verdicts.
#[derive(Debug, Default)]
pub struct Report {
    /// Verdicts that were met, of positives and of negatives, by the scanner's detector.
    pub detectors: BTreeMap<String, (Share, Share)>,
    /// Verdicts that were not.
    pub differences: Vec<Difference>,
}

/// A verdict that was not met.
#[derive(Debug)]
pub struct Difference {
    /// The row's id.
    pub id: String,
    /// The detector, or the kind, that the row is about.
    pub kind: String,
    /// Whether something should be found.
    pub positive: bool,
    /// The rules that found something.
    pub rules: Vec<String>,
}

impl Report {
    /// Verdicts that were met.
    #[must_use]
    pub fn met(&self) -> Share {
        let all = self.detectors.values().flat_map(|(positive, negative)| [positive, negative]);
        all.fold(Share::default(), |sum, share| Share {
            part: sum.part + share.part,
            whole: sum.whole + share.whole,
        })
    }

    fn note(&mut self, sample: &Sample, met: bool, finds: &[Find]) {
        let (positive, negative) = self.detectors.entry(sample.kind.clone()).or_default();
        if sample.positive { positive } else { negative }.add(met);
        if !met {
            self.differences.push(Difference {
                id: sample.id.clone(),
                kind: sample.kind.clone(),
                positive: sample.positive,
                rules: finds.iter().map(|find| find.rule.clone()).collect(),
            });
        }
    }
}

/// The detector that is about personal data; the others are about secrets.
const ADDRESSES: (&str, &str) = ("ip_public", "ip-address");

/// Looks for whatever the verdicts are about. A find by any rule of the set is a find.
#[must_use]
pub fn measure(engine: &Engine, samples: &[Sample]) -> Report {
    let mut report = Report::default();
    for sample in samples {
        let finds = finds(engine, sample);
        report.note(sample, sample.positive != finds.is_empty(), &finds);
    }
    report
}

fn finds(engine: &Engine, sample: &Sample) -> Vec<Find> {
    if sample.kind == ADDRESSES.0 {
        let mut finds = engine.personal(&sample.text);
        finds.retain(|find| find.rule == ADDRESSES.1);
        finds
    } else {
        engine.secrets(&sample.text)
    }
}

/// Looks for the personal data of some kinds, each by the rule that is about it: as many finds are due as the row
/// says, one on each span that it names.
#[must_use]
pub fn measure_due(engine: &Engine, due: &[crate::Due], kinds: &[(&str, &str)]) -> Report {
    let mut report = Report::default();
    for crate::Due { sample, count } in due {
        let Some((_, rule)) = kinds.iter().find(|(kind, _)| *kind == sample.kind) else { continue };
        let mut finds = engine.personal(&sample.text);
        finds.retain(|find| find.rule == *rule);
        let placed = sample.spans.iter().all(|span| finds.iter().any(|find| find.overlaps(span)));
        report.note(sample, finds.len() == *count && placed, &finds);
    }
    report
}
