//! Values that are wrapped once: in percent escapes, or in Base64.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use fearless_simd::{Simd, dispatch};

use crate::{
    bits::{self, BLOCK, Lanes},
    tail::{LONGEST_BASE64, LONGEST_RUN, is_base64, is_run},
    text::{Stop, Text},
};

/// How far the look for what is wrapped has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Where it goes on.
    pub(crate) from: usize,
    /// Where the last stretch ended: the next one begins there or later.
    pub(crate) floor: usize,
}

/// A stretch of text that reads as something else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Wrapped {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What comes of a look for something that is wrapped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unwrapped {
    Nothing,
    /// What follows decides; it begins there.
    Undecided(usize),
    Found(Wrapped),
}

/// How much of an address is read at once, in bytes.
const LONGEST_ADDRESS: usize = 1024;
/// How much of an address is read once more in front of its first escape, in bytes. With a run, this stays within what is kept.
const BEFORE: usize = Text::BEHIND - LONGEST_RUN;
/// What is shorter in Base64 holds no secret that would be known without its name.
pub(crate) const SHORTEST_BASE64: usize = 24;
/// How much of that is padding at most, which is no Base64 of itself.
pub(crate) const PADDING: usize = 2;
/// The fewest characters of a run that is long enough.
pub(crate) const RUN: usize = SHORTEST_BASE64 - PADDING;
/// How much of a run is looked at to see whether there is text in it; as Base64, and as text.
const PROBE: usize = SHORTEST_BASE64;
/// How many of the bytes that a probe stands for may be something else than text.
const NO_TEXT: usize = 2;

/// Both alphabets are brought to this one, and nobody asks for padding.
const PLAIN: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// What is written inside, of one stretch.
#[derive(Debug)]
pub(crate) struct Inside {
    bytes: [u8; LONGEST_BASE64 + 2],
    /// For each byte, where in the stretch it is written; and where the stretch ends.
    places: [u16; BEFORE + LONGEST_ADDRESS + 1],
    length: usize,
}

impl Wrapped {
    /// With what stands in front of it in the same address, which says what it is about.
    pub(crate) fn with_beginning(self, text: &Text<'_>) -> Self {
        Self { start: start_of_run(text, self.start, 0, BEFORE, is_address), ..self }
    }
}

impl Progress {
    /// Whether all has been looked at up to a place.
    pub(crate) const fn is_at(&self, place: usize) -> bool {
        self.from >= place
    }
}

impl Inside {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; LONGEST_BASE64 + 2],
            places: [0; BEFORE + LONGEST_ADDRESS + 1],
            length: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Where the bytes from one to another are written, in the text that a stretch with escapes was taken from.
    pub(crate) fn written(&self, stretch: Wrapped, start: usize, end: usize) -> (usize, usize) {
        let place = |at: usize| {
            let place =
                self.places.get(at).map_or(stretch.end - stretch.start, |at| usize::from(*at));
            stretch.start + place
        };
        (place(start), place(end))
    }

    /// Reads the percent escapes of a stretch.
    pub(crate) fn unescape(&mut self, text: &Text<'_>, stretch: Wrapped) {
        let whole = Text::whole(text.bytes().get(..stretch.end).unwrap_or_default());
        self.length = 0;
        let mut at = stretch.start;
        while let (Ok(Some(byte)), Some(to)) = (whole.byte(at), self.bytes.get_mut(self.length)) {
            let escaped = if byte == b'%' { escape(&whole, at).ok().flatten() } else { None };
            *to = escaped.unwrap_or(byte);
            self.put(at - stretch.start);
            at += if escaped.is_some() { 3 } else { 1 };
        }
        if let Some(place) = self.places.get_mut(self.length) {
            *place = (stretch.end - stretch.start) as u16;
        }
    }

    fn put(&mut self, place: usize) {
        if let Some(to) = self.places.get_mut(self.length) {
            *to = place as u16;
        }
        self.length += 1;
    }

    /// Reads a run of Base64. Says whether it can be read.
    pub(crate) fn decode(&mut self, run: &[u8]) -> bool {
        let padding = run.iter().rev().take_while(|byte| **byte == b'=').count();
        let run = run.get(..run.len() - padding).unwrap_or_default();
        // A single character left over holds no byte.
        let run = run.get(..run.len() - usize::from(run.len() % 4 == 1)).unwrap_or_default();
        let mut plain = [0; LONGEST_BASE64 + 2];
        for (to, byte) in plain.iter_mut().zip(run) {
            *to = match byte {
                b'-' => b'+',
                b'_' => b'/',
                plain => *plain,
            };
        }
        let decoded =
            PLAIN.decode_slice(plain.get(..run.len()).unwrap_or_default(), &mut self.bytes);
        self.length = decoded.unwrap_or_default();
        self.length > 0
    }
}

