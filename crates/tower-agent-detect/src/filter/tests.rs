use proptest::prelude::*;

use super::*;
use crate::{
    bits::levels,
    decode,
    personal::Line,
    pii::{self, Found},
    text::{End, Text},
};

/// Every occurrence there is, by trying each word at each place.
fn naive(words: &[String], numbers: bool, text: &[u8]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for start in 0..text.len() {
        for (number, word) in
            words.iter().enumerate().filter(|(_, word)| word.len() >= Filter::SHORTEST)
        {
            let end = start + word.len();
            if text.get(start..end).is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes())) {
                found.push(Occurrence { kind: Kind::Word(number as u32), start, end });
            }
        }
        let Some(bytes) = text[start..].first_chunk().filter(|_| numbers) else { continue };
        let end = start + 3;
        if is_digits(*bytes) {
            found.push(Occurrence { kind: Kind::Digits, start, end });
        }
        if is_hex(*bytes) {
            found.push(Occurrence { kind: Kind::Hex, start, end });
        }
    }
    found.sort();
    found
}

fn is_digits(bytes: [u8; 3]) -> bool {
    let digit = |at: usize| bytes[at].is_ascii_digit();
    digit(0) && digit(2) && (digit(1) || b" .-/:()".contains(&bytes[1]))
}

fn is_hex(bytes: [u8; 3]) -> bool {
    let hex = |at: usize| bytes[at].is_ascii_hexdigit();
    let colon = |at: usize| bytes[at] == b':';
    (hex(0) && (colon(1) || bytes[1] == b'-') && hex(2))
        || (hex(0) && colon(1) && colon(2))
        || (colon(0) && colon(1) && hex(2))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// A search for words, whatever stands around them.
fn filter(words: &[String], numbers: bool) -> Filter {
    let words: Vec<_> = words.iter().map(|word| (word.clone(), Around::ANYTHING)).collect();
    Filter::new(&words, numbers)
}

/// What is found while the text grows by pieces of these lengths, over and over.
fn grown(filter: &Filter, text: &[u8], pieces: &[usize]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let (mut from, mut pieces) = (0, pieces.iter().cycle());
    while from < text.len() {
        let len = text.len().min(from + pieces.next().unwrap());
        filter.search(&text[..len], from, &mut |occurrence| {
            assert!(
                from < occurrence.end && occurrence.end <= len,
                "{occurrence:?} is not new at {from}..{len}"
            );
            found.push(occurrence);
            0
        });
        from = len;
    }
    found.sort();
    found
}

fn whole(filter: &Filter, text: &[u8]) -> Vec<Occurrence> {
    grown(filter, text, &[text.len().max(1)])
}

#[test]
fn a_word_is_found_in_either_case() {
    let filter = filter(&words(&["ghp_", "token"]), false);

    let found = whole(&filter, b"my ToKen is GHP_1");

    let token = Occurrence { kind: Kind::Word(1), start: 3, end: 8 };
    let prefix = Occurrence { kind: Kind::Word(0), start: 12, end: 16 };
    assert_eq!(found, [prefix, token]);
}

#[test]
fn bytes_of_one_class_are_told_apart() {
    let filter = filter(&words(&["a_b", "://", "sk0"]), false);

    assert_eq!(whole(&filter, b"a\x7fb ;// :// sk1 sk0 A_B").len(), 3);
}

#[test]
fn a_word_within_a_word_is_found_as_well() {
    let filter = filter(&words(&["key", "api_key", "api_key_", "_ke"]), false);

    assert_eq!(whole(&filter, b"api_key_").len(), 4);
}

#[test]
fn words_that_are_too_short_are_never_found() {
    let filter = filter(&words(&["", "a", "ab"]), false);

    assert_eq!(whole(&filter, &b"ab".repeat(200)), []);
}

#[test]
fn what_is_left_of_a_token_behind_a_number_is_taken_for_an_address_by_nobody() {
    for text in [
        "2000-00-00 00:00:0000.000.00.000GB29 NWBK 6016 1331 9268 190.000.000.000tel: tel: \
         MT84MALT011000012345MTLCAST001S378282246310005:a0:0a:aa:00:0a:a0(",
        "0.0.0.02000-00-00 00:00:00.000a:a:0:a:0:0:a:0a+0 (0000 0000000aa:aa:00:a0:a0:00:00-a0:00\
         -aa:aa-aa000",
    ] {
        let (some, all) = passed_over(&Text::whole(text.as_bytes()));

        assert_eq!((some, all), (vec![], vec![]), "{text}");
    }
}

#[test]
fn nothing_is_found_where_nothing_is_asked_for() {
    let filter = filter(&[], false);

    assert_eq!(whole(&filter, &b"12:34 fe80::1 token ".repeat(50)), []);
}

#[test]
fn a_number_is_reported_no_more_until_it_is_over() {
    let filter = filter(&[], true);
    for text in [&b"4111 1111 1111 1111, 12"[..], &b" ".repeat(300)] {
        let text = [b"4111 1111 1111 1111, ", text].concat();
        let mut starts = Vec::new();

        filter.search(&text, 0, &mut |occurrence| {
            starts.push(occurrence.start);
            occurrence.start + 19
        });

        assert_eq!(starts.first(), Some(&0));
        assert!(starts.windows(2).all(|pair| pair[0] + 19 <= pair[1]), "{starts:?}");
    }
}

#[test]
fn what_stands_far_behind_may_be_gone() {
    let all = words(&["authorization", "key", "-----begin"]);
    let filter = filter(&all, true);
    let text = b"authorization -----BEGIN 12:34 ".repeat(20);
    for piece in [1, 7, 50, 64, 200] {
        let mut found = Vec::new();
        let mut from = 0;
        while from < text.len() {
            let len = text.len().min(from + piece);
            let gone = from.saturating_sub(filter.behind());
            filter.search(&text[gone..len], from - gone, &mut |Occurrence { kind, start, end }| {
                found.push(Occurrence { kind, start: start + gone, end: end + gone });
                0
            });
            from = len;
        }
        found.sort();
        found.retain(|it| matches!(it.kind, Kind::Word(_)));
        assert_eq!(found, naive(&all, false, &text), "in pieces of {piece}");
    }
}

#[test]
fn words_that_look_alike_are_tried_a_few_at_a_time() {
    let ends = 100..500;
    let all: Vec<String> = ends.map(|end| format!("company_{}_api_key", base26(end))).collect();
    let filter = filter(&all, true);

    assert!(filter.anchors.most() <= 16, "{} words are tried at one place", filter.anchors.most());
}

#[test]
fn a_text_of_nothing_but_words_reports_each_of_them_once() {
    let all = words(&["aaa", "aaaa", "aaaaaaaa", "aaaaaaaaaaaaaaaa"]);
    let filter = filter(&all, true);
    let text = [b'a'; 5000];
    let expected: usize = all.iter().map(|word| text.len() - word.len() + 1).sum();

    assert_eq!(whole(&filter, &text).len(), expected);
    assert_eq!(grown(&filter, &text, &[1]).len(), expected);
}

fn base26(number: u32) -> String {
    [number / 676, number / 26, number]
        .map(|digit| char::from(b'a' + (digit % 26) as u8))
        .iter()
        .collect()
}

/// What was found, from where to where.
type Place = (pii::Kind, usize, usize);

/// What the recognisers of numbers find at these places, one after another.
fn numbers<'p>(text: &Text<'_>, places: impl IntoIterator<Item = &'p Occurrence>) -> Vec<Place> {
    let (mut digits, mut hexes, mut found) = (Line::default(), Line::default(), Vec::new());
    for place in places {
        match place.kind {
            Kind::Digits => digits.seen(text, place.start, pii::number, &mut found),
            Kind::Hex => hexes.seen(text, place.start, pii::hex, &mut found),
            Kind::Word(_) | Kind::Base64 => continue,
        };
    }
    let span = |found: &Found| (found.kind, found.start, found.end);
    let mut found: Vec<_> = found.iter().map(span).collect();
    found.sort_by_key(|(_, start, end)| (*start, *end));
    found.dedup();
    found
}

