use proptest::prelude::*;

use super::contexts::{ADDRESSES, CALLS, HARDWARE, LOGINS, NUMBERS};
use super::driver::{self, Scan};
use super::kinds::{CARDS, EMAILS, IBANS, IPS, MACS, PHONES, SSNS};
use super::quiet::QUIET;
use crate::pii::Kinds;
use crate::tail::tests::personal as tail;
use crate::text::{End, Text};

fn samples() -> Vec<String> {
    let wallets = [
        ["pay 3J98t1WpEZ", "73CNmQviec", "rnyiWrnqRh", "WNLy soon"].concat(),
        ["BC1QW508D6Q", "EJXTDG4Y5R", "3ZARVARY0C", "5XW7KV8F3T4"].concat(),
        ["0x5aAeb6053F", "3E94C9b9A0", "9f33669435", "E7Ef1BeAed"].concat(),
    ];
    [EMAILS, CARDS, IBANS, PHONES, SSNS, IPS, MACS]
        .iter()
        .chain(&[ADDRESSES, HARDWARE, LOGINS, NUMBERS, CALLS])
        .flat_map(|samples| samples.iter().map(|(text, _)| (*text).to_owned()))
        .chain(QUIET.iter().map(|text| (*text).to_owned()))
        .chain(wallets)
        .collect()
}

/// Asserts that what has come of a text says the same as the whole, and that nothing found later was let go.
fn assert_pieces(text: &[u8]) {
    let whole = driver::whole(text);
    for cut in 0..=text.len() {
        let Scan { found, hold } =
            driver::scan(&Text::new(&text[..cut], false, End::More), &mut Vec::new());
        let shown = String::from_utf8_lossy(text);
        for found in &found {
            assert!(
                whole.contains(found),
                "{found:?} of the first {cut} bytes is not in the whole `{shown}`"
            );
        }
        for later in whole.iter().filter(|later| !found.contains(later)) {
            assert!(
                later.start >= hold,
                "{later:?} begins before {hold}, let go after {cut} bytes of `{shown}`"
            );
        }
    }
}

/// Asserts that the recognisers say the same if all but the last bytes before a place are gone.
fn assert_near(text: &[u8]) {
    let whole = Text::whole(text);
    let mut asked = Vec::new();
    driver::scan(&whole, &mut asked);
    for (ask, at, from) in asked {
        let gone = at.saturating_sub(Text::BEHIND);
        let (mut all, mut near) = (Vec::new(), Vec::new());
        ask(&whole, at, from, &mut all);
        ask(&Text::whole(&text[gone..]), at - gone, from.saturating_sub(gone), &mut near);
        let spans = |found: &[crate::pii::Found], by: usize| {
            found
                .iter()
                .map(|found| (found.kind, found.start + by, found.end + by))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            spans(&all, 0),
            spans(&near, gone),
            "at {at} of `{}`",
            String::from_utf8_lossy(text)
        );
    }
}

#[test]
fn every_sample_says_the_same_in_pieces() {
    for sample in samples() {
        assert_pieces(sample.as_bytes());
        assert_pieces(format!("see {sample} 12").as_bytes());
    }
}

#[test]
fn the_words_long_before_a_number_do_not_matter() {
    for sample in samples() {
        for filler in ["card ssn phone: ", "x1 ", "mac\n"] {
            assert_near(format!("{}{sample}", filler.repeat(20)).as_bytes());
        }
    }
}

#[test]
fn words_are_looked_for_no_further_back_than_is_kept() {
    for (word, number) in [
        ("ssn", "123456788"),
        ("card", "503802053770"),
        ("mac", "0012.3456.789a"),
        ("tel", "5555550123"),
    ] {
        for distance in 0..160 {
            assert_near(format!("{word}{}{number}", " ".repeat(distance)).as_bytes());
            assert_near(format!("{word}{}+44 (20) 7946 0958", " ".repeat(distance)).as_bytes());
        }
    }
}

#[test]
fn plain_prose_is_hardly_held_back() {
    let text = b"The quick brown fox jumps over the lazy dog, and then it rests.";
    for cut in 0..text.len() {
        let word = text[..cut].iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        assert!(tail(&text[..cut], Kinds::all()) + word + 1 >= cut);
    }
    assert_eq!(tail(b"all is said. ", Kinds::all()), 13);
    assert_eq!(tail(b"any word", Kinds::none()), 8);
    assert!(tail(&[b'a'; 300], Kinds::all()) >= 280);
}

#[test]
fn what_touches_something_masked_is_not_judged() {
    let scan = |text: &[u8], after_mask: bool, end: End| {
        driver::scan(&Text::new(text, after_mask, end), &mut Vec::new()).found
    };
    assert_eq!(scan(b"4111111111111111", true, End::Final), []);
    assert_eq!(scan(b"4111111111111111", false, End::Masked), []);
    assert_eq!(scan(b" 4111111111111111 ", true, End::Masked).len(), 1);
    assert_eq!(scan(b"jo@example.com", true, End::Final), []);
}

/// Pieces of which numbers, addresses and their neighbours are made.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(samples()),
        4 => "[0-9]{1,5}",
        4 => "[ .:/()+-]{1,2}",
        2 => "[0-9a-fA-F]{1,4}",
        2 => "[a-zA-Z@_é]{1,4}",
        1 => prop::sample::select(vec!["phone: ", "ssn ", "card ", "mac ", "GB82 ", "::", "bc1", "0x", "+44 (", "\\n", "x1", "\n", "://", ", ", "ip ", "mac:"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_says_the_same_in_pieces(pieces in prop::collection::vec(piece(), 1..12)) {
        let text = pieces.concat();
        assert_pieces(text.as_bytes());
        assert_near(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_looked_at_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_pieces(&bytes);
    }
}
