//! What fuzzing found, once, kept so that it stays found. Texts are templates, so that no scanner takes this file for a leak.
#![cfg(test)]

mod support;

use tower_agent_detect::{Detector, Mask};

use crate::support::{expand, streamed};

/// Asserts that a text is masked alike whole, in pieces of any size, and once more.
fn assert_masked_alike(detector: &Detector, mask: &Mask, text: &str) {
    let whole = detector.mask_with(text, mask);
    assert_eq!(detector.mask_with(&whole, mask), whole, "{mask:?}, twice: {text}");
    for size in 1..=text.chars().count() {
        assert_eq!(
            streamed(detector, mask, text, size),
            whole,
            "{mask:?}, in pieces of {size}: {text}"
        );
    }
}

#[test]
fn a_mask_beside_another_one_is_still_known() {
    let key = "-----BEGIN PRIVATE KEY-----\n<base64:20>/";
    for text in [format!("{key}***{key}"), format!("{key}***{key}***"), format!("***{key}******")] {
        assert_masked_alike(&Detector::builtin(), &Mask::text("***"), &expand(&text));
    }
}

#[test]
fn a_stream_waits_for_a_value_of_which_it_does_not_know_the_rule_yet() {
    for rule in ["generic-token", "generic-secret", "generic-api-key"] {
        let detector = Detector::builder().only([rule]).build().unwrap();
        for text in ["TOKEN=<alnum:20>", "client_secret = \"<alnum:24>\"", "x api_key: <hex:32> y"]
        {
            assert_masked_alike(&detector, &Mask::label(), &expand(text));
        }
    }
}

#[test]
fn keywords_that_stand_for_too_many_words_are_refused_before_they_are_written_out() {
    let cases = [
        ("[a-z]".repeat(8), "the keywords stand for more than 4096 words"),
        (format!("[{}]", "a".repeat(600)), "a keyword is longer than 512 bytes"),
        ("[a]".repeat(200), "a keyword is longer than 512 bytes"),
    ];
    for (word, cause) in cases {
        let rule = format!(
            "[[rule]]\nid = 'x'\ndescription = 'x'\nkeywords = ['{word}']\npattern = 'abc'"
        );
        let error = Detector::builder().rules_toml(&rule).build().unwrap_err();
        assert_eq!(error.to_string(), format!("rule `x`: {cause}"));
    }
}