/// What is found where a search reports a number, and where there is any.
fn passed_over(text: &Text<'_>) -> (Vec<Place>, Vec<Place>) {
    let filter = filter(&[], true);
    let passed = levels::each(|| {
        let (mut digits, mut hexes) = (Line::default(), Line::default());
        let mut seen = Vec::new();
        filter.search(text.bytes(), 0, &mut |place| {
            seen.push(place);
            let (line, such): (_, crate::personal::Look) = match place.kind {
                Kind::Hex => (&mut hexes, pii::hex),
                _ => (&mut digits, pii::number),
            };
            line.seen(text, place.start, such, &mut Vec::new());
            line.from(text)
        });
        seen
    });
    let seen = &passed[0];
    assert!(passed.iter().all(|it| it == seen));
    (numbers(text, seen), numbers(text, &by_place(naive(&[], true, text.bytes()))))
}

fn by_place(mut places: Vec<Occurrence>) -> Vec<Occurrence> {
    places.sort_by_key(|place| place.start);
    places
}

/// Pieces of what numbers are made of, and whole ones.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,9}",
        "[ ./:()+-]{1,2}",
        "[0-9a-f]{1,5}",
        "::|:|, |\"|[A-Za-z]{1,6}|x|_|n|\\\\n|é| {3,70}",
        "[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}",
        "([0-9a-f]{2}[:-]){5}[0-9a-f]{2}",
        "([0-9a-f]{4}[.]){2}[0-9a-f]{4}",
        "([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
        "(fe80|2001:db8|)::[0-9a-f]{0,4}(:[0-9a-f]{1,4})?",
        "[+]?[0-9]{1,3}[ -]?[(]?[0-9]{2,4}[)]?[ -][0-9]{3,4}[ -]?[0-9]{3,4}",
        "[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{3})?Z?",
        Just("4111 1111 1111 1111".to_owned()),
        Just("378282246310005".to_owned()),
        Just("GB29 NWBK 6016 1331 9268 19".to_owned()),
        Just("MT84MALT011000012345MTLCAST001S".to_owned()),
        Just("tel: ".to_owned()),
        Just("mac ".to_owned()),
        Just("ip ".to_owned()),
        Just("card ".to_owned()),
        Just("ssn ".to_owned()),
    ]
}

