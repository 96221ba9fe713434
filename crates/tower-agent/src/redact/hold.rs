//! Masks a text that comes in pieces.

use super::{
    canonical::is_invisible,
    engine::{Engine, Tally, merge},
};
use crate::Str;

/// A text of which the end is held back for as long as it could become part of a match.
///
/// What it lets go of is, put together, exactly the masked whole text, wherever the pieces were cut. Ordinary text is held for a
/// few characters at most; a value in quotes until the quotes close; a key block until it ends.
#[derive(Debug, Default)]
pub(super) struct Hold {
    first: Stage,
    /// Searches what was let go once more, as is done with whole texts. It can rest while nothing was masked and
    /// nothing is held: then whatever follows, masked or not, changes nothing of what went before.
    second: Option<Stage>,
    masked: bool,
    /// How much must be held before another search is worth it.
    search_at: usize,
    withheld: bool,
}

/// One search of a text that comes in pieces.
#[derive(Debug, Default)]
struct Stage {
    /// One character of what was let go, for conditions about what stands before, and then what is held.
    text: String,
    /// Where what is held begins.
    start: usize,
}

impl Hold {
    /// More than this is never held. A match that is longer is not known to be one; its text is replaced as if it
    /// were, and so is all that follows in the part, since nobody knows where it ends.
    pub(super) const MOST: usize = 64 * 1024;

    /// Takes the next piece and gives what is settled; the very piece if all of it is.
    pub(super) fn push(&mut self, engine: &Engine, piece: &Str, tally: &mut Tally) -> Option<Str> {
        if self.withheld || piece.is_empty() {
            return None;
        }
        let was_empty = self.held() == 0;
        self.first.text.push_str(piece);
        if self.first.held() < self.search_at {
            return None;
        }
        let (out, masked) = self.release(engine, false, tally);
        let held = self.held();
        if held > Self::MOST {
            self.withhold();
            return Some(format!("{out}{}", engine.replacement()).into());
        }
        // A long hold is searched again only when it grew by a quarter, so that the work stays linear.
        self.search_at = if held < 256 { 0 } else { self.first.held() + held / 4 };
        if was_empty && held == 0 && !masked {
            return Some(piece.clone());
        }
        (!out.is_empty()).then(|| out.into())
    }

    /// The rest, once no more pieces follow.
    pub(super) fn finish(&mut self, engine: &Engine, tally: &mut Tally) -> Option<Str> {
        let (out, _) = self.release(engine, true, tally);
        (!out.is_empty()).then(|| out.into())
    }

    /// The replacement for whatever is held, once it can never be known what it was.
    pub(super) fn abandon(&mut self, engine: &Engine) -> Option<Str> {
        let holds = self.held() > 0;
        self.withhold();
        holds.then(|| engine.replacement().clone())
    }

    /// Lets nothing go any more.
    pub(super) fn withhold(&mut self) {
        *self = Self { withheld: true, ..Self::default() };
    }

    fn held(&self) -> usize {
        self.first.held() + self.second.as_ref().map_or(0, Stage::held)
    }

    /// What is settled, and whether something of it was masked.
    fn release(&mut self, engine: &Engine, last: bool, tally: &mut Tally) -> (String, bool) {
        let before = self.first.before().to_owned();
        let (out, masked) = self.first.release(engine, last, tally);
        self.masked |= masked;
        if self.second.is_none() && !self.masked && self.first.held() == 0 {
            return (out, false);
        }
        let fresh = || Stage { start: before.len(), text: before };
        let second = self.second.get_or_insert_with(fresh);
        second.text.push_str(&out);
        let (out, _) = second.release(engine, last, &mut Tally::default());
        if !self.masked && self.held() == 0 {
            self.second = None;
        }
        (out, self.masked)
    }
}

impl Stage {
    fn held(&self) -> usize {
        self.text.len() - self.start
    }

    fn before(&self) -> &str {
        self.text.get(..self.start).unwrap_or_default()
    }

