//! Secrets: how many of the samples are found, and how many of those that are none.

use std::collections::BTreeMap;

use crate::{Engine, Find, Sample, Secret, Share};

/// Of all positives, at least so many per cent should be found.
pub const FOUND: f64 = 95.0;
/// Of those in which kingfisher or detect-secrets find something too, at least so many.
pub const AGREED: f64 = 99.0;
/// Of the negatives, at most so many per cent may be found by the rule that they are samples of.
pub const FLAGGED: f64 = 1.0;

/// Rules of the corpus, each with rules of the engine that are about the same and have another name.
const RENAMED: [(&str, &[&str]); 8] = [
    ("canadian-digital-service-notify-api-key", &["gc-notify-api-key"]),
    ("curl-auth-header", &["authorization-header", "generic-authorization"]),
    ("curl-auth-user", &["curl-user"]),
    ("generic-credential-uri", &["basic-auth-url"]),
    ("hashicorp-tf-password", &["generic-password"]),
    ("mailchimp-api-key", &["mailchimp-key"]),
    ("miro-access-token", &["miro-token"]),
    ("mongodb-connection-string", &["basic-auth-url"]),
];

/// What was counted on the samples of secrets.
#[derive(Debug, Default)]
pub struct Report {
    /// Positives that were found.
    pub found: Share,
    /// The same, of those in which kingfisher or detect-secrets find something too: scanners whose samples these are not.
    pub agreed: Share,
    /// Negatives in which the rule that they are samples of found something.
    pub flagged: Share,
    /// The same, with rules that are about the same and have another name.
    pub renamed: Share,
    /// Negatives in which any rule found something. Some hold a secret of another kind.
    pub touched: Share,
    /// Positives and negatives in which a real scanner finds anything, by its name.
    pub scanners: [(&'static str, Share, Share); 3],
    /// The same by rule.
    pub rules: BTreeMap<String, Rule>,
    /// Rules that there are samples for, and that the engine does not have under that name.
    pub unknown: Vec<String>,
    /// Negatives in which another rule found something: the row, the row's rule, and the rules that found it.
    pub others: Vec<(String, String, Vec<String>)>,
}

/// What was counted on the samples of one rule.
#[derive(Debug, Default)]
pub struct Rule {
    /// Positives that were found.
    pub found: Share,
    /// Negatives in which this rule found something.
    pub flagged: Share,
    /// The positives that were not, and which scanners find something in them.
    pub misses: Vec<(String, Vec<&'static str>)>,
    /// The negatives in which it did.
    pub false_finds: Vec<String>,
}

impl Rule {
    /// Whether every sample came out as it should.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.misses.is_empty() && self.false_finds.is_empty()
    }
}

impl Secret {
    /// The scanners that find something in the sample, by whichever rule.
    #[must_use]
    pub fn seen_by(&self) -> Vec<&'static str> {
        let seen = [
            ("betterleaks", &self.betterleaks),
            ("kingfisher", &self.kingfisher),
            ("detect-secrets", &self.detect_secrets),
        ];
        seen.iter().filter(|(_, rules)| !rules.is_empty()).map(|(name, _)| *name).collect()
    }

    fn is_agreed(&self) -> bool {
        !(self.kingfisher.is_empty() && self.detect_secrets.is_empty())
    }
}

/// Looks for secrets in all samples.
#[must_use]
pub fn measure(engine: &Engine, secrets: &[Secret]) -> Report {
    let mut report = Report {
        scanners: ["betterleaks", "kingfisher", "detect-secrets"].map(|name| {
            let seen = |secret: &Secret| secret.seen_by().contains(&name);
            let (positives, negatives) = parts(secrets);
            (name, Share::of(positives, seen), Share::of(negatives, seen))
        }),
        ..Report::default()
    };
    for secret in secrets {
        let finds = engine.secrets(&secret.sample.text);
        if secret.sample.positive {
            report.positive(secret, &finds);
        } else {
            report.negative(&secret.sample, &finds);
        }
    }
    report.unknown = report.rules.keys().filter(|rule| !engine.has_rule(rule)).cloned().collect();
    report
}

fn parts(secrets: &[Secret]) -> (Vec<&Secret>, Vec<&Secret>) {
    secrets.iter().partition(|secret| secret.sample.positive)
}

impl Report {
    fn positive(&mut self, secret: &Secret, finds: &[Find]) {
        let sample = &secret.sample;
        let found = sample.is_found(finds);
        let rule = self.rules.entry(sample.kind.clone()).or_default();
        self.found.add(found);
        rule.found.add(found);
        if secret.is_agreed() {
            self.agreed.add(found);
        }
        if !found {
            rule.misses.push((sample.id.clone(), secret.seen_by()));
        }
    }

    fn negative(&mut self, sample: &Sample, finds: &[Find]) {
        let flagged = finds.iter().any(|find| find.rule == sample.kind);
        let rule = self.rules.entry(sample.kind.clone()).or_default();
        self.flagged.add(flagged);
        self.renamed.add(flagged || finds.iter().any(|find| is_renamed(&sample.kind, &find.rule)));
        self.touched.add(!finds.is_empty());
        rule.flagged.add(flagged);
        if flagged {
            rule.false_finds.push(sample.id.clone());
        } else if !finds.is_empty() {
            let rules = finds.iter().map(|find| find.rule.clone()).collect();
            self.others.push((sample.id.clone(), sample.kind.clone(), rules));
        }
    }
}

fn is_renamed(corpus: &str, rule: &str) -> bool {
    RENAMED.iter().any(|(name, ours)| *name == corpus && ours.contains(&rule))
}

impl Sample {
    /// Whether one of the finds is where it should be; where that is not known, whether there is one.
    #[must_use]
    pub fn is_found(&self, finds: &[Find]) -> bool {
        if self.spans.is_empty() {
            return !finds.is_empty();
        }
        self.spans.iter().any(|span| finds.iter().any(|find| find.overlaps(span)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(span: Option<std::ops::Range<usize>>) -> Sample {
        let (id, kind, text) = (String::new(), String::new(), "0123456789".to_owned());
        Sample { id, kind, positive: true, text, spans: span.into_iter().collect() }
    }

    fn find(span: std::ops::Range<usize>) -> Find {
        Find { rule: String::new(), span }
    }

    #[test]
    fn a_find_beside_the_secret_does_not_count() {
        assert!(sample(Some(2..4)).is_found(&[find(3..9)]));
        assert!(!sample(Some(2..4)).is_found(&[find(4..9), find(0..2)]));
    }

    #[test]
    fn any_find_counts_where_nobody_knows_the_place() {
        assert!(sample(None).is_found(&[find(4..9)]));
        assert!(!sample(None).is_found(&[]));
    }
}