/// Letters and signs that meet often, so that random words are in random texts.
fn dense() -> impl Strategy<Value = String> {
    "[abkey_:/0-]{3,6}|[a-c]{3,12}|[ -~]{3,20}"
}

/// The runs of Base64 that are long enough, and the last one of all in any case.
fn runs(text: &[u8]) -> Vec<(usize, usize)> {
    let is_in = |at: usize| text.get(at).is_some_and(|byte| crate::tail::is_base64(*byte));
    let ends = (0..=text.len())
        .filter(|at| !is_in(*at) && (*at == text.len() || is_in(at.wrapping_sub(1))));
    let run = |end: usize| ((0..end).rev().take_while(|at| is_in(*at)).last().unwrap_or(end), end);
    ends.map(run).filter(|(start, end)| end - start >= decode::RUN || *end == text.len()).collect()
}

proptest! {
    #[test]
    fn what_is_found_is_what_is_there(
        mut words in prop::collection::hash_set(dense(), 0..60),
        text in prop::collection::vec("[abkeyABKEY_:/0-]{1,9}|[a-cA-C]{1,9}|[0-9a-f:. ()-]{1,9}|\\PC{0,3}", 0..80),
        pieces in prop::collection::vec(1_usize..150, 1..5),
        numbers: bool,
    ) {
        words = words.into_iter().map(|word| word.to_ascii_lowercase()).collect();
        let words: Vec<String> = words.into_iter().collect();
        // Words are sown, so that long ones are met.
        let text: Vec<String> = text.into_iter().enumerate().flat_map(|(at, piece)| {
            [piece, words.get(at % 7).cloned().unwrap_or_default()]
        }).collect();
        let text = text.concat().into_bytes();
        let filter = filter(&words, numbers);
        let expected = naive(&words, numbers, &text);

        let wholes = levels::each(|| whole(&filter, &text));
        let grown = [grown(&filter, &text, &pieces), grown(&filter, &text, &[1])];
        for mut found in wholes.into_iter().chain(grown) {
            prop_assert!(found.iter().all(|it| expected.contains(it)), "{:?}", found);
            found.retain(|it| matches!(it.kind, Kind::Word(_)));
            let needed: Vec<_> =
                expected.iter().filter(|it| matches!(it.kind, Kind::Word(_))).copied().collect();
            prop_assert_eq!(found, needed);
        }
    }

    #[test]
    fn what_a_long_search_passes_over_is_no_number(
        pieces in prop::collection::vec(number(), 10..120),
        ends in prop::sample::select(&[End::Final, End::More, End::Masked]),
    ) {
        let text = pieces.concat().into_bytes();
        let (some, all) = passed_over(&Text::new(&text, false, ends));
        let missed = all.iter().find(|it| !some.contains(it)).map(|it| String::from_utf8_lossy(&text[it.1.saturating_sub(40)..text.len().min(it.2 + 20)]));
        prop_assert_eq!(&some, &all, "{:?}", missed);
    }

    #[test]
    fn runs_of_base64_are_reported_where_they_end(
        text in prop::collection::vec("[a-zA-Z0-9+/_-]{0,30}|[a-zA-Z0-9+/_-]{50,140}|[ -~]{0,9}|é|=", 0..40),
    ) {
        let text = text.concat();
        let filter = filter(&[], true);

        let found = levels::each(|| {
            let mut found = Vec::new();
            filter.search_long(text.as_bytes(), 0, true, &mut |seen| {
                if seen.kind == Kind::Base64 {
                    found.push((seen.start, seen.end));
                }
                0
            });
            found
        });

        for found in found {
            prop_assert_eq!(&found, &runs(text.as_bytes()));
        }
    }

    #[test]
    fn any_bytes_are_searched(
        text in prop::collection::vec(any::<u8>(), 0..600),
        words in prop::collection::vec("\\PC{0,40}", 0..9),
        from in 0_usize..700,
    ) {
        filter(&words, true).search(&text, from, &mut |occurrence| occurrence.end);
    }
}
