//! What a choice of rules is searched with.

use std::{collections::HashMap, sync::Arc};

use super::{Allow, Engine, Target, WALLETS};
use crate::{
    filter::Filter,
    judge,
    personal::Personal,
    recogniser::Recogniser,
    rule::{Rule, Way},
    tail::Tail,
};

impl Engine {
    pub(crate) fn new(rules: Vec<Arc<Rule>>, allow: Allow) -> Self {
        let mut words = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut targets: Vec<Vec<Target>> = Vec::new();
        let mut add = |word: String, target| {
            let place = *places.entry(word.clone()).or_insert_with(|| {
                words.push(word);
                targets.push(Vec::new());
                words.len() - 1
            });
            if let Some(targets) = targets.get_mut(place) {
                targets.push(target);
            }
        };
        let mut built_in = HashMap::new();
        let mut runs = Vec::new();
        let mut personal = Personal::default();
        for (rule, index) in rules.iter().zip(0..) {
            match rule.way {
                Way::Token if rule.spec.keywords.is_empty() => runs.push(index),
                Way::Token => rule.words().into_iter().for_each(|it| add(it, Target::Token(index))),
                Way::Key => rule.words().into_iter().for_each(|it| add(it, Target::Key(index))),
                Way::BuiltIn(ref recogniser) => {
                    built_in.insert(rule.id().to_owned(), index);
                    for (word, target) in built_in_words(*recogniser, index) {
                        add(word.to_owned(), target);
                    }
                    if let Some(kind) = recogniser.kind() {
                        personal.add(kind, index);
                    }
                }
            }
        }
        if rules.iter().any(|rule| rule.way == Way::BuiltIn(Recogniser::Name)) {
            let names = judge::NAMES.iter().zip(0..);
            names.for_each(|(name, index)| add((*name).to_owned(), Target::Name(index)));
        }
        let tail = Tail::new(
            words
                .iter()
                .zip(&targets)
                .filter(|(_, it)| it.iter().any(Target::begins_secret))
                .map(|(it, _)| it.as_str()),
        );
        Self {
            filter: Filter::new(&words, personal.kinds.numbers()),
            rules,
            targets,
            built_in,
            runs,
            personal,
            allow,
            tail,
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
