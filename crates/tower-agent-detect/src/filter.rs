//! Finds the places of a text where a rule may have something to say.
#[derive(Debug)]
pub(crate) struct Filter {
    words: Vec<String>,
}
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Word(u32),
    Digits,
    Hex,
}
impl Filter {
    pub(crate) fn new(words: &[String], _numbers: bool) -> Self {
        Self { words: words.to_vec() }
    }
    pub(crate) fn search(
        &self,
        text: &[u8],
        from: usize,
        last: bool,
        hit: &mut impl FnMut(Occurrence),
    ) -> usize {
        let mut at = from;
        while at < text.len() {
            let rest = &text[at..];
            if !last && rest.len() < 64 {
                break;
            }
            for (i, w) in self.words.iter().enumerate() {
                if rest.len() >= w.len() && rest[..w.len()].eq_ignore_ascii_case(w.as_bytes()) {
                    hit(Occurrence { kind: Kind::Word(i as u32), start: at, end: at + w.len() });
                }
            }
            at += 1;
        }
        at
    }
}
