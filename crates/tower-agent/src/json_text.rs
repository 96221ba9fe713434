//! JSON text as it stands: order, duplicate keys and the digits of numbers are those of the text.

use serde::de::IgnoredAny;

/// Whether a text is, as a whole, a JSON object, array or string.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '[', '"'])
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Where the string that a text begins with ends, its quotes included.
pub(crate) fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    let close = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    });
    close.map(|(position, _)| position + 1)
}
