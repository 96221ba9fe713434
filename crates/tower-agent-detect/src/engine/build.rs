//! What a choice of rules is searched with.

use std::{collections::HashMap, sync::Arc};

use super::{Allow, Engine, Target, WALLETS, touching::Beginnings};
use crate::{
    filter::{Around, Filter},
    judge,
    personal::Personal,
    recogniser::Recogniser,
    rule::{Rule, Way},
    tail::Tail,
};

/// Words, and what to try where one is seen.
#[derive(Default)]
struct Words {
    places: HashMap<String, usize>,
    words: Vec<(String, Around)>,
    targets: Vec<Vec<(Target, Around)>>,
}

impl Words {
    fn of(rules: &[Arc<Rule>]) -> Self {
        let mut words = Self::default();
        for (rule, index) in rules.iter().zip(0..) {
            match rule.way {
                Way::Token => words.add_tokens(rule, index),
                Way::Key => words.add_all(rule.words(), Target::Key(index)),
                Way::BuiltIn(recogniser) => {
                    for (word, target) in built_in_words(recogniser, index) {
                        words.add(word.to_owned(), target, Around::ANYTHING);
                    }
                }
            }
        }
        if rules.iter().any(|rule| rule.way == Way::BuiltIn(Recogniser::Name)) {
            for (name, index) in judge::NAMES.iter().zip(0..) {
                words.add((*name).to_owned(), Target::Name(index), Around::ANYTHING);
            }
        }
        words
    }

    fn add_tokens(&mut self, rule: &Rule, index: u32) {
        let begins = rule.beginning();
        for word in rule.words() {
            let around = rule.around(begins, word.len());
            self.add(word, Target::Token(index), around);
        }
    }

    fn add_all(&mut self, words: Vec<String>, target: Target) {
        words.into_iter().for_each(|word| self.add(word, target, Around::ANYTHING));
    }

    fn add(&mut self, word: String, target: Target, around: Around) {
        let place = *self.places.entry(word.clone()).or_insert(self.words.len());
        match (self.words.get_mut(place), self.targets.get_mut(place)) {
            (Some(word), Some(targets)) => {
                word.1 = word.1.or(around);
                targets.push((target, around));
            }
            _ => {
                self.words.push((word, around));
                self.targets.push(vec![(target, around)]);
            }
        }
    }

    /// Words that tokens begin with.
    fn beginnings(&self) -> Beginnings {
        let is_token = |(target, _): &(Target, Around)| matches!(target, Target::Token(_));
        let words = self.words.iter().zip(&self.targets).zip(0..);
        let words = words.filter(|((_, targets), _)| targets.iter().any(is_token));
        Beginnings::new(words.map(|(((word, _), _), place)| (word.as_str(), place)))
    }

    /// Words that are themselves the beginning of what is masked.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().zip(&self.targets);
        let secrets = words.filter(|(_, it)| it.iter().any(|(it, _)| it.begins_secret()));
        secrets.map(|((word, _), _)| word.as_str())
    }
}

impl Engine {
    pub(crate) fn new(rules: Vec<Arc<Rule>>, allow: Allow) -> Self {
        let mut built_in = HashMap::new();
        let mut runs = Vec::new();
        let mut personal = Personal::default();
        for (rule, index) in rules.iter().zip(0..) {
            match rule.way {
                Way::Token if rule.spec.keywords.is_empty() => {
                    runs.push((index, rule.around(rule.beginning(), 0)));
                }
                Way::BuiltIn(ref recogniser) => {
                    built_in.insert(rule.id().to_owned(), index);
                    if let Some(kind) = recogniser.kind() {
                        personal.add(kind, index);
                    }
                }
                _ => {}
            }
        }
        let words = Words::of(&rules);
        Self {
            filter: Filter::new(&words.words, personal.kinds.numbers()),
            tail: Tail::new(words.secrets()),
            beginnings: words.beginnings(),
            targets: words.targets,
            rules,
            built_in,
            runs,
            personal,
            allow,
        }
    }
}

/// The words at which something that code recognises may begin.
fn built_in_words(
    recogniser: Recogniser,
    rule: u32,
) -> impl Iterator<Item = (&'static str, Target)> {
    let (words, target) = match recogniser {
        Recogniser::PrivateKey => (&["-----begin"][..], Target::KeyBlock(rule)),
        _ => (&WALLETS[..], Target::Wallet(rule)),
    };
    let has_words = matches!(recogniser, Recogniser::PrivateKey | Recogniser::CryptoWallet);
    words.iter().filter(move |_| has_words).map(move |word| (*word, target))
}