    fn release(&mut self, engine: &Engine, last: bool, tally: &mut Tally) -> (String, bool) {
        let Self { text, start } = self;
        let mut hits = engine.find(text, *start);
        hits.extend(engine.replaced_already(text, *start));
        let to = if last { text.len() } else { engine.settled(text, *start, &hits) };
        hits.retain(|hit| hit.secret.1 <= to);
        let spans = merge(hits);
        let out = engine.apply(text, *start, to, &spans, tally);
        self.forget(to);
        (out, !spans.is_empty())
    }

    /// Drops what was let go, but for the last visible character of it.
    fn forget(&mut self, to: usize) {
        let gone = self.text.get(..to).unwrap_or_default();
        let visible = gone.char_indices().rev().find(|(_, character)| !is_invisible(*character));
        let kept = visible.map_or("", |(place, character)| {
            gone.get(place..place + character.len_utf8()).unwrap_or_default()
        });
        let kept = kept.to_owned();
        self.text.replace_range(..to, &kept);
        self.start = kept.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::redact::Pattern;

    fn whole(engine: &Engine, text: &str) -> String {
        engine.mask(text, &mut Tally::default()).unwrap_or_else(|| text.to_owned())
    }

    fn pieces(engine: &Engine, pieces: &[&str]) -> String {
        let mut hold = Hold::default();
        let mut tally = Tally::default();
        let mut out = String::new();
        for piece in pieces {
            out.extend(hold.push(engine, &Str::from(*piece), &mut tally).as_deref());
        }
        out.extend(hold.finish(engine, &mut tally).as_deref());
        out
    }

    fn custom(patterns: &[&str], replacement: &str) -> Engine {
        let patterns = patterns.iter().map(|regex| Pattern::new("x", regex).unwrap());
        Engine::new(patterns, replacement.into())
    }

    #[test]
    fn ordinary_text_flows_word_by_word() {
        let engine = Engine::common();
        let mut hold = Hold::default();
        let mut tally = Tally::default();
        for word in 0..40 {
            let piece = Str::from(format!("word{word:02} "));
            let out = hold.push(&engine, &piece, &mut tally).unwrap();
            assert!(out.ptr_eq(&piece));
        }
        assert!(hold.finish(&engine, &mut tally).is_none());
    }

    #[test]
    fn a_hold_that_never_ends_is_cut_short_and_nothing_of_it_gets_out() {
        let engine = custom(&[r"(?s)BEGIN.*END"], "[REDACTED]");
        let mut hold = Hold::default();
        let mut tally = Tally::default();
        let mut out = String::new();
        out.extend(hold.push(&engine, &"x BEGIN".into(), &mut tally).as_deref());
        for _ in 0..200 {
            out.extend(hold.push(&engine, &"y".repeat(1_000).into(), &mut tally).as_deref());
        }
        out.extend(hold.finish(&engine, &mut tally).as_deref());
        assert_eq!(out, "x [REDACTED]");
    }

    #[test]
    fn what_is_held_when_a_stream_breaks_off_is_replaced() {
        let engine = custom(&["key=[a-z]+;"], "***");
        let mut hold = Hold::default();
        let out = hold.push(&engine, &"a key=hun".into(), &mut Tally::default());
        assert_eq!(out.as_deref(), Some("a "));
        assert_eq!(hold.abandon(&engine).as_deref(), Some("***"));
        assert_eq!(hold.abandon(&engine), None);
    }

    #[test]
    fn a_long_text_in_small_pieces_is_searched_a_linear_number_of_times() {
        let engine = custom(&[r"(?s)BEGIN.*?END"], "***");
        let text = format!("BEGIN{}END.", "x".repeat(60_000));
        assert_eq!(pieces(&engine, &cut(&text, &[3])), "***.");
    }

    /// Texts out of secrets, parts of secrets, and what commonly stands around them.
    fn texts() -> impl Strategy<Value = String> {
        let secret = prop_oneof![
            Just(["AKIA", "Q3EGRXZ7PL2MVTK5"].concat()),
            Just(["ghp_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat()),
            Just(["sk-", "aaaaaaaaaaaaaaaaaaaaaaaa"].concat()),
            Just(["sk-", "proj-", "abc_def-ghi012"].concat()),
            Just(["eyJhbGciOiJIUzI1", ".", "eyJzdWIiOiIxMjM0", ".", "c2lnbmF0dXJl"].concat()),
            Just("password=hunter2".to_owned()),
            Just("password: hunter2".to_owned()),
            Just("Password: required".to_owned()),
            Just(r#""password": "two words""#.to_owned()),
            Just(r#"client_secret='x"#.to_owned()),
            Just("postgres://u:p4ss@h/db".to_owned()),
            Just("Authorization: Bearer abc.def".to_owned()),
            Just("123-45-6789".to_owned()),
            Just("[REDACTED]".to_owned()),
            Just(
                [
                    "-----BEG",
                    "IN PRIVATE KEY-----\nNZmLAUMsmaJhXVKY7mi8\n-----E",
                    "ND PRIVATE KEY-----",
                ]
                .concat()
            ),
            Just(["-----BEG", "IN PRIVATE KEY-----\\nNZmLAUMsmaJhXVKY7mi8"].concat()),
        ];
        let filler = prop_oneof![
            Just(String::new()),
            Just(" ".to_owned()),
            Just("\n".to_owned()),
            Just("\"".to_owned()),
            Just("\\".to_owned()),
            Just("_".to_owned()),
            Just("\u{200b}".to_owned()),
            "[a-z ]{1,8}",
            "[=:,;@/'{}\\[\\]-]{1,2}",
            "[é日ж🦀]{1,3}",
            "[A-Z0-9]{1,20}",
        ];
        let part = (secret, 0.0..1.6_f64).prop_map(|(secret, keep): (String, f64)| {
            let end = secret.floor_char_boundary((secret.len() as f64 * keep) as usize);
            secret.split_at(end.min(secret.len())).0.to_owned()
        });
        prop::collection::vec(prop_oneof![part, filler], 0..10).prop_map(|parts| parts.concat())
    }

    fn cuts() -> impl Strategy<Value = Vec<usize>> {
        prop_oneof![Just(vec![1]), prop::collection::vec(1_usize..20, 1..30)]
    }

    fn cut<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
        let mut rest = text;
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let at = rest.char_indices().nth(*size).map_or(rest.len(), |(place, _)| place);
            let (piece, more) = rest.split_at(at);
            pieces.push(piece);
            rest = more;
        }
        pieces
    }

    proptest! {
        #[test]
        fn pieces_put_together_are_the_masked_whole(text in texts(), sizes in cuts()) {
            let engine = Engine::common();
            let expected = whole(&engine, &text);
            prop_assert_eq!(pieces(&engine, &cut(&text, &sizes)), expected);
        }

        #[test]
        fn masking_twice_is_masking_once(text in texts()) {
            let engine = Engine::common();
            let once = whole(&engine, &text);
            prop_assert_eq!(whole(&engine, &once), once.as_str(), "{:?}", text);
        }

        #[test]
        fn any_pattern_gives_the_same_whole_and_in_pieces(
            patterns in prop::collection::vec(patterns(), 1..4),
            replacement in prop_oneof![Just("[R]"), Just("a"), Just("aa"), Just("x y")],
            text in "[abcx =\n\u{200b}é]{0,40}",
            sizes in cuts(),
        ) {
            let engine = custom(&patterns, replacement);
            prop_assert_eq!(pieces(&engine, &cut(&text, &sizes)), whole(&engine, &text), "{:?}", text);
        }
    }

    fn patterns() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "ab+c?",
            "a{2,4}",
            "(?:ab|ba)c",
            r"(?-u:\b)a[bc]{2,}(?-u:\b)",
            r"\ba\b",
            r"\Bb+",
            "a=(?<secret>[a-c]+)",
            "(?<secret_a>a)x+(?<secret_b>b)",
            "^a",
            "(?m)^b+$",
            "c$",
            r"c\z",
            r"\Ax",
            "a.*?c",
            "a[^x]*b",
            "(?s)x.+",
            "b+?c",
            "(?i)A B",
            r"x(?:\s|é)+a",
            "é+",
        ])
    }
}
