//! Looks for everything that a choice of rules is about, in whatever of a text has come so far.

mod build;
mod judged;
mod long;
mod look;
mod personal;
mod scan;
mod touching;
mod wrapped;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use regex_automata::{Input, meta::Regex};

use self::{judged::AfterMask, long::Gone, touching::Beginnings};
use crate::{
    assign::{self, Closing},
    decode::Progress,
    detector::is_built_in,
    filter::{Around, Filter, Kind, Occurrence},
    key_block,
    mask::{self, Mask},
    personal::{Personal, Progresses},
    pii::{self, Found},
    rule::Rule,
    tail::{Held, News, Tail, Walk},
    text::{End, Text, Verdict},
    trail::Trails,
};

/// How addresses of wallets begin that have a mark of their own.
const WALLETS: [&str; 17] = [
    "bc1", "0x0", "0x1", "0x2", "0x3", "0x4", "0x5", "0x6", "0x7", "0x8", "0x9", "0xa", "0xb",
    "0xc", "0xd", "0xe", "0xf",
];

/// A choice of rules, ready to search.
#[derive(Debug)]
pub(crate) struct Engine {
    rules: Vec<Arc<Rule>>,
    filter: Filter,
    /// What to try for each word of the filter.
    targets: Vec<Vec<(Target, Around)>>,
    beginnings: Beginnings,
    /// The rules of what is recognised by code, by their ids.
    built_in: HashMap<String, u32>,
    /// The rules of what may stand where a run of Base64 begins.
    runs: Vec<(u32, Around)>,
    personal: Personal,
    allow: Allow,
    tail: Tail,
}

/// Values that are never masked.
#[derive(Debug, Default)]
pub(crate) struct Allow {
    pub(crate) values: HashSet<Vec<u8>>,
    pub(crate) patterns: Vec<Regex>,
}

/// Something that may stand where a word was seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Target {
    Token(u32),
    Key(u32),
    /// One of [`judge::NAMES`].
    Name(u32),
    KeyBlock(u32),
    /// What follows a part of a key block that was as long as a part may be.
    KeyRest(u32),
    Wallet(u32),
    /// What goes on of a value that was as long as a part may be.
    Rest(u32, Closing),
    /// What touches the end of something that was found.
    Touching,
    /// A number behind the end of something that was found.
    Behind,
}

/// Something found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Hit {
    pub(crate) rule: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A place of which what follows decides.
#[derive(Clone, Copy, Debug)]
struct Open {
    target: Target,
    start: usize,
    end: usize,
}

/// How far the search of a text has come. All places are those of the text that is searched.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    words_from: usize,
    /// Whether there was nothing to be looked at again when anything was last seen.
    is_calm: bool,
    percent: Progress,
    base64: Progress,
    personal: Progresses,
    /// What was found of personal data, until it gets its rule.
    found: Vec<Found>,
    /// Whether this is the search of something that was wrapped, in which nothing more is unwrapped.
    inside: bool,
    open: Vec<Open>,
    trails: Trails,
    gone: Option<Gone>,
    /// Places at which something was found that touches what was found before it.
    touched: BTreeSet<usize>,
    /// What the text ends with, while it goes on.
    held: Held,
    pub(crate) hits: Vec<Hit>,
}

impl Engine {
    pub(crate) fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// Whether a text in the form of a placeholder holds nothing but what a mask writes into one.
    pub(crate) fn wrote(&self, mask: &Mask, placeholder: Option<&[u8]>) -> bool {
        let Some(text) = placeholder.and_then(|text| std::str::from_utf8(text).ok()) else {
            return false;
        };
        let parts = text.strip_prefix(mask::OPENING).and_then(|text| text.strip_suffix(']'));
        // Any other text that stands for a value was chosen by whoever runs this.
        let Some(parts) = parts.filter(|_| !mask.is_always(text)) else { return true };
        let mut parts = parts.split(':').skip(1);
        let known = |id: &str| {
            id == mask::name("") || self.rules.iter().any(|rule| rule.id() == id) || is_built_in(id)
        };
        parts.next().is_none_or(known) && parts.next().is_none_or(mask::is_tag)
    }

    /// Looks at what has come since the last time, and at what was undecided.
    ///
    /// Gives how far the text is settled: whatever follows, nothing that begins before that place will still be found.
    pub(crate) fn advance(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        if text.end() == End::More {
            return self.go_on(text, scan);
        }
        scan.catch_up();
        self.look(text, scan)
    }

    /// Does the same for a text that goes on.
    #[inline(always)]
    pub(crate) fn go_on(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        let (bytes, from) = (text.bytes(), scan.words_from);
        let new = bytes.get(from..).unwrap_or_default();
        if new.len() > News::MOST {
            return self.look_back(text, scan);
        }
        let walk = scan.held.walk(new, &self.filter);
        if scan.is_calm
            && let Some(held) = self.tail.passes(bytes, &mut scan.held, &walk)
        {
            scan.words_from = text.len();
            return held;
        }
        self.went_on(text, scan, &walk)
    }

    /// Does the same where something may come of the last bytes.
    #[inline(never)]
    fn went_on(&self, text: &Text<'_>, scan: &mut Scan, walk: &Walk) -> usize {
        let (bytes, base64) = (text.bytes(), scan.held.base64());
        let news = scan.held.take(bytes, scan.words_from, walk, scan.base64.floor);
        if scan.is_calm && news.is_quiet() {
            scan.words_from = text.len();
            return self.tail.hold(bytes, &mut scan.held, self.personal.kinds);
        }
        self.glance(text, scan, (news, base64))
    }

