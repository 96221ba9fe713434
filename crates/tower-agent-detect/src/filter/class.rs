//! Bytes in 32 classes, so that three of them make an index of fifteen bits.

/// Bytes that are judged at once.
pub(super) const BLOCK: usize = 128;

/// Windows that are looked up together.
pub(super) const GROUP: usize = 8;

/// How many windows there are of three classes.
pub(super) const WINDOWS: usize = 1 << 15;

/// Three classes in a row, the first one in the lowest bits.
pub(super) type Window = u16;

/// The class of a byte: letters by the alphabet in either case, all digits together, and the rest so that
/// what joins words (`_`, `-`) shares its class with little else.
///
/// It is all sums and choices without a branch, so that a block is done in vector registers.
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

/// The windows of a block, one in two.
///
/// It is made once for a search, as even to clear it costs too much.
#[derive(Debug)]
pub(super) struct Windows {
    classes: [u8; BLOCK + 2],
    windows: [Window; BLOCK / 2],
}

impl Windows {
    pub(super) const fn new() -> Self {
        Self { classes: [0; BLOCK + 2], windows: [0; BLOCK / 2] }
    }

    /// Takes the windows that begin at even places of the first [`BLOCK`] bytes, in groups.
    #[inline]
    pub(super) fn fill(&mut self, bytes: &[u8; BLOCK + 2]) -> &[[Window; GROUP]] {
        for (to, byte) in self.classes.iter_mut().zip(bytes) {
            *to = class(*byte);
        }
        let (pairs, _) = self.classes.as_chunks();
        let [_, nexts @ ..] = pairs else { return &[] };
        for ((window, pair), next) in self.windows.iter_mut().zip(pairs).zip(nexts) {
            let (pair, next) = (Window::from_le_bytes(*pair), Window::from_le_bytes(*next));
            *window = pair & 0x1f | pair >> 3 & 0x3e0 | next << 10;
        }
        let (groups, _) = self.windows.as_chunks();
        groups
    }
}
