/// What a limit counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes of UTF-8.
    #[default]
    Bytes,
    /// Characters, as Unicode scalar values.
    Characters,
}

impl Unit {
    /// The size of a text.
    #[must_use]
    pub fn measure(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::Characters => text.chars().count(),
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Characters => "characters",
        }
    }

    /// The longest beginning of a text that is no longer than `size`.
    pub(super) fn head(self, text: &str, size: usize) -> &str {
        let end = match self {
            Self::Bytes => text.floor_char_boundary(size),
            Self::Characters => {
                text.char_indices().nth(size).map_or(text.len(), |(index, _)| index)
            }
        };
        text.get(..end).unwrap_or_default()
    }

    /// The longest end of a text that is no longer than `size`.
    pub(super) fn tail(self, text: &str, size: usize) -> &str {
        let start = match self {
            Self::Bytes => text.ceil_char_boundary(text.len().saturating_sub(size)),
            Self::Characters if size == 0 => text.len(),
            Self::Characters => {
                text.char_indices().nth_back(size - 1).map_or(0, |(index, _)| index)
            }
        };
        text.get(start..).unwrap_or_default()
    }
}
