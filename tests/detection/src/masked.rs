//! What real scanners still find in texts that were masked.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::Path,
};

use detection_quality::{Engine, Result, Secret};

use crate::scanners::{self, Reported, Scanner};

/// What the label of something masked begins with. It ends with a bracket.
const LABEL: &str = "[REDACTED:";

/// What one scanner said.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The scanner.
    pub(crate) name: &'static str,
    /// Texts.
    pub(crate) texts: usize,
    /// Texts in which it found something before they were masked.
    pub(crate) before: usize,
    /// Its finds in what was masked: each a row and the scanner's rule.
    pub(crate) inside: BTreeSet<(String, String)>,
    /// How many of them are a label, or a piece of one, and nothing else.
    pub(crate) labels: usize,
    /// Its finds where nothing was masked, which the engine missed.
    pub(crate) outside: BTreeSet<(String, String)>,
}

/// Lets the scanners look at all positives, as they are and masked.
pub(crate) fn measure(
    engine: &Engine,
    secrets: &[Secret],
    programs: &Path,
    work: &Path,
) -> Result<Vec<Judged>> {
    let positives = secrets.iter().map(|secret| &secret.sample).filter(|sample| sample.positive);
    let plain: BTreeMap<_, _> =
        positives.map(|sample| (sample.id.as_str(), sample.text.clone())).collect();
    let masked: BTreeMap<_, _> =
        plain.iter().map(|(id, text)| (*id, engine.masked(text))).collect();
    let (before, after) = (work.join("plain"), work.join("masked"));
    write(&before, &plain)?;
    write(&after, &masked)?;
    let judged = scanners::ALL.iter().map(|scanner| {
        let found = scanner.scan(programs, &before)?;
        judge(scanner, &found, &scanner.scan(programs, &after)?, &masked)
    });
    let judged = judged.collect::<Result<Vec<_>>>()?;
    fs::remove_dir_all(before)?;
    fs::remove_dir_all(after)?;
    Ok(judged)
}

/// One file for each text, in a folder that holds nothing else.
fn write(folder: &Path, texts: &BTreeMap<&str, String>) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (id, text) in texts {
        fs::write(folder.join(format!("{id}.txt")), text)?;
    }
    Ok(())
}

fn judge(
    scanner: &Scanner,
    before: &[Reported],
    after: &[Reported],
    texts: &BTreeMap<&str, String>,
) -> Result<Judged> {
    let before: BTreeSet<_> = before.iter().map(|found| &found.file).collect();
    if before.is_empty() {
        return Err(format!("{} finds nothing even in plain texts", scanner.name).into());
    }
    let mut judged = Judged {
        name: scanner.name,
        texts: texts.len(),
        before: before.len(),
        inside: BTreeSet::new(),
        labels: 0,
        outside: BTreeSet::new(),
    };
    for found in after {
        let text = texts.get(found.file.as_str()).ok_or("a scanner found a file of its own")?;
        let what = (found.file.clone(), found.rule.clone());
        let touch = touch(text, found);
        let finds = if touch == Touch::None { &mut judged.outside } else { &mut judged.inside };
        if finds.insert(what) && touch == Touch::Label {
            judged.labels += 1;
        }
    }
    Ok(judged)
}

/// What a find has to do with the labels of its text.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Touch {
    /// It has no byte in common with any.
    None,
    /// It is a label, or a piece of one.
    Label,
    /// It has bytes in common with a label, and others.
    Both,
}

/// What was decoded does not stand in the text, and goes by its lines.
fn touch(text: &str, found: &Reported) -> Touch {
    let values = text.match_indices(&found.value).map(|(at, value)| at..at + value.len());
    let mut places: Vec<_> = values.filter(|place| !place.is_empty()).collect();
    if places.is_empty() {
        places.push(lines(text, found.lines));
    }
    let labels = labels(text);
    let touches = |place: &Range<usize>| {
        if labels.iter().any(|label| label.start <= place.start && place.end <= label.end) {
            Touch::Label
        } else if labels.iter().any(|label| label.start < place.end && place.start < label.end) {
            Touch::Both
        } else {
            Touch::None
        }
    };
    places.iter().map(touches).max().unwrap_or(Touch::None)
}

fn labels(text: &str) -> Vec<Range<usize>> {
    let begins = text.match_indices(LABEL).map(|(at, _)| at);
    begins.filter_map(|at| Some(at..at + text.get(at..)?.find(']')? + 1)).collect()
}

/// The bytes of some lines, from one, the last one included.
fn lines(text: &str, (first, last): (usize, usize)) -> Range<usize> {
    let ends: Vec<_> = text.match_indices('\n').map(|(at, _)| at).collect();
    let end_of = |line: usize| line.checked_sub(1).and_then(|line| ends.get(line)).copied();
    let start = first.checked_sub(1).and_then(end_of).map_or(0, |end| end + 1);
    start..end_of(last).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: &str, lines: (usize, usize)) -> Reported {
        Reported { file: String::new(), rule: String::new(), value: value.to_owned(), lines }
    }

    #[test]
    fn a_find_with_a_piece_of_a_label_is_one_in_what_was_masked() {
        let text = "key = [REDACTED:some-key]\nother = swordfish\n";
        assert_eq!(touch(text, &found("REDACTED", (1, 1))), Touch::Label);
        assert_eq!(touch(text, &found("[REDACTED:some-key]", (1, 1))), Touch::Label);
        assert_eq!(touch(text, &found("key = [REDACTED", (1, 1))), Touch::Both);
        assert_eq!(touch(text, &found("swordfish", (2, 2))), Touch::None);
    }

    #[test]
    fn what_was_decoded_goes_by_its_lines() {
        let text = "key = [REDACTED:some-key]\nother = c3dvcmRmaXNo\n";
        assert_eq!(touch(text, &found("decoded", (1, 1))), Touch::Both);
        assert_eq!(touch(text, &found("decoded", (2, 2))), Touch::None);
        assert_eq!(touch(text, &found("decoded", (1, 2))), Touch::Both);
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(lines("ab\ncd\nef", (1, 1)), 0..2);
        assert_eq!(lines("ab\ncd\nef", (2, 3)), 3..8);
    }
}
