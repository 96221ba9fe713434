//! How a text ends: its last byte, and the classes of its last three.

use super::{
    Carry,
    class::{self, Window},
};

/// How a text may end that ends with one of some words.
#[derive(Debug)]
pub(crate) struct Endings {
    /// For each byte whether it is such a word, and whether a longer one ends with it.
    bytes: [u8; 256],
    /// A bit for each window with which a longer one ends.
    windows: Box<[u64; class::WINDOWS / 64]>,
}

/// With what a text may end, of some words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending(u8);

const WORD: u8 = 1;
const END: u8 = 2;

impl Endings {
    /// For words of any length, in lower case.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut endings = Self { bytes: [0; 256], windows: Box::new([0; class::WINDOWS / 64]) };
        for word in words {
            match word {
                [] => {}
                [byte] => endings.enter_byte(*byte, WORD),
                [.., first, second, third] => {
                    endings.enter_byte(*third, END);
                    endings.enter(class::window([*first, *second, *third]));
                }
                [second, third] => {
                    endings.enter_byte(*third, END);
                    class::windows_behind([*second, *third]).for_each(|it| endings.enter(it));
                }
            }
        }
        endings
    }

    fn enter_byte(&mut self, byte: u8, is: u8) {
        for byte in [byte, byte.to_ascii_uppercase()] {
            if let Some(flags) = self.bytes.get_mut(usize::from(byte)) {
                *flags |= is;
            }
        }
    }

    fn enter(&mut self, window: Window) {
        if let Some(bits) = self.windows.get_mut(usize::from(window / 64)) {
            *bits |= 1 << (window % 64);
        }
    }

    /// With what a text may end, in either case. `carry`: what is carried on behind it.
    #[inline]
    pub(crate) fn of(&self, text: &[u8], carry: Carry) -> Ending {
        let Some(last) = text.last() else { return Ending(0) };
        let flags = self.bytes.get(usize::from(*last)).copied().unwrap_or(0);
        if flags == 0 {
            return Ending(0);
        }
        let bits = self.windows.get(usize::from(carry.window / 64)).copied().unwrap_or(0);
        let is_end = bits >> (carry.window % 64) & 1;
        Ending(flags & (WORD | (is_end as u8 * END)))
    }
}

impl Ending {
    #[inline]
    pub(crate) const fn is_nothing(self) -> bool {
        self.0 == 0
    }

    /// Whether it is no more than a word of a single byte.
    pub(crate) const fn is_byte(self) -> bool {
        self.0 == WORD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    #[test]
    fn a_text_ends_with_words_of_any_length_in_either_case() {
        let endings = Endings::new([&b"\""[..], b"; ", b"/ab", b"key=\"c"].into_iter());
        let filter = Filter::new(&[], false);
        let of = |text: &str| {
            let ending = endings.of(text.as_bytes(), filter.carry(text.as_bytes()));
            (ending.is_nothing(), ending.is_byte())
        };
        for (text, is) in [
            ("", (true, false)),
            ("a\"", (false, true)),
            ("a; ", (false, false)),
            ("a, ", (true, false)),
            (" /AB", (false, false)),
            ("/ab", (false, false)),
            ("ab", (true, false)),
            ("key=\"c", (false, false)),
        ] {
            assert_eq!(of(text), is, "{text}");
        }
    }
}
