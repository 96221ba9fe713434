//! The section about what was aimed at.

use detection_quality::{
    Differences,
    personal::Counted,
    secrets::{self, Report},
    verdicts,
};

use crate::{markdown::Table, masked::Judged, page::Measured, sources::Sources};

/// More false finds than these in 10 MB are too many.
const FALSE_FINDS: f64 = 1.0;

/// The lines of the table: what, aimed at, measured, and whether it was met.
struct Targets(Table);

pub(crate) fn write(measured: &Measured) -> String {
    let mut targets = Targets(Table::new(&["", "<aimed at", "measured", "<"]));
    targets.secrets(&measured.secrets);
    targets.verdicts("detect-secrets", &measured.verdicts, &measured.differences);
    measured.personal.iter().for_each(|counted| targets.personal(counted));
    targets.verdicts("presidio-analyzer", &measured.due, &measured.differences);
    measured.masked.iter().for_each(|judged| targets.masked(judged));
    targets.sources(&measured.sources);
    format!("### Targets\n\n{}", targets.0.end())
}

impl Targets {
    fn line(&mut self, what: &str, aim: &str, is: &str, met: bool) {
        self.0.row(&[&what, &aim, &is, &if met { "met" } else { "**missed**" }]);
    }

    fn secrets(&mut self, report: &Report) {
        let Report { found, agreed, flagged, .. } = report;
        self.line(
            "secrets found",
            &format!("at least {} %", secrets::FOUND),
            &found.to_string(),
            found.percent() >= secrets::FOUND,
        );
        self.line(
            "of those that kingfisher or detect-secrets find too",
            &format!("at least {} %", secrets::AGREED),
            &agreed.to_string(),
            agreed.percent() >= secrets::AGREED,
        );
        self.line(
            "samples of what a rule must not find, found by that rule",
            &format!("at most {} %", secrets::FLAGGED),
            &flagged.to_string(),
            flagged.percent() <= secrets::FLAGGED,
        );
    }

    fn verdicts(&mut self, whose: &str, report: &verdicts::Report, known: &Differences) {
        let open = report.differences.iter().filter(|one| known.reason(&one.id).is_none()).count();
        let what = format!("verdicts of the tests of {whose}, neither met nor explained");
        self.line(&what, "none", &open.to_string(), open == 0);
    }

    fn personal(&mut self, counted: &Counted) {
        let Counted { kind, found, extra, .. } = counted;
        self.line(
            &format!("`{}` found in sentences", kind.rule),
            &format!(
                "what presidio finds, {} of {}",
                kind.presidio.found.part, kind.presidio.found.whole
            ),
            &format!("{} of {}", found.part, found.whole),
            found.part >= kind.presidio.found.part,
        );
        self.line(
            &format!("`{}` found where there is none", kind.rule),
            &format!("no more than presidio, {}", kind.presidio.extra),
            &extra.to_string(),
            *extra <= kind.presidio.extra,
        );
    }

    fn masked(&mut self, judged: &Judged) {
        let finds = judged.inside.len();
        let what = format!("finds of {} in what was masked", judged.name);
        self.line(&what, "none", &finds.to_string(), finds == 0);
    }

    fn sources(&mut self, sources: &Sources) {
        for (set, places) in sources.sets() {
            let rate = sources.per_10_mb(places.iter().filter(|place| place.is_false()).count());
            self.line(
                &format!("false finds of {set} in 10 MB of sources"),
                &format!("fewer than {FALSE_FINDS}"),
                &format!("{rate:.2}"),
                rate < FALSE_FINDS,
            );
        }
    }
}