    /// Looks at what the filter saw. Gives how far the text is settled, and where numbers are of interest again.
    fn seen(&self, text: &Text<'_>, seen: Occurrence, scan: &mut Scan) -> (usize, usize) {
        let Scan { personal, found, .. } = scan;
        match seen.kind {
            Kind::Word(word) => (self.word(text, word, seen, scan), 0),
            Kind::Digits => {
                let begins = personal.numbers.seen(text, seen.start, pii::number, found);
                (begins, personal.numbers.from(text))
            }
            Kind::Hex => {
                let begins = personal.hexes.seen(text, seen.start, pii::hex, found);
                (begins, personal.hexes.from(text))
            }
            // Nobody asks for them here.
            Kind::Base64 => (text.len(), 0),
        }
    }

    /// Looks at what touches anything that was found, and leaves out what is allowed.
    fn rest(&self, text: &Text<'_>, scan: &mut Scan) -> usize {
        let settled = self.touching(text, scan);
        scan.calm_down();
        if !self.allow.is_empty() {
            scan.hits.retain(|hit| !self.allow.allows(text.bytes().get(hit.start..hit.end)));
        }
        settled
    }

    /// Tries everything that a word stands for.
    fn word(&self, text: &Text<'_>, word: u32, seen: Occurrence, scan: &mut Scan) -> usize {
        let targets = self.targets.get(word as usize).map_or(&[][..], Vec::as_slice);
        let mut settled = text.len();
        // All rules about names share one look for the value.
        let mut value = None;
        for &(target, around) in targets {
            if !around.fits(text.bytes(), seen.start, seen.end) {
                continue;
            }
            let open = Open { target, start: seen.start, end: seen.end };
            let Target::Key(rule) = target else {
                settled = settled.min(self.visit(text, open, scan));
                continue;
            };
            let value =
                value.get_or_insert_with(|| assign::value_after(text, seen.start, seen.end));
            let verdict = match value {
                Ok(value) => self.key(text, rule, (value, seen.start), &mut scan.trails),
                Err(verdict) => *verdict,
            };
            settled = settled.min(self.keep(text, open, (verdict, rule), scan));
        }
        settled
    }

    /// Judges one place, and keeps what comes of it.
    fn visit(&self, text: &Text<'_>, open: Open, scan: &mut Scan) -> usize {
        let Open { target, start, end } = open;
        let (verdict, rule) = match target {
            Target::Token(rule) => {
                let border = if scan.inside { AfterMask::Unknown } else { AfterMask::Border };
                (self.token(text, rule, (start, border), &mut scan.trails), rule)
            }
            Target::Key(rule) => match assign::value_after(text, start, end) {
                Ok(value) => (self.key(text, rule, (&value, start), &mut scan.trails), rule),
                Err(verdict) => (verdict, rule),
            },
            Target::Name(name) => self.name(text, name, (start, end), &mut scan.trails),
            Target::KeyBlock(rule) => (key_block::block(text, start, end), rule),
            Target::KeyRest(rule) => (key_block::rest(text, start), rule),
            Target::Wallet(rule) => (pii::wallet(text, start), rule),
            Target::Rest(rule, closing) => {
                return self.rest_of_value(text, (rule, closing), start, scan);
            }
            Target::Touching => return self.touch(text, start, scan),
            Target::Behind => return self.behind(text, start, scan),
        };
        self.keep(text, open, (verdict, rule), scan)
    }

    /// Keeps what comes of a place.
    #[inline]
    fn keep(
        &self,
        text: &Text<'_>,
        open: Open,
        (verdict, rule): (Verdict, u32),
        scan: &mut Scan,
    ) -> usize {
        match verdict {
            Verdict::Nothing => return text.len(),
            Verdict::Undecided(begins) => {
                scan.open.push(open);
                return begins.min(text.len());
            }
            // It would reach into what was masked.
            Verdict::Found(_, end) if end > text.len() => {}
            Verdict::Found(start, end) => {
                let hit = Hit { rule, start, end };
                scan.hits.push(hit);
                if let Target::Name(name) = open.target {
                    return self.rest_of_name(text, (name, (open.start, open.end)), hit, scan);
                }
                if matches!(open.target, Target::KeyBlock(_) | Target::KeyRest(_))
                    && end - start >= key_block::MOST
                {
                    let rest = Open { target: Target::KeyRest(rule), start: end, end };
                    return self.visit(text, rest, scan);
                }
            }
        }
        text.len()
    }

    fn rule(&self, index: u32) -> Option<&Rule> {
        self.rules.get(index as usize).map(Arc::as_ref)
    }
}

impl Allow {
    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty()
    }

    fn allows(&self, value: Option<&[u8]>) -> bool {
        let Some(value) = value else { return false };
        self.values.contains(value) || self.patterns.iter().any(|it| it.is_match(Input::new(value)))
    }
}

impl Hit {
    pub(crate) const fn moved(self, by: usize) -> Self {
        Self { rule: self.rule, start: self.start + by, end: self.end + by }
    }
}

impl Target {
    /// Whether the word itself is what would be masked.
    const fn begins_secret(&self) -> bool {
        matches!(self, Self::Token(_) | Self::KeyBlock(_) | Self::Wallet(_))
    }
}
