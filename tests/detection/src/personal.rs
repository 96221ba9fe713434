//! Personal data in sentences: how much of it is found, and what else is.

use crate::{Engine, Find, Sentence, Share};

/// A kind of personal data.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What the sentences call it.
    pub name: &'static str,
    /// The rule that finds it.
    pub rule: &'static str,
    /// What presidio-analyzer 2.2.366 finds with its own patterns in the same sentences: each recogniser on its own,
    /// with a score of 0.3 or more.
    pub presidio: Other,
    /// What it finds in the whole set, of which a third is kept apart.
    pub presidio_whole: Other,
}

/// What another one finds.
#[derive(Clone, Copy, Debug)]
pub struct Other {
    /// Spans that it finds.
    pub found: Share,
    /// Finds that touch no span of the kind.
    pub extra: usize,
}

const fn other(part: usize, whole: usize, extra: usize) -> Other {
    Other { found: Share { part, whole }, extra }
}

const fn kind(
    name: &'static str,
    rule: &'static str,
    presidio: Other,
    presidio_whole: Other,
) -> Kind {
    Kind { name, rule, presidio, presidio_whole }
}

/// The number of sentences in the whole set.
pub const WHOLE_SET: usize = 1500;

/// The kinds of which there are sentences.
pub const KINDS: [Kind; 6] = [
    kind("CREDIT_CARD", "credit-card", other(77, 95, 0), other(105, 136, 0)),
    kind("EMAIL_ADDRESS", "email", other(36, 36, 0), other(49, 49, 0)),
    kind("IBAN_CODE", "iban", other(14, 15, 0), other(20, 21, 0)),
    kind("IP_ADDRESS", "ip-address", other(9, 9, 0), other(14, 14, 0)),
    kind("PHONE_NUMBER", "phone", other(36, 62, 12), other(54, 92, 20)),
    kind("US_SSN", "us-ssn", other(9, 9, 0), other(16, 16, 0)),
];

/// The kinds of which there are tables, each with the rule that finds it.
pub const TABLES: [(&str, &str); 8] = [
    ("CREDIT_CARD", "credit-card"),
    ("CRYPTO", "crypto-wallet"),
    ("EMAIL_ADDRESS", "email"),
    ("IBAN_CODE", "iban"),
    ("IP_ADDRESS", "ip-address"),
    ("MAC_ADDRESS", "mac-address"),
    ("PHONE", "phone"),
    ("US_SSN", "us-ssn"),
];

/// What was counted of one kind.
#[derive(Debug)]
pub struct Counted {
    /// The kind.
    pub kind: Kind,
    /// Spans that were found, by a find of its rule that has a byte in common with it.
    pub found: Share,
    /// Finds of its rule that touch no span of the kind.
    pub extra: usize,
    /// The sentences with a span that was not found.
    pub misses: Vec<String>,
    /// The sentences with a find that should not be.
    pub extras: Vec<String>,
}

/// Looks for each kind of personal data.
#[must_use]
pub fn measure(engine: &Engine, sentences: &[Sentence]) -> Vec<Counted> {
    let found: Vec<_> = sentences.iter().map(|one| (one, engine.personal(&one.text))).collect();
    KINDS.iter().map(|kind| count(*kind, &found)).collect()
}

fn count(kind: Kind, sentences: &[(&Sentence, Vec<Find>)]) -> Counted {
    let mut counted =
        Counted { kind, found: Share::default(), extra: 0, misses: Vec::new(), extras: Vec::new() };
    for (sentence, finds) in sentences {
        let finds: Vec<_> = finds.iter().filter(|find| find.rule == kind.rule).collect();
        let spans: Vec<_> = sentence.spans.iter().filter(|(_, name)| name == kind.name).collect();
        for (span, _) in &spans {
            let found = finds.iter().any(|find| find.overlaps(span));
            counted.found.add(found);
            if !found {
                counted.misses.push(sentence.id.clone());
            }
        }
        for find in &finds {
            if !spans.iter().any(|(span, _)| find.overlaps(span)) {
                counted.extra += 1;
                counted.extras.push(sentence.id.clone());
            }
        }
    }
    counted
}
