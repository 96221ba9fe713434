//! What rules say of the place where a word of theirs was seen.

use super::Engine;
use crate::{
    assign::{self, Value, Walked},
    check, judge,
    rule::{Border, Rule},
    text::{Stop, Text, Verdict, is_word},
    trail::Trails,
};

/// What stands before the first byte of a text, if it is something that was masked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AfterMask {
    /// Nobody can tell whether a token may begin there.
    Unknown,
    /// One that begins right there may.
    Border,
}

impl Engine {
    /// A value that is known by its own beginning.
    pub(super) fn token(
        &self,
        text: &Text<'_>,
        rule: u32,
        (start, after_mask): (usize, AfterMask),
        trails: &mut Trails,
    ) -> Verdict {
        let trails = (trails, rule);
        let Some(rule) = self.rule(rule) else { return Verdict::Nothing };
        let matcher = rule.matcher();
        let Some(begin) = matcher.begin(text, start) else { return Verdict::Nothing };
        let hold = if matcher.is_grouped() { start + matcher.secret_from() } else { begin };
        let found = token(text, rule, (begin, start, after_mask), trails);
        found.map_or_else(
            |stop| Verdict::stopped(stop, hold),
            |(start, end)| Verdict::Found(start, end),
        )
    }

    /// A value that is known by the name it is given to, and by its form.
    pub(super) fn key(
        &self,
        text: &Text<'_>,
        rule: u32,
        (start, end): (usize, usize),
        trails: &mut Trails,
    ) -> Verdict {
        let trails = (trails, rule);
        let Some(rule) = self.rule(rule) else { return Verdict::Nothing };
        let value = match assign::value_after(text, start, end) {
            Ok(value) => value,
            Err(verdict) => return verdict,
        };
        let found = key(text, rule, (&value, start), trails);
        found.map_or_else(
            |stop| Verdict::stopped(stop, value.start),
            |(start, end)| Verdict::Found(start, end),
        )
    }

    /// A value that is known by a name which says that it is secret.
    pub(super) fn name(
        &self,
        text: &Text<'_>,
        name: u32,
        place: (usize, usize),
        walked: &mut Walked,
    ) -> (Verdict, u32) {
        let (verdict, id) = judge::generic(text, name as usize, place, walked);
        match (self.built_in.get(id), verdict) {
            (Some(rule), _) => (verdict, *rule),
            // Which rule it is may be undecided, too.
            (None, Verdict::Undecided(_)) => (verdict, 0),
            (None, _) => (Verdict::Nothing, 0),
        }
    }
}

fn token(
    text: &Text<'_>,
    rule: &Rule,
    (begin, keyword, after_mask): (usize, usize, AfterMask),
    trails: (&mut Trails, u32),
) -> Result<(usize, usize), Stop> {
    let border = rule.spec.border;
    let end_matters = matches!(border, Border::Word | Border::End);
    if matches!(border, Border::Word | Border::Start) {
        let touches = keyword == 0 && after_mask == AfterMask::Border && may_touch(rule);
        match text.before(begin) {
            Err(_) if touches => {}
            before if before?.is_some_and(is_word) => return Err(Stop::Nothing),
            _ => {}
        }
    }
    if !rule.spec.context.is_empty() && !check::context(text, begin, &rule.spec.context) {
        return Err(Stop::Nothing);
    }
    let end = rule.matcher().end(text, keyword, trails)?;
    if end_matters && text.byte(end)?.is_some_and(is_word) {
        return Err(Stop::Nothing);
    }
    let (start, end) = if rule.matcher().is_grouped() {
        rule.matcher().secret(text, keyword, end).ok_or(Stop::Nothing)?
    } else {
        (begin, end)
    };
    accept(text, rule, start, end)
}

fn key(
    text: &Text<'_>,
    rule: &Rule,
    (value, keyword): (&Value, usize),
    trails: (&mut Trails, u32),
) -> Result<(usize, usize), Stop> {
    let from = value.name.0.max(keyword.saturating_sub(32));
    let name = text.bytes().get(from..value.start).unwrap_or_default();
    let has = |word: &String| check::contains(name, word.as_bytes());
    let spec = &rule.spec;
    if !spec.also.iter().all(has) || (!spec.any.is_empty() && !spec.any.iter().any(has)) {
        return Err(Stop::Nothing);
    }
    if !spec.context.is_empty() && !check::context(text, value.start, &spec.context) {
        return Err(Stop::Nothing);
    }
    if check::is_fingerprint(text.bytes().get(from..value.operator_at).unwrap_or_default()) {
        return Err(Stop::Nothing);
    }
    let end = rule.matcher().end(text, value.start, trails)?;
    // What goes on is something else, such as a longer run of Base64.
    if text.byte(end)?.is_some_and(|next| is_word(next) || matches!(next, b'+' | b'=')) {
        return Err(Stop::Nothing);
    }
    let (start, end) = rule.matcher().secret(text, value.start, end).ok_or(Stop::Nothing)?;
    accept(text, rule, start, end)
}

/// Whether a token may be known without anything before it.
fn may_touch(rule: &Rule) -> bool {
    rule.spec.before.is_none() && !rule.spec.keywords.is_empty()
}

/// What a rule asks of a value besides its form.
fn accept(text: &Text<'_>, rule: &Rule, start: usize, end: usize) -> Result<(usize, usize), Stop> {
    let value = text.bytes().get(start..end).ok_or(Stop::Nothing)?;
    let spec = &rule.spec;
    let accepted = spec.entropy.is_none_or(|least| check::entropy(value) >= least)
        && spec.checksum.is_none_or(|checksum| check::checksum(checksum, value))
        && !rule.matcher().allows(value);
    if accepted { Ok((start, end)) } else { Err(Stop::Nothing) }
}
