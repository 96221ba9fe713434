//! Personal data: addresses, numbers with check digits, and the like.
//!
//! Each recogniser is a function of the bytes around a place. It looks back [`Text::BEHIND`] bytes at most, and a
//! bounded number of bytes ahead; what it cannot say yet of a text that goes on is `Undecided`.
//!
//! Telephone numbers are told by shape and context. The tables of libphonenumber would say more of single countries,
//! but they come with a megabyte of metadata, a regex engine and allocations at each candidate, and without a region
//! they cannot judge a national number either.

mod behind;
mod card;
mod cluster;
mod context;
mod email;
mod iban;
mod ip;
mod mac;
mod phone;
mod quick;
mod scan;
mod ssn;
mod tail;
#[cfg(test)]
pub(crate) mod tests;
mod token;
mod wallet;

pub(crate) use behind::behind;
pub(crate) use cluster::MIN_DIGITS;
pub(crate) use email::{email, email_end};
pub(crate) use quick::is_joined_to_word;
pub(crate) use tail::{MAX_ACCOUNT, MAX_NUMBER, is_head, is_local, local, may_be_account};
pub(crate) use wallet::{base58_words, wallet};

use self::cluster::Cluster;
use self::scan::{Unknown, run_start};
use crate::text::Text;

/// What kind of personal data something is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Email,
    Card,
    Iban,
    Phone,
    Ssn,
    Ip,
    Mac,
    Wallet,
}

impl Kind {
    pub(crate) const ALL: [Self; 8] = [
        Self::Email,
        Self::Card,
        Self::Iban,
        Self::Phone,
        Self::Ssn,
        Self::Ip,
        Self::Mac,
        Self::Wallet,
    ];
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self(0)
    }

    #[cfg(test)]
    pub(crate) const fn all() -> Self {
        Self(u8::MAX)
    }

    #[must_use]
    pub(crate) const fn with(self, kind: Kind) -> Self {
        Self(self.0 | (1 << kind as u8))
    }

    pub(crate) const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// Whether [`number`] has anything to look for.
    pub(crate) const fn numbers(self) -> bool {
        self.contains(Kind::Card)
            || self.contains(Kind::Iban)
            || self.contains(Kind::Phone)
            || self.contains(Kind::Ssn)
            || self.hex()
    }

    /// Whether [`hex`] has anything to look for.
    pub(crate) const fn hex(self) -> bool {
        self.contains(Kind::Ip) || self.contains(Kind::Mac)
    }
}

/// Personal data from the first place up to, but without, the second one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether check digits or a strict structure say so, and not the words before it.
    pub(crate) sure: bool,
}

/// How far a recogniser of clusters has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Progress {
    /// All before this place is decided.
    Next(usize),
    /// What follows decides. What would have to be masked begins at this place or later.
    Undecided(usize),
}

/// Looks at the cluster of digits and separators around `at`, and never at a number that begins before `from`.
///
/// What is found is found in order and does not overlap. Asked again with more text, it says the same of what it had
/// decided; after `Undecided` nothing has been pushed.
pub(crate) fn number(text: &Text<'_>, at: usize, from: usize, found: &mut Vec<Found>) -> Progress {
    let start = run_start(text, at, from);
    if let Some(next) = quick::nothing(text, start, from) {
        return Progress::Next(next);
    }
    let known = found.len();
    match look(text, start, from, found) {
        Ok(next) => Progress::Next(next),
        Err(Unknown) => {
            found.truncate(known);
            Progress::Undecided(earliest(text, start, from))
        }
    }
}

/// Looks for addresses of the internet and of hardware around `at`: a colon, or one of the hexadecimal digits or
/// separators that touch it. Hardware addresses written with hyphens or dots are found from any of their bytes, too.
pub(crate) fn hex(text: &Text<'_>, at: usize, from: usize, found: &mut Vec<Found>) -> Progress {
    if let Some(nothing) = token::nothing(text, at, from) {
        return nothing;
    }
    let token = ip::Token::around(text, at, from);
    match token.look(text, from, found) {
        Ok(next) => Progress::Next(next.max(at.saturating_add(1))),
        Err(Unknown) => Progress::Undecided(token.start()),
    }
}

fn look(
    text: &Text<'_>,
    start: usize,
    from: usize,
    found: &mut Vec<Found>,
) -> Result<usize, Unknown> {
    if let Some(iban) = iban::around(text, start, from)? {
        found.push(iban);
        return Ok(iban.end);
    }
    let cluster = Cluster::read(text, start)?;
    if cluster.is_hexadecimal(text)? && token::nothing(text, start, from).is_none() {
        let before = found.len();
        // What is left of a token behind another number may look like an address, and is none.
        let token = ip::Token::around(text, start, 0);
        let next = if token.start() < from { from } else { token.look(text, from, found)? };
        if found.len() > before {
            return Ok(next);
        }
    }
    cluster.look(text, from, found)
}

/// Where something of which the digits from `start` on are a part may begin.
fn earliest(text: &Text<'_>, start: usize, from: usize) -> usize {
    let phone = phone::lead(text, start, from);
    let iban = iban::head(text, start, from).unwrap_or(start);
    let token = ip::Token::around(text, start, from).start();
    phone.min(iban).min(token)
}
