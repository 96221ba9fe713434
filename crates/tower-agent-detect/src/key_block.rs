//! Private-key blocks, from BEGIN to END.

use crate::text::{Stop, Text, Verdict};

/// How much of a block is found at once, in bytes. What is longer goes on as a part of its own.
pub(crate) const MOST: usize = 16 << 10;
const LONGEST_LABEL: usize = 48;
/// A run of this many characters is part of a key and no word of a sentence.
const KEY_RUN: usize = 20;
/// The header lines of a block, and what stands between its lines, are no longer than this, in bytes.
const LONGEST_GAP: usize = 400;
/// How many escapes may stand between the last line and a quote, in bytes.
const LONGEST_CLOSE: usize = 16;

/// For `-----BEGIN`, which ends at `end`.
pub(crate) fn block(text: &Text<'_>, start: usize, end: usize) -> Verdict {
    let found = label(text, end).and_then(|body| run(text, start, body, None));
    found.unwrap_or_else(|stop| Verdict::stopped(stop, start))
}

/// What goes on after a part that was as long as a part may be.
pub(crate) fn rest(text: &Text<'_>, start: usize) -> Verdict {
    match run(text, start, start, Some(start)) {
        Ok(Verdict::Found(start, end)) if start == end => Verdict::Nothing,
        found => found.unwrap_or_else(|stop| Verdict::stopped(stop, start)),
    }
}

/// Where the label of a private key ends, dashes included.
fn label(text: &Text<'_>, from: usize) -> Result<usize, Stop> {
    let mut at = from;
    loop {
        match text.byte(at)? {
            Some(byte) if is_label(byte) && at - from < LONGEST_LABEL => at += 1,
            Some(b'-') => break,
            _ => return Err(Stop::Nothing),
        }
    }
    let label = text.bytes().get(from..at).unwrap_or_default();
    if !label.windows(11).any(|part| part == b"PRIVATE KEY") {
        return Err(Stop::Nothing);
    }
    while at - from < LONGEST_LABEL + 5 && text.byte(at)? == Some(b'-') {
        at += 1;
    }
    Ok(at)
}

/// Goes through a body, which is made of runs of Base64 and whatever stands between the lines of one. `key_end`: where the
/// last run that can only be part of a key ended.
fn run(
    text: &Text<'_>,
    start: usize,
    body: usize,
    key_end: Option<usize>,
) -> Result<Verdict, Stop> {
    let mut at = body;
    let mut lines = Lines { key_end, last: key_end, short: None };
    while at - start < MOST {
        if at - lines.key_end.unwrap_or(body) > LONGEST_GAP {
            break;
        }
        let Some(byte) = text.byte(at)? else {
            // A block that was cut off ends with a part of a line.
            lines.key_end = lines.short.or(lines.key_end);
            break;
        };
        match byte {
            b'-' if dashes(text, at)? => return ending(text, start, at, lines.key_end),
            byte if is_base64(byte) => {
                let end = base64_end(text, at, start + MOST)?;
                lines.take(text, at, end)?;
                at = end;
            }
            byte if between_lines(byte) => at += 1,
            _ => break,
        }
    }
    Ok(match lines.key_end {
        Some(_) if at - start >= MOST => Verdict::Found(start, start + MOST),
        Some(end) => Verdict::Found(start, end),
        None => Verdict::Nothing,
    })
}

/// The lines of a body.
struct Lines {
    /// Where the last run that can only be part of a key ended.
    key_end: Option<usize>,
    /// Where the last run ended.
    last: Option<usize>,
    /// Where a run ended that is the line behind the last one of a key, but too short to tell.
    short: Option<usize>,
}

impl Lines {
    /// Takes a run of Base64.
    fn take(&mut self, text: &Text<'_>, at: usize, end: usize) -> Result<(), Stop> {
        let bytes = text.bytes();
        let escape = text.before(at)? == Some(b'\\');
        if escape && matches!(bytes.get(at..end), Some(b"n" | b"r" | b"t")) {
            return Ok(());
        }
        if end - at >= KEY_RUN
            || (self.key_end == Some(at) && text.before(at)?.is_some_and(is_base64))
            || (self.key_end.is_some() && bytes.get(end - 1) == Some(&b'='))
        {
            (self.key_end, self.short) = (Some(end), None);
        } else {
            let between = self.key_end.and_then(|key_end| bytes.get(key_end..at));
            let between = between.filter(|_| self.last == self.key_end).unwrap_or_default();
            let next = between.iter().any(|byte| b"\n\r\\".contains(byte));
            self.short = next.then_some(end);
            if next && !between.iter().any(|byte| is_quote(*byte)) && closes(text, end)? {
                self.key_end = self.short.take();
            }
        }
        self.last = Some(end);
        Ok(())
    }
}

/// Whether a quote follows, perhaps behind escapes of white space.
fn closes(text: &Text<'_>, end: usize) -> Result<bool, Stop> {
    let mut escaped = false;
    for at in end..end + LONGEST_CLOSE {
        match text.byte(at)? {
            Some(b'\\') => escaped = true,
            Some(b'n' | b'r' | b't') if escaped => escaped = false,
            byte => return Ok(byte.is_some_and(is_quote)),
        }
    }
    Ok(false)
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// At five dashes: the line that ends the block, or the beginning of another one.
fn ending(
    text: &Text<'_>,
    start: usize,
    dashes: usize,
    key_end: Option<usize>,
) -> Result<Verdict, Stop> {
    let Some(key_end) = key_end else { return Ok(Verdict::Nothing) };
    let mut at = dashes + 5;
    for expected in b"END " {
        if text.byte(at)? != Some(*expected) {
            return Ok(Verdict::Found(start, key_end));
        }
        at += 1;
    }
    let label = at;
    while at - label < LONGEST_LABEL && text.byte(at)?.is_some_and(is_label) {
        at += 1;
    }
    let end = at;
    while at - end < 5 && text.byte(at)? == Some(b'-') {
        at += 1;
    }
    Ok(Verdict::Found(start, at))
}

const fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

fn dashes(text: &Text<'_>, at: usize) -> Result<bool, Stop> {
    for place in at..at + 5 {
        if text.byte(place)? != Some(b'-') {
            return Ok(false);
        }
    }
    Ok(true)
}

fn base64_end(text: &Text<'_>, from: usize, most: usize) -> Result<usize, Stop> {
    let mut at = from;
    while at < most && text.byte(at)?.is_some_and(is_base64) {
        at += 1;
    }
    Ok(at)
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// White space, escapes of it, quotes and joints of literals, and what the header lines of old formats hold.
const fn between_lines(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'\\'
                | b'"'
                | b'\''
                | b','
                | b':'
                | b'-'
                | b'.'
                | b'('
                | b')'
                | b'|'
                | b'>'
                | b'#'
                | b'*'
                | b';'
        )
}
