//! The words before a number.

use super::scan::back;
use crate::text::{Text, is_word};

/// How far back words are looked for, in bytes.
pub(super) const WINDOW: usize = 100;

/// What words speak of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Topic {
    Card,
    Ssn,
    Hardware,
}

impl Topic {
    /// Whether a word, in lower case, speaks of this. Words run together are asked for by their parts.
    fn is_meant_by(self, word: &[u8]) -> bool {
        match self {
            Self::Card => {
                has(word, b"card") && !is_other_card(word)
                    || has(word, b"credit")
                    || matches!(
                        word,
                        b"cc" | b"ccn" | b"visa" | b"amex" | b"debit" | b"pan" | b"maestro"
                    )
                    || matches!(
                        word,
                        b"mastercard" | b"diners" | b"discover" | b"jcb" | b"unionpay" | b"cvv"
                    )
            }
            // The number of a journal is an ISSN.
            Self::Ssn => {
                has(word, b"ssn") && !word.ends_with(b"issn")
                    || matches!(word, b"social" | b"ss" | b"socialsecurity")
            }
            Self::Hardware => {
                has(word, b"mac") && word.len() <= 10
                    || matches!(
                        word,
                        b"macs" | b"ethernet" | b"hardware" | b"physical" | b"cisco" | b"bssid"
                    )
                    || matches!(word, b"hwaddr" | b"ether" | b"lladdr" | b"arp")
            }
        }
    }
}

/// Whether one of the words before `start` speaks of something.
pub(super) fn speaks_of(text: &Text<'_>, start: usize, topic: Topic) -> bool {
    let mut words = Words::before(text, start);
    while let Some(word) = words.next() {
        if topic.is_meant_by(word.as_bytes()) {
            return true;
        }
    }
    false
}

/// Whether `part` stands in a word.
pub(super) fn has(word: &[u8], part: &[u8]) -> bool {
    word.windows(part.len()).any(|window| window == part)
}

/// A word of letters in lower case; longer ones are cut at the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    bytes: [u8; Self::MAX],
    start: usize,
}

impl Word {
    const MAX: usize = 24;

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn new(letters: &[u8]) -> Self {
        let mut word =
            Self { bytes: [0; Self::MAX], start: Self::MAX.saturating_sub(letters.len()) };
        let letters = letters.get(letters.len().saturating_sub(Self::MAX)..).unwrap_or_default();
        if let Some(place) = word.bytes.get_mut(word.start..) {
            place.copy_from_slice(letters);
            place.make_ascii_lowercase();
        }
        word
    }
}

/// The words before a place, the nearest first. Digits and underscores part them, as all that is no letter.
#[derive(Debug)]
pub(super) struct Words<'t, 'a> {
    text: &'t Text<'a>,
    at: usize,
    limit: usize,
}

impl<'t, 'a> Words<'t, 'a> {
    pub(super) fn before(text: &'t Text<'a>, start: usize) -> Self {
        Self { text, at: start, limit: start.saturating_sub(WINDOW) }
    }

    /// How many bytes before this place are letters, or are none, up to so many.
    fn count(&self, most: usize, letters: bool) -> usize {
        let before = self.text.bytes().get(self.limit..self.at).unwrap_or_default();
        before.iter().rev().take(most).take_while(|byte| is_letter(**byte) == letters).count()
    }

    /// Whether no more than so many bytes, none of them a letter, stand before the next word.
    pub(super) fn is_near(&mut self, most: usize) -> bool {
        let gap = self.count(most.saturating_add(1), false);
        self.at = self.at.saturating_sub(gap.min(most));
        gap <= most
    }

    /// Whether nothing but white space and signs of markup stand before the last word in its line.
    fn begins_line(&self) -> bool {
        let before = self.text.bytes().get(self.limit..self.at).unwrap_or_default();
        if self.text.before(self.limit).is_err() && !before.contains(&b'\n') {
            return false;
        }
        let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'*' | b'#' | b'>' | b'-'))
    }

    pub(super) fn next(&mut self) -> Option<Word> {
        self.is_near(WINDOW);
        let end = self.at;
        self.at = self.at.saturating_sub(self.count(WINDOW, true));
        let letters = self.text.bytes().get(self.at..end).unwrap_or_default();
        let is_whole = self.at > self.limit || !is_word(back(self.text, self.at));
        (!letters.is_empty() && is_whole).then(|| Word::new(letters))
    }
}

