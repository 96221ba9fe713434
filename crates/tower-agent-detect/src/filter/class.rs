//! Bytes in 32 classes, so that three of them make an index of fifteen bits.

use fearless_simd::{Simd, prelude::*, u8x64, u16x32};

use crate::bits;

/// How many windows there are of three classes.
pub(super) const WINDOWS: usize = 1 << 15;

/// Three classes in a row, the first one in the lowest bits.
pub(super) type Window = u16;

/// The class of a byte: letters by the alphabet in either case, all digits together, and the rest so that
/// what joins words (`_`, `-`) shares its class with little else.
#[inline]
pub(super) const fn class(byte: u8) -> u8 {
    let high = byte & 0x1f;
    let low = 27 + (byte.saturating_sub(0x20) >> 3 & 3) + (byte == b'-') as u8;
    let class = if byte.wrapping_sub(0x40) < 0x40 { high } else { low };
    if byte.wrapping_sub(b'0') < 10 { 0 } else { class }
}

/// The window of three bytes.
#[inline]
pub(super) const fn window([first, second, third]: [u8; 3]) -> Window {
    class(first) as u16 | (class(second) as u16) << 5 | (class(third) as u16) << 10
}

/// The windows that end with two bytes.
pub(super) fn windows_behind([second, third]: [u8; 2]) -> impl Iterator<Item = Window> {
    let window = window([b'0', second, third]);
    (0..32).map(move |first| window | first)
}

/// What is searched behind the end of a text, where any word may end: of the same class as digits, which may stand behind most
/// words in any case.
pub(super) const BEHIND: u8 = b'@';

/// Some of the classes, a bit for each.
pub(crate) type Classes = u32;

/// All classes.
pub(crate) const ANY: Classes = Classes::MAX;

/// The class of a byte, as one of [`Classes`].
#[inline]
pub(crate) fn bit(byte: u8) -> Classes {
    1 << of(byte)
}

/// The class of each byte.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, and would refuse a wrong index"
)]
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while let Some(next) = byte.checked_add(1) {
        classes[byte as usize] = class(byte);
        byte = next;
    }
    classes[255] = class(255);
    classes
};

/// The class of a byte that stands alone.
#[inline]
pub(super) fn of(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// The window that ends with a byte and begins in the window before it.
#[inline]
pub(super) fn next(window: Window, byte: u8) -> Window {
    window >> 5 | Window::from(of(byte)) << 10
}

/// The window of the first three bytes.
pub(super) fn first(bytes: &[u8]) -> Option<Window> {
    bytes.first_chunk().map(|bytes| window(*bytes))
}

/// The classes of a pair of bytes in each lane, one in each half of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs<S: Simd>(u16x32<S>);

// What is not inlined into the function that was chosen for a processor is compiled for the least one.
impl<S: Simd> Pairs<S> {
    /// Of the first bytes of a text, with [`BEHIND`] behind its end.
    #[inline(always)]
    pub(super) fn of(simd: S, text: &[u8]) -> Self {
        Self(classes(simd, bits::load(simd, text, BEHIND)).bitcast())
    }

    /// The windows that begin with each pair, if these are the next ones.
    #[inline(always)]
    pub(super) fn windows(self, next: Self, to: &mut [Window; PAIRS]) {
        let ends = self.0.slide::<1>(next.0) << 10;
        (self.0 & 0x1f | self.0 >> 3 & 0x3e0 | ends).store_array(to);
    }
}

/// How many pairs are in one register.
pub(super) const PAIRS: usize = bits::BLOCK / 2;

/// The same as [`class`] of each byte.
#[inline(always)]
fn classes<S: Simd>(simd: S, bytes: u8x64<S>) -> u8x64<S> {
    let rows = bytes.saturating_sub(0x20) >> 3 & 3;
    let low = rows + bytes.simd_eq(b'-').select(u8x64::splat(simd, 28), u8x64::splat(simd, 27));
    let classes = (bytes - 0x40).simd_lt(0x40).select(bytes & 0x1f, low);
    (bytes - b'0').simd_lt(10).select(u8x64::splat(simd, 0), classes)
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::bits::levels;

    #[inline(always)]
    fn windows<S: Simd>(simd: S, text: &[u8]) -> [Window; PAIRS] {
        let mut windows = [0; PAIRS];
        let next = text.get(bits::BLOCK..).unwrap_or_default();
        Pairs::of(simd, text).windows(Pairs::of(simd, next), &mut windows);
        windows
    }

    #[test]
    fn windows_of_a_register_are_those_of_single_bytes() {
        for first in 0..=u8::MAX {
            for step in [1_u8, 3, 7] {
                let text: [u8; 66] =
                    std::array::from_fn(|at| first.wrapping_add((at as u8).wrapping_mul(step)));
                let alone = |at: usize| window([text[at], text[at + 1], text[at + 2]]);

                let alone: [Window; PAIRS] = std::array::from_fn(|pair| alone(2 * pair));

                let windows =
                    levels::each(|| dispatch!(bits::level(), simd => windows(simd, &text)));

                assert!(windows.iter().all(|windows| *windows == alone), "{windows:?}");
            }
        }
    }
}
