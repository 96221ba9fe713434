//! The section about other people's sources.

use std::collections::BTreeMap;

use crate::{
    markdown::{Table, code, list},
    sources::{Place, Sources},
};

/// More rows than these are only counted.
const MOST_ROWS: usize = 200;
/// More lines of one file than these are only counted.
const MOST_LINES: usize = 4;
const MB: f64 = 1e6;

impl Sources {
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    fn megabytes(&self) -> f64 {
        self.bytes as f64 / MB
    }

    /// Both sets, each with its name.
    pub(crate) fn sets(&self) -> [(&'static str, &[Place]); 2] {
        [("secrets", &self.secrets), ("personal data", &self.personal)]
    }

    /// So many finds, for 10 MB of what was read.
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
    pub(crate) fn per_10_mb(&self, finds: usize) -> f64 {
        10.0 * finds as f64 / self.megabytes()
    }
}

impl Place {
    /// Whether nobody knows that it is real.
    pub(crate) fn is_false(&self) -> bool {
        self.real != Some(true)
    }
}

pub(crate) fn write(sources: &Sources) -> String {
    let mut text = format!(
        "### Over-matching: the sources of other crates\n\nRead: {:.0} MB, {} files of {} crates; {} more files are not \
         text.\n\n",
        sources.megabytes(),
        sources.files,
        sources.packages,
        sources.binary
    );
    for (set, places) in sources.sets() {
        let falsely = places.iter().filter(|place| place.is_false()).count();
        text += &format!(
            "#### Finds of {set}\n\n{} finds, {falsely} of them not known to be real: {:.2} per 10 MB.\n\n{}{}",
            places.len(),
            sources.per_10_mb(falsely),
            rules(places),
            files(places)
        );
    }
    text
}

fn rules(places: &[Place]) -> String {
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for place in places {
        let [real, falsely, open] = counts.entry(&place.rule).or_default();
        match place.real {
            Some(true) => *real += 1,
            Some(false) => *falsely += 1,
            None => *open += 1,
        }
    }
    let mut table = Table::new(&["rule", "finds", "real", "false", "not judged"]);
    for (rule, [real, falsely, open]) in counts {
        table.row(&[&code(rule), &(real + falsely + open), &real, &falsely, &open]);
    }
    table.end()
}

/// Where the finds are, one row for each rule in each file; those first that are not known to be real.
fn files(places: &[Place]) -> String {
    let mut rows: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for Place { package, file, line, rule, real } in places {
        let order = real.map_or(1, |real| if real { 2 } else { 0 });
        rows.entry((order, package, file, rule)).or_default().push(*line);
    }
    let mut table = Table::new(&["crate", "<file: lines", "<rule", "<real"]);
    for ((order, package, file, rule), lines) in rows.iter().take(MOST_ROWS) {
        let place = format!("{file}: {}", shown(lines));
        let real = ["no", "not judged", "yes"].get(*order).copied().unwrap_or_default();
        table.row(&[package, &place, &code(rule), &real]);
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    let rest = if more == 0 { String::new() } else { format!("And {more} more rows.\n\n") };
    table.end() + &rest
}

fn shown(lines: &[usize]) -> String {
    let first = list(lines.iter().take(MOST_LINES));
    match lines.len().saturating_sub(MOST_LINES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
