//! Cuts the texts of an output, which share one limit.

use crate::{Content, Json, Mark, Output, Str, ToolOutput};

use super::{Keep, Unit, prune::Pruner};

/// The shortest limit that has room for a word about the cut.
const ROOM_FOR_A_NOTE: usize = 16;
const SHORT_NOTE: &str = "[cut]";

/// How much of an output is kept, and which part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Policy {
    pub(super) limit: usize,
    pub(super) unit: Unit,
    pub(super) keep: Keep,
}

impl Policy {
    /// Cuts an output that is too long; one that is not costs no allocation.
    pub(super) fn apply(self, output: &mut ToolOutput) {
        let texts_fit = self.fits(texts(&output.content));
        let value_fits = self.fits(output.structured.iter().map(Json::as_str));
        if texts_fit && value_fits {
            return;
        }
        let value = output.structured.as_ref().map(|json| Str::from(json.as_str()));
        let mut value_cut = None;
        let sizes = if texts_fit {
            value_cut = value.as_deref().and_then(|text| self.pruner().prune(text, self.limit));
            (self.total(value.as_deref()), self.total(value_cut.as_deref()))
        } else {
            let before = self.total(texts(&output.content));
            let content = std::mem::take(&mut output.content);
            let mut cutter = Cutter { plan: Plan::new(self, before, &content), start: 0 };
            for block in content {
                let same = value.as_deref().is_some() && block.as_text() == value.as_deref();
                if let Some(block) = cutter.block(block) {
                    if same {
                        value_cut = block.as_text().map(str::to_owned);
                    }
                    output.content.push(block);
                }
            }
            if value_cut.is_none() && !value_fits {
                value_cut = value.as_deref().and_then(|text| self.pruner().prune(text, self.limit));
            }
            (before, self.total(texts(&output.content)))
        };
        if let Some(text) = value_cut {
            output.structured = Some(Json::from_text(text));
        }
        let detail = format!("{} of {} {}", sizes.1, sizes.0, self.unit.as_str());
        output.provenance_mut().mark(Mark::new("truncate", "cut").detail(detail));
    }

    fn fits<'a>(self, texts: impl Iterator<Item = &'a str> + Clone) -> bool {
        // No text has more characters than bytes, so short ones need not be counted.
        let bytes = texts.clone().map(str::len).fold(0, usize::saturating_add);
        bytes <= self.limit || (self.unit != Unit::Bytes && self.total(texts) <= self.limit)
    }

    fn total<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> usize {
        texts.into_iter().map(|text| self.unit.measure(text)).fold(0, usize::saturating_add)
    }

    const fn pruner(self) -> Pruner {
        Pruner { unit: self.unit, keep: self.keep }
    }
}

fn texts(content: &[Content]) -> impl Iterator<Item = &str> + Clone {
    content.iter().filter_map(Content::as_text)
}

/// Where the texts are cut, in units of all of them together: everything from `head` up to the last `tail` goes.
struct Plan {
    policy: Policy,
    total: usize,
    head: usize,
    tail: usize,
    note: Note,
}

/// What the model reads about the cut.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Note {
    None,
    Short,
    Full,
}

impl Plan {
    fn new(policy: Policy, total: usize, content: &[Content]) -> Self {
        let mut plan = Self { policy, total, head: total, tail: total, note: Note::Full };
        if policy.limit < ROOM_FOR_A_NOTE {
            plan.note = Note::None;
        } else if plan.note_text().len() > policy.limit / 2 {
            plan.note = Note::Short;
        }
        let room = policy.limit - plan.note_text().len();
        plan.head = policy.keep.head_of(room);
        plan.tail = room - plan.head;
        plan.round(content);
        plan
    }

    /// Moves both ends to borders between characters, so that the note tells the sizes as they are.
    fn round(&mut self, content: &[Content]) {
        let unit = self.policy.unit;
        self.head = rounded(texts(content), self.head, unit, |text, size| unit.head(text, size));
        let backwards: Vec<_> = texts(content).collect();
        let backwards = backwards.into_iter().rev();
        self.tail = rounded(backwards, self.tail, unit, |text, size| unit.tail(text, size));
    }

    fn note_text(&self) -> String {
        let Self { total, head, tail, .. } = self;
        let unit = self.policy.unit.as_str();
        match (self.note, self.policy.keep) {
            (Note::None, _) => String::new(),
            (Note::Short, _) => SHORT_NOTE.to_owned(),
            (Note::Full, Keep::Head) => {
                format!("\n\n[cut: the first {head} of {total} {unit} are shown]")
            }
            (Note::Full, Keep::Tail) => {
                format!("[cut: the last {tail} of {total} {unit} are shown]\n\n")
            }
            (Note::Full, Keep::HeadAndTail) => format!(
                "\n\n[cut: the first {head} and the last {tail} of {total} {unit} are shown]\n\n"
            ),
        }
    }
}

fn rounded<'a>(
    texts: impl Iterator<Item = &'a str>,
    size: usize,
    unit: Unit,
    part: impl Fn(&'a str, usize) -> &'a str,
) -> usize {
    let mut kept = 0;
    for text in texts {
        let whole = unit.measure(text);
        if kept + whole > size {
            return kept + unit.measure(part(text, size - kept));
        }
        kept += whole;
    }
    kept
}

struct Cutter {
    plan: Plan,
    /// Where the next text starts.
    start: usize,
}

impl Cutter {
    /// The block as far as it is kept; nothing if it was a text of which nothing is.
    fn block(&mut self, mut block: Content) -> Option<Content> {
        let Some(text) = block.text_mut() else { return Some(block) };
        let size = self.plan.policy.unit.measure(text);
        let start = self.start;
        self.start += size;
        let head = size.min(self.plan.head.saturating_sub(start));
        let tail = size.min(self.start.saturating_sub(self.plan.total - self.plan.tail));
        if head + tail >= size {
            return Some(block);
        }
        *text = self.text(text, (head, tail), self.has_note(start)).into();
        let gone = text.is_empty() && matches!(block, Content::Text(_));
        (!gone).then_some(block)
    }

    /// Whether the text from `start` on is the one in which the note stands: at its side of what was cut.
    fn has_note(&self, start: usize) -> bool {
        let Plan { total, head, tail, policy, .. } = &self.plan;
        let at = if policy.keep == Keep::Tail { total - tail - 1 } else { *head };
        (start..self.start).contains(&at)
    }

    fn text(&self, text: &str, (head, tail): (usize, usize), noted: bool) -> String {
        let Policy { unit, .. } = self.plan.policy;
        let note = if noted { self.plan.note_text() } else { String::new() };
        let pruner = self.plan.policy.pruner();
        if let Some(pruned) = pruner.prune(text, head + tail + note.len()) {
            return pruned;
        }
        format!("{}{note}{}", unit.head(text, head), unit.tail(text, tail))
    }
}
