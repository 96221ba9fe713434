//! How far stretches of one kind of bytes go, so that none is read again at each word that stands in it.

/// How far behind the end of what was seen of a stretch one may ask for it and still hear of the whole, in bytes.
const NEAR: usize = 16;

/// A set of bytes, a bit for each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Class([u64; 4]);

/// The latest stretches of some classes.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: [Run; 8],
    next: usize,
    pub(crate) value: Walked,
    signless: Signless,
}

/// How far the look for an `@` goes ahead of what is asked, in bytes.
const AHEAD: usize = 4 << 10;

/// A stretch without an `@`.
#[derive(Debug, Default)]
struct Signless {
    from: usize,
    to: usize,
}

/// How far the latest look for the end of a value without quotes has come. It ends where any other one does that begins
/// within it, so that values within values are not walked again and again.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    from: usize,
    /// No value that begins between the two ends before this place.
    to: usize,
}

impl Walked {
    /// Where to look on for the end of a value.
    pub(crate) fn place(&self, start: usize) -> usize {
        if (self.from..=self.to).contains(&start) { self.to } else { start }
    }

    pub(crate) fn note(&mut self, start: usize, to: usize) {
        if !(self.from..=self.to).contains(&start) {
            (self.from, self.to) = (start, to);
        }
        self.to = self.to.max(to);
    }
}

/// A stretch that holds nothing but bytes of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    class: Class,
    from: usize,
    end: usize,
    /// Whether the byte at the end is known to be none of the class.
    closed: bool,
}

impl Class {
    pub(crate) fn put(&mut self, byte: u8) {
        if let Some(bits) = self.0.get_mut(usize::from(byte >> 6)) {
            *bits |= 1 << (byte & 63);
        }
    }

    #[inline]
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|bits| bits >> (byte & 63) & 1 == 1)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }
}

impl FromIterator<u8> for Class {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut class = Self::default();
        bytes.into_iter().for_each(|byte| class.put(byte));
        class
    }
}

impl Run {
    /// Sees how far it goes, up to a place.
    fn follow(&mut self, bytes: &[u8], limit: usize) {
        if self.closed || self.end >= limit {
            return;
        }
        let rest = bytes.get(self.end..limit).unwrap_or_default();
        let more = rest.iter().position(|byte| !self.class.has(*byte));
        self.end += more.unwrap_or(rest.len());
        self.closed = more.is_some();
    }
}

impl Runs {
    /// Where the bytes of a class that begin at a place end; `limit`, if they go on there.
    pub(crate) fn end(&mut self, bytes: &[u8], class: &Class, at: usize, limit: usize) -> usize {
        let limit = limit.min(bytes.len());
        let known = self.runs.iter().position(|run| run.class == *class);
        let place = known.unwrap_or_else(|| {
            self.next = (self.next + 1) % self.runs.len();
            self.next
        });
        let Some(run) = self.runs.get_mut(place) else { return at };
        if known.is_some() && at > run.end && at - run.end <= NEAR {
            run.follow(bytes, at);
        }
        if known.is_none() || !(run.from..=run.end).contains(&at) {
            *run = Run { class: *class, from: at, end: at, closed: false };
        }
        run.follow(bytes, limit);
        run.end.min(limit).max(at)
    }

    /// Whether there is no `@` from one place up to another.
    pub(crate) fn has_no_sign(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        let (run, to) = (&mut self.signless, to.min(bytes.len()));
        if !(run.from..=run.to).contains(&from) {
            *run = Signless { from, to: from };
        }
        if run.to < to {
            // What stands there is asked about soon.
            let rest = bytes.get(run.to..bytes.len().min(to + AHEAD)).unwrap_or_default();
            run.to += memchr::memchr(b'@', rest).unwrap_or(rest.len());
        }
        run.to >= to
    }

    /// Places have moved.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn a_run_ends_where_one_would_see_it_end(
            text in "[abcd]{0,40}[ab]{0,40}[a-e]{0,40}",
            asked in vec((0_usize..2, 0_usize..120, 0_usize..140), 1..40),
        ) {
            let classes = ["ab", "abc"].map(|class| class.bytes().collect::<Class>());
            let mut runs = Runs::default();
            for (which, at, limit) in asked {
                let at = at.min(text.len());
                let limit = limit.clamp(at, text.len());
                let stretch = &text.as_bytes()[at..limit];
                let seen = stretch.iter().take_while(|byte| classes[which].has(**byte)).count();
                prop_assert_eq!(
                    runs.end(text.as_bytes(), &classes[which], at, limit),
                    at + seen
                );
            }
        }
    }

    proptest! {
        #[test]
        fn a_sign_is_seen_wherever_one_asks(
            text in "[a@ ]{0,40}|a{0,90}@?a{0,9}",
            asked in vec((0_usize..100, 0_usize..100), 1..20),
        ) {
            let mut runs = Runs::default();
            for (from, len) in asked {
                let (from, to) = (from.min(text.len()), from + len);
                let asked = &text.as_bytes()[from..to.clamp(from, text.len())];
                let alone = !asked.contains(&b'@');
                prop_assert_eq!(runs.has_no_sign(text.as_bytes(), from, to), alone, "{}..{}", from, to);
            }
        }
    }
}