pub(super) const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// What the words right before a number say of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Call {
    /// That it is a telephone number.
    Phone,
    /// That it is a number, of whatever.
    Number,
    None,
}

/// What the words right before `start` say, where only small words stand between: `Phone:`, `call me on`.
pub(super) fn call(text: &Text<'_>, start: usize) -> Call {
    const MAX_WORDS: usize = 6;
    const MAX_GAP: usize = 6;
    let mut words = Words::before(text, start);
    let (mut reached, mut numbered) = (false, false);
    for at in 0..MAX_WORDS {
        let end = words.at;
        if !words.is_near(MAX_GAP) {
            break;
        }
        let gap = text.bytes().get(words.at..end).unwrap_or_default();
        let Some(word) = words.next() else { break };
        // The last word of a line is about the next one only if it is a label.
        if gap.contains(&b'\n') && !gap.contains(&b':') && !words.begins_line() {
            break;
        }
        match Role::of(word.as_bytes()) {
            Role::Phone => return Call::Phone,
            Role::Verb if reached => return Call::Phone,
            Role::Reach => reached = true,
            Role::Number => {
                numbered |= at == 1;
                reached = true;
            }
            Role::Small => {}
            Role::Verb | Role::Other => break,
        }
    }
    if numbered { Call::Number } else { Call::None }
}

/// What a word does in front of a telephone number.
enum Role {
    Phone,
    /// Something one does with a telephone, and with other things.
    Verb,
    /// Says whom or where one reaches.
    Reach,
    Number,
    Small,
    Other,
}

impl Role {
    fn of(word: &[u8]) -> Self {
        match word {
            b"tel" | b"tlf" | b"telefon" | b"telefono" | b"telefone" | b"mobile" | b"mob"
            | b"cell" | b"cellular" => Self::Phone,
            b"fax" | b"whatsapp" | b"sms" | b"desk" | b"landline" | b"hotline" | b"msisdn"
            | b"ph" | b"dial" => Self::Phone,
            b"call" | b"calling" | b"callback" | b"ring" | b"text" | b"reach" | b"contact"
            | b"message" | b"messages" => Self::Verb,
            b"answering" | b"reached" => Self::Verb,
            b"me" | b"us" | b"him" | b"her" | b"them" | b"back" | b"on" | b"at" | b"to" => {
                Self::Reach
            }
            b"number" | b"numbers" | b"no" | b"nr" | b"num" => Self::Number,
            b"is" | b"are" | b"my" | b"your" | b"our" | b"his" | b"the" | b"registered"
            | b"new" | b"old" | b"home" => Self::Small,
            b"work" | b"office" | b"direct" | b"business" | b"personal" | b"private" | b"by"
            | b"via" | b"line" => Self::Small,
            _ if has(word, b"phone") && !is_other_phone(word) => Self::Phone,
            _ if word.ends_with(b"mobile")
                || word.starts_with(b"mobilen")
                || word.starts_with(b"faxn") =>
            {
                Self::Phone
            }
            _ => Self::Other,
        }
    }
}

/// Whether this has "card" in it, and is no card that is paid with.
fn is_other_card(word: &[u8]) -> bool {
    [b"discard".as_slice(), b"wildcard", b"cardinal", b"postcard", b"scorecard", b"cardboard"]
        .iter()
        .any(|other| has(word, other))
}

/// Whether this is a thing with "phone" in its name that has no number, or more often has one of its model.
fn is_other_phone(word: &[u8]) -> bool {
    [b"iphone".as_slice(), b"microphone", b"headphone", b"earphone", b"phoneme", b"phonet"]
        .iter()
        .any(|other| has(word, other))
}
