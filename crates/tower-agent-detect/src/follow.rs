//! What may stand where in the first bytes of a match.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::filter::{Classes, class_of};

/// How many bytes of a match are told.
const BYTES: usize = 16;

/// Places in a match, a bit for each.
type Places = u32;

/// Behind the last byte that is told.
const PAST: Places = 1 << BYTES;

/// What the first bytes of a match may be, each whatever the ones before it are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    bytes: [Classes; BYTES],
    /// Where a match may end.
    ends: Places,
}

impl Beginning {
    pub(crate) fn of(pattern: &Hir) -> Self {
        let mut beginning = Self { bytes: [0; BYTES], ends: 0 };
        beginning.ends = beginning.walk(pattern, 1);
        beginning
    }

    /// What stands at a place; none if a match may have ended before it, and anything may stand there.
    pub(crate) fn at(&self, place: usize) -> Option<Classes> {
        let bytes = self.bytes.get(place)?;
        let ended = self.ends & ((2 << place) - 1) != 0;
        (!ended).then_some(*bytes)
    }

    /// Notes what a part of the pattern puts where, if it begins at one of some places. Gives where it ends.
    fn walk(&mut self, part: &Hir, from: Places) -> Places {
        match part.kind() {
            HirKind::Empty | HirKind::Look(_) => from,
            HirKind::Literal(literal) => {
                literal.0.iter().fold(from, |from, byte| self.put(class_of(*byte), from))
            }
            HirKind::Class(class) => self.put(classes(class), from),
            HirKind::Capture(capture) => self.walk(&capture.sub, from),
            HirKind::Concat(parts) => parts.iter().fold(from, |from, part| self.walk(part, from)),
            HirKind::Alternation(parts) => {
                parts.iter().fold(0, |ends, part| ends | self.walk(part, from))
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX).min(BYTES as u32 + 1);
                let mut ends = if repetition.min == 0 { from } else { 0 };
                let mut from = from;
                for count in 1..=most {
                    from = self.walk(&repetition.sub, from);
                    if count >= repetition.min.min(most) {
                        ends |= from;
                    }
                }
                ends
            }
        }
    }

    fn put(&mut self, classes: Classes, from: Places) -> Places {
        for (place, bytes) in self.bytes.iter_mut().enumerate() {
            if from >> place & 1 == 1 {
                *bytes |= classes;
            }
        }
        (from << 1 | from & PAST) & ((PAST << 1) - 1)
    }
}

fn classes(class: &Class) -> Classes {
    let ranges: Vec<(u8, u8)> = match class {
        Class::Bytes(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        Class::Unicode(class) => {
            // What is no ASCII is several bytes, of any class.
            let range = |char: char| u8::try_from(char).ok().filter(u8::is_ascii);
            let ranges = class.iter().map(|it| Some((range(it.start())?, range(it.end())?)));
            ranges.collect::<Option<_>>().unwrap_or_else(|| vec![(0, u8::MAX)])
        }
    };
    ranges
        .into_iter()
        .flat_map(|(first, last)| first..=last)
        .fold(0, |set, byte| set | class_of(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(pattern: &str) -> Beginning {
        Beginning::of(&regex_syntax::Parser::new().parse(pattern).unwrap())
    }

    fn set(bytes: &str) -> Option<Classes> {
        Some(bytes.bytes().fold(0, |set, byte| set | class_of(byte)))
    }

    #[test]
    fn a_row_of_bytes_tells_each() {
        let it = beginning("(?-u:AC[0-9a-f]{32})");
        assert_eq!([it.at(0), it.at(1)], [set("A"), set("C")]);
        assert_eq!([it.at(2), it.at(BYTES - 1)], [set("0abcdef"), set("0abcdef")]);
        assert_eq!(it.at(BYTES), None, "so far nobody asks");
    }

    #[test]
    fn what_may_be_missing_moves_the_rest() {
        let it = beginning("(?-u:ab?(?:c|dd)x)");
        assert_eq!(it.at(1), set("bcd"));
        assert_eq!(it.at(2), set("cdx"));
        assert_eq!(it.at(3), None, "`acx` has ended");
    }

    #[test]
    fn repeats_reach_as_far_as_they_go() {
        let it = beginning("(?-u:a{2,}b{5})");
        assert_eq!(it.at(1), set("a"));
        assert_eq!(it.at(4), set("ab"));
        assert_eq!(beginning("(?-u:a+)").at(1), None);
    }
}
