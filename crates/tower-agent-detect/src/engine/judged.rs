//! What rules say of the place where a word of theirs was seen.

use super::Engine;
use crate::{
    assign::Value,
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
        let (Some(of), index) = (self.rule(rule), rule) else { return Verdict::Nothing };
        let matcher = of.matcher();
        if matcher.misses_sign(text, start, trails) {
            return Verdict::Nothing;
        }
        // Where much stands before a keyword, what follows it is often less.
        let end = matcher.has_before().then(|| matcher.end(text, start, (trails, index)));
        if end == Some(Err(Stop::Nothing)) {
            return Verdict::Nothing;
        }
        let Some(begin) = matcher.begin(text, start) else { return Verdict::Nothing };
        let hold = if matcher.is_grouped() { start + matcher.secret_from() } else { begin };
        match token(text, of, (begin, start, after_mask), end, (trails, index)) {
            Ok((start, end)) => {
                if self.allow.is_empty() {
                    trails.seen().value(index, start, end);
                }
                Verdict::Found(start, end)
            }
            Err(stop) => Verdict::stopped(stop, hold),
        }
    }

    /// A value that is known by the name it is given to, and by its form.
    pub(super) fn key(
        &self,
        text: &Text<'_>,
        rule: u32,
        (value, keyword): (&Value, usize),
        trails: &mut Trails,
    ) -> Verdict {
        let trails = (trails, rule);
        let Some(rule) = self.rule(rule) else { return Verdict::Nothing };
        let found = key(text, rule, (value, keyword), trails);
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
        trails: &mut Trails,
    ) -> (Verdict, u32) {
        let (verdict, id) = judge::generic(text, name as usize, place, trails);
        if verdict == Verdict::Nothing {
            return (verdict, 0);
        }
        match (self.built_in.get(id), verdict) {
            (Some(rule), _) => {
                if self.allow.is_empty() {
                    trails.seen().keep_judged();
                }
                (verdict, *rule)
            }
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
    end: Option<Result<usize, Stop>>,
    (trails, index): (&mut Trails, u32),
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
    let context = &rule.spec.context;
    if !context.is_empty() && !check::context(text, begin, (index, context), trails.seen()) {
        return Err(Stop::Nothing);
    }
    let end = end.unwrap_or_else(|| rule.matcher().end(text, keyword, (trails, index)))?;
    // A part of what the rule has found already, up to the same end, changes nothing.
    if rule.matcher().ends_secret() && trails.seen().covers(index, begin, end) {
        return Err(Stop::Nothing);
    }
    if end_matters && text.byte(end)?.is_some_and(is_word) {
        return Err(Stop::Nothing);
    }
    let (start, end) = if rule.matcher().is_grouped() {
        rule.matcher().secret(text, keyword, end, (trails, index)).ok_or(Stop::Nothing)?
    } else {
        (begin, end)
    };
    accept(text, rule, (start, end), (trails, index))
}

fn key(
    text: &Text<'_>,
    rule: &Rule,
    (value, keyword): (&Value, usize),
    (trails, index): (&mut Trails, u32),
) -> Result<(usize, usize), Stop> {
    if rule.matcher().misses_sign(text, value.start, trails) {
        return Err(Stop::Nothing);
    }
    let end = rule.matcher().end(text, value.start, (trails, index));
    // Most values are of another form, whatever the name says.
    if end == Err(Stop::Nothing) {
        return Err(Stop::Nothing);
    }
    let from = value.name.0.max(keyword.saturating_sub(32));
    let name = text.bytes().get(from..value.start).unwrap_or_default();
    let has = |word: &String| check::contains(name, word.as_bytes());
    let spec = &rule.spec;
    if !spec.also.iter().all(has) || (!spec.any.is_empty() && !spec.any.iter().any(has)) {
        return Err(Stop::Nothing);
    }
    let context = &spec.context;
    if !context.is_empty() && !check::context(text, value.start, (index, context), trails.seen()) {
        return Err(Stop::Nothing);
    }
    if check::is_fingerprint(text.bytes().get(from..value.operator_at).unwrap_or_default()) {
        return Err(Stop::Nothing);
    }
    let end = end?;
    // What goes on is something else, such as a longer run of Base64.
    if text.byte(end)?.is_some_and(|next| is_word(next) || matches!(next, b'+' | b'=')) {
        return Err(Stop::Nothing);
    }
    let (start, end) =
        rule.matcher().secret(text, value.start, end, (trails, index)).ok_or(Stop::Nothing)?;
    accept(text, rule, (start, end), (trails, index))
}

/// Whether a token may be known without anything before it.
fn may_touch(rule: &Rule) -> bool {
    rule.spec.before.is_none() && !rule.spec.keywords.is_empty()
}

/// What a rule asks of a value besides its form.
fn accept(
    text: &Text<'_>,
    rule: &Rule,
    (start, end): (usize, usize),
    trails: (&mut Trails, u32),
) -> Result<(usize, usize), Stop> {
    let value = text.bytes().get(start..end).ok_or(Stop::Nothing)?;
    let spec = &rule.spec;
    let mut entropy = || trails.0.seen().entropy(text.bytes(), (start, end));
    let accepted = spec.entropy.is_none_or(|least| entropy() >= least)
        && spec.checksum.is_none_or(|checksum| check::checksum(checksum, value))
        && !rule.matcher().allows(text.bytes(), (start, end), trails);
    if accepted { Ok((start, end)) } else { Err(Stop::Nothing) }
}
