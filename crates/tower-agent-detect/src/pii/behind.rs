//! Numbers behind something that is masked, of which that says that they are none: the word `version` at its end, a row of which
//! they would be the rest, or another entry of a list. Once it is masked, it says so no longer.

use super::context::{WINDOW, is_letter};
use super::ip::Sign;
use super::scan::{back, here};
use super::{Found, Progress, card, hex, number};
use crate::text::{End, Text};

/// How far a row may go on behind a separator, in bytes.
const GAP: usize = 40;

/// Looks for the first such number behind a place, as if a mask ended there. Whatever follows, none begins elsewhere.
pub(crate) fn behind(text: &Text<'_>, place: usize, found: &mut Vec<Found>) -> Progress {
    let rest = Text::new(text.bytes().get(place..).unwrap_or_default(), true, text.end());
    let word = word_end(text, place);
    let numbers = word..text.len().min(word.saturating_add(Sign::NEAR + 1));
    let numbers = numbers.filter(|at| begins_number(text, *at, place) && is_denied(text, *at));
    let (entry, row) = (card::entry_behind(text, place), row(text, place));
    let looks = numbers.chain(entry).map(|at| (at, number as Look));
    let looks = looks.chain(row.map(|at| (at, hex as Look)));
    for (at, look) in looks {
        match look(&rest, at.saturating_sub(place), 0, found) {
            Progress::Undecided(begins) => {
                return Progress::Undecided(place.saturating_add(begins));
            }
            Progress::Next(_) if !found.is_empty() => return Progress::Next(text.len()),
            Progress::Next(_) => {}
        }
    }
    let goes_on = text.end() == End::More
        && ([Some(word), entry, row].contains(&Some(text.len()))
            || word.saturating_add(Sign::NEAR) >= text.len() && is_denied(text, text.len()));
    if goes_on { Progress::Undecided(text.len()) } else { Progress::Next(text.len()) }
}

type Look = fn(&Text<'_>, usize, usize, &mut Vec<Found>) -> Progress;

/// Where the word ends that goes on at a place, or has ended there.
fn word_end(text: &Text<'_>, place: usize) -> usize {
    let ahead = text.bytes().get(place..).unwrap_or_default();
    let letters = ahead.iter().take(WINDOW).take_while(|byte| is_letter(**byte));
    place.saturating_add(letters.count())
}

fn begins_number(text: &Text<'_>, at: usize, place: usize) -> bool {
    here(text, at).is_ascii_digit() && (at == place || !back(text, at).is_ascii_digit())
}

/// Whether a word before a number says that it is no address.
fn is_denied(text: &Text<'_>, at: usize) -> bool {
    matches!(Sign::before(text, at), Sign::Other | Sign::Product)
}

/// Where a row of hexadecimal digits may go on behind its separator, which stands on one of the sides of a place.
fn row(text: &Text<'_>, place: usize) -> Option<usize> {
    let is_separator = |byte: u8| matches!(byte, b':' | b'-' | b'.');
    let inside = is_separator(here(text, place));
    if !inside && !is_separator(back(text, place)) {
        return None;
    }
    let from = place.saturating_add(usize::from(inside));
    let ahead = text.bytes().get(from..).unwrap_or_default();
    let is_gap = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\' | b'n');
    Some(from.saturating_add(ahead.iter().take(GAP).take_while(is_gap).count()))
}
