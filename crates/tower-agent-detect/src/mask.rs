//! What stands in the place of a value.
#[derive(Clone, Debug, Default)]
pub struct Mask;
pub(crate) enum Standing {
    No,
    Undecided,
    Ends(usize),
}
impl Mask {
    pub fn label() -> Self {
        Self
    }
    pub(crate) fn write(&self, found: &Masked<'_>, out: &mut String) {
        out.push_str("[REDACTED:");
        out.push_str(found.0);
        out.push(']');
    }
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        memchr::memchr(b'[', text.get(from..)?).map(|i| i + from)
    }
    pub(crate) fn standing_at(&self, text: &[u8], at: usize, last: bool) -> Standing {
        let rest = &text[at..];
        let head = b"[REDACTED";
        let n = rest.len().min(head.len());
        if rest[..n] != head[..n] {
            return Standing::No;
        }
        if n < head.len() {
            return if last { Standing::No } else { Standing::Undecided };
        }
        for (i, b) in rest.iter().enumerate().skip(9) {
            match b {
                b']' => return Standing::Ends(at + i + 1),
                b':' | b'-' | b'.' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' if i < 150 => {}
                _ => return Standing::No,
            }
        }
        if last { Standing::No } else { Standing::Undecided }
    }
}
pub struct Masked<'a>(&'a str);
impl<'a> Masked<'a> {
    pub(crate) fn new(rule: &'a str, _set: &str, _value: &'a str) -> Self {
        Self(rule)
    }
}