/// Whether a run of Base64 begins as one does that holds text.
pub(crate) fn holds_text(run: &[u8]) -> bool {
    let Some(probe) = run.first_chunk::<PROBE>() else { return false };
    let (quads, _) = probe.as_chunks::<4>();
    let value = |byte: u8| VALUES.get(usize::from(byte)).copied().unwrap_or(0);
    // Mostly the first byte of each quad says enough: it is no ASCII from the character `g` on.
    if quads.iter().map(|[first, ..]| usize::from(value(*first) >> 5)).sum::<usize>() > NO_TEXT {
        return false;
    }
    let mut odd = 0;
    for quad in quads {
        let [a, b, c, d] = quad.map(value);
        let bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
        odd += bytes.iter().filter(|byte| !is_text(**byte)).count();
        if odd > NO_TEXT {
            return false;
        }
    }
    true
}

/// What each character of Base64 stands for, in both alphabets.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const VALUES: [u8; 256] = {
    let mut values = [0; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0;
    while at < alphabet.len() {
        values[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
};

const fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// The next stretch with percent escapes.
pub(crate) fn percent(text: &Text<'_>, progress: &mut Progress) -> Unwrapped {
    let rest = text.bytes().get(progress.from..).unwrap_or_default();
    let from = progress.from;
    for at in memchr::memchr_iter(b'%', rest).map(|at| from + at) {
        let unwrapped = percent_at(text, at, progress);
        if unwrapped != Unwrapped::Nothing {
            return unwrapped;
        }
    }
    progress.from = text.len();
    Unwrapped::Nothing
}

/// The stretch of which the first percent sign stands at a place.
pub(crate) fn percent_at(text: &Text<'_>, at: usize, progress: &mut Progress) -> Unwrapped {
    let start = || start_of_run(text, at, progress.floor, LONGEST_RUN, is_run);
    let end = escape(text, at).and_then(|byte| match byte {
        Some(_) => address_end(text, at),
        None => Ok(at),
    });
    match end {
        Ok(end) if end == at => Unwrapped::Nothing,
        Ok(end) => {
            let start = start();
            *progress = Progress { from: end, floor: end };
            Unwrapped::Found(Wrapped { start, end })
        }
        Err(Stop::Undecided) => {
            let start = start();
            progress.from = at;
            Unwrapped::Undecided(start)
        }
        Err(Stop::Nothing) => Unwrapped::Nothing,
    }
}

fn start_of_run(
    text: &Text<'_>,
    at: usize,
    floor: usize,
    most: usize,
    such: impl Fn(u8) -> bool,
) -> usize {
    let before = text.bytes().get(floor.max(at.saturating_sub(most))..at).unwrap_or_default();
    at - before.iter().rev().take_while(|byte| such(**byte)).count()
}

/// The byte that three characters stand for.
fn escape(text: &Text<'_>, at: usize) -> Result<Option<u8>, Stop> {
    let mut byte = 0;
    for place in at + 1..at + 3 {
        let Some(digit) = text.byte(place)?.and_then(|byte| char::from(byte).to_digit(16)) else {
            return Ok(None);
        };
        byte = byte * 16 + digit;
    }
    Ok(u8::try_from(byte).ok())
}

fn address_end(text: &Text<'_>, at: usize) -> Result<usize, Stop> {
    run_end(text, at, at + LONGEST_ADDRESS - LONGEST_RUN, is_address)
}

const fn is_address(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\')
}

/// The next run that may be Base64.
pub(crate) fn base64(text: &Text<'_>, progress: &mut Progress) -> Unwrapped {
    loop {
        match run(text.bytes(), progress.from) {
            Ok((at, known)) => {
                if let Some(unwrapped) = base64_at(text, (at, known), progress) {
                    return unwrapped;
                }
            }
            Err(rest) => {
                progress.from = rest;
                return Unwrapped::Nothing;
            }
        }
    }
}

/// The next run that may be Base64 of all that stands from one place to another, where it ends or the text does.
pub(crate) fn base64_in(
    text: &Text<'_>,
    (start, end): (usize, usize),
    progress: &mut Progress,
) -> Unwrapped {
    loop {
        progress.from = progress.from.max(start);
        if progress.from + RUN > end {
            return Unwrapped::Nothing;
        }
        if let Some(unwrapped) = base64_at(text, (progress.from, end), progress) {
            return unwrapped;
        }
    }
}

/// What comes of a run that is long enough, by a place in it and up to where one saw that it goes on; nothing if it is too
/// short nevertheless.
fn base64_at(
    text: &Text<'_>,
    (at, known): (usize, usize),
    progress: &mut Progress,
) -> Option<Unwrapped> {
    let start = start_of_run(text, at, progress.floor, RUN, is_base64);
    let most = start + LONGEST_BASE64;
    let end = run_end(text, known.min(most), most, is_base64);
    match end.and_then(|end| run_end(text, end, end + PADDING, |byte| byte == b'=')) {
        Ok(end) => {
            *progress = Progress { from: end, floor: end };
            (end - start >= SHORTEST_BASE64).then_some(Unwrapped::Found(Wrapped { start, end }))
        }
        Err(Stop::Undecided) => {
            progress.from = at;
            Some(Unwrapped::Undecided(start))
        }
        Err(Stop::Nothing) => {
            progress.from = text.len();
            Some(Unwrapped::Nothing)
        }
    }
}

/// The first place from which on so many bytes are Base64 as a run has at least, and up to where one saw that they are; or
/// else the place from which on more text may make such.
fn run(bytes: &[u8], from: usize) -> Result<(usize, usize), usize> {
    dispatch!(bits::level(), simd => run_with(simd, bytes, from))
}

#[inline(always)]
fn run_with<S: Simd>(simd: S, bytes: &[u8], from: usize) -> Result<(usize, usize), usize> {
    let mut at = from;
    // How many bytes of Base64 stand right before a block.
    let mut before = 0;
    while at < bytes.len() {
        let marks = marks(Lanes::of(simd, bytes, at));
        if let Some(begins) = begins(marks, before) {
            let behind = begins.saturating_sub(before);
            let known = behind + (marks >> behind).trailing_ones() as usize;
            return Ok((at + begins - before, at + known));
        }
        let last = (bytes.len() - at).min(BLOCK);
        let ones = (marks << (BLOCK - last)).leading_ones() as usize;
        before = if ones == last { before + ones } else { ones };
        at += last;
    }
    Err(at - before)
}

/// A bit for each byte of Base64.
#[inline(always)]
fn marks<S: Simd>(bytes: Lanes<S>) -> u64 {
    let letters = bytes.small().among(b'a', b'z');
    let signs = bytes.is(b'+') | bytes.is(b'-') | bytes.is(b'_');
    (letters | bytes.among(b'/', b'9') | signs).bits()
}

/// Where as many bytes follow each other as a run has at least.
#[inline]
pub(crate) const fn long(marks: u64) -> u64 {
    let two = marks & marks >> 1;
    let four = two & two >> 2;
    let eight = four & four >> 4;
    let sixteen = eight & eight >> 8;
    sixteen & sixteen >> (RUN - 16)
}

/// Where in a block a run begins that is long enough, counted from so many bytes `before` it that are part of one.
#[inline]
const fn begins(marks: u64, before: usize) -> Option<usize> {
    if before > 0 && before + marks.trailing_ones() as usize >= RUN {
        return Some(0);
    }
    let all = long(marks);
    if all == 0 { None } else { Some(before + all.trailing_zeros() as usize) }
}

fn run_end(
    text: &Text<'_>,
    from: usize,
    most: usize,
    such: impl Fn(u8) -> bool,
) -> Result<usize, Stop> {
    let rest = text.bytes().get(from..most.min(text.len())).unwrap_or_default();
    let at = from + rest.iter().position(|byte| !such(*byte)).unwrap_or(rest.len());
    // What is missing may go on.
    if at < most && at >= text.len() {
        text.past_end()?;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::levels;

    /// All runs that are long enough, from a place on.
    fn naive(bytes: &[u8], from: usize) -> Vec<Wrapped> {
        let mut runs = Vec::new();
        let mut start = from;
        while start < bytes.len() {
            let letters = bytes[start..].iter().take_while(|byte| is_base64(**byte));
            let mut end = start + letters.take(LONGEST_BASE64).count();
            if end - start < RUN {
                start = end + 1;
                continue;
            }
            let padding = bytes[end..].iter().take(PADDING);
            end += padding.take_while(|byte| **byte == b'=').count();
            if end - start >= SHORTEST_BASE64 {
                runs.push(Wrapped { start, end });
            }
            start = end;
        }
        runs
    }

    fn runs(bytes: &[u8]) -> Vec<Wrapped> {
        let (mut progress, mut runs) = (Progress::default(), Vec::new());
        while let Unwrapped::Found(run) = base64(&Text::whole(bytes), &mut progress) {
            runs.push(run);
        }
        runs
    }

    proptest! {
        #[test]
        fn every_run_of_base64_is_found_on_any_processor(
            text in prop::collection::vec("[a-zA-Z0-9+/_-]{0,90}={0,3}|[ -~]{0,20}|\\PC{0,9}", 0..20),
            long in 0_usize..2,
        ) {
            let text = [text.concat(), "Aa0+".repeat(300 * long)].concat();
            let expected = naive(text.as_bytes(), 0);

            for found in levels::each(|| runs(text.as_bytes())) {
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
