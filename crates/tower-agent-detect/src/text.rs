//! A text as the recognisers see it: bytes, and what is known about what follows them.

/// What stands behind the last byte of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// Nothing: the text is whole.
    Final,
    /// More text, which has not come yet.
    More,
    /// Something that was masked before. Nothing can be said about what touches it.
    Masked,
}

/// What stands for something that was masked, as far as a look at it goes: a letter of a word, so that what touches it
/// is taken for a part of something longer. A match that reaches over the end is none.
const UNKNOWN: u8 = b'_';

/// A text, or the part of it that has come so far.
///
/// Every recogniser is a function of the bytes around a place, so that it says the same of a text that comes in
/// pieces. It looks back [`Text::BEHIND`] bytes at most, and asks [`byte`](Self::byte) for what follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    /// Whether something that was masked stands before the first byte.
    after_mask: bool,
    end: End,
}

/// Why a recogniser stops before it found anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stop {
    /// Whatever follows, there is nothing here.
    Nothing,
    /// What follows decides.
    Undecided,
}

/// What a recogniser says of a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Whatever follows, there is nothing here.
    Nothing,
    /// What follows decides. What would have to be masked begins at this place or later.
    Undecided(usize),
    /// From the first place up to, but without, the second one; whatever follows.
    Found(usize, usize),
}

impl<'a> Text<'a> {
    /// How far back a recogniser may look from the place it is asked about, in bytes.
    pub(crate) const BEHIND: usize = 192;

    pub(crate) const fn new(bytes: &'a [u8], after_mask: bool, end: End) -> Self {
        Self { bytes, after_mask, end }
    }

    /// A text of which nothing is missing.
    pub(crate) const fn whole(bytes: &'a [u8]) -> Self {
        Self::new(bytes, false, End::Final)
    }

    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) const fn end(&self) -> End {
        self.end
    }

    /// The byte at a place; none behind the end of a whole text.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> Result<Option<u8>, Stop> {
        match self.bytes.get(at) {
            Some(byte) => Ok(Some(*byte)),
            // One letter is known to be there, and nothing about what follows it.
            None if self.end == End::Masked && at == self.bytes.len() => Ok(Some(UNKNOWN)),
            None => self.past_end(),
        }
    }

    /// What is known about the place behind the last byte.
    #[inline]
    pub(crate) const fn past_end(&self) -> Result<Option<u8>, Stop> {
        match self.end {
            End::Final => Ok(None),
            End::More => Err(Stop::Undecided),
            End::Masked => Err(Stop::Nothing),
        }
    }

    /// The byte before a place; none at the beginning of the text.
    #[inline]
    pub(crate) fn before(&self, at: usize) -> Result<Option<u8>, Stop> {
        match at.checked_sub(1).and_then(|at| self.bytes.get(at)) {
            Some(byte) => Ok(Some(*byte)),
            None if self.after_mask => Err(Stop::Nothing),
            None => Ok(None),
        }
    }
}

impl Verdict {
    /// The verdict on a search that stopped; if it is undecided, what would have to be masked begins there.
    pub(crate) const fn stopped(stop: Stop, begins: usize) -> Self {
        match stop {
            Stop::Nothing => Self::Nothing,
            Stop::Undecided => Self::Undecided(begins),
        }
    }
}

/// Whether a byte belongs to a word: an ASCII letter, a digit or an underscore. Letters of other scripts are borders.
#[inline]
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
