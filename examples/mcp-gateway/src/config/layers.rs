//! The keys that stand for layers, in `[all]`, `[[server]]` and `[[tool]]` alike.

use std::{fs, path::Path};

use toml::Spanned;
use tower_agent::{
    ConcurrencyLimitLayer, RedactLayer, TimeoutLayer, TruncateLayer,
    redact::{Arguments, Detector, Mask, Set},
    timeout::Limits,
};

use super::{
    place::Place,
    values::{ArgumentsKind, Calls, Choice, MaskKind, Period, Redaction, RuleSet, Truncation},
};

/// A table with these keys beside its own.
macro_rules! layer_keys {
    (
        $(#[$meta:meta])*
        struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $name {
            $($(#[$field_meta])* $field: $type,)*
            redact: Option<toml::Spanned<super::values::Choice<super::values::Redaction>>>,
            truncate: Option<super::values::Choice<super::values::Truncation>>,
            timeout: Option<super::values::Choice<super::values::Period>>,
            concurrency: Option<super::values::Choice<super::values::Calls>>,
            log: Option<bool>,
            metrics: Option<bool>,
            audit: Option<bool>,
        }

        impl $name {
            const fn keys(&self) -> LayerKeys<'_> {
                LayerKeys {
                    redact: self.redact.as_ref(),
                    truncate: self.truncate,
                    timeout: self.timeout,
                    concurrency: self.concurrency,
                    log: self.log,
                    metrics: self.metrics,
                    audit: self.audit,
                }
            }
        }
    };
}
pub(super) use layer_keys;

/// What a table says of them.
pub(super) struct LayerKeys<'a> {
    pub(super) redact: Option<&'a Spanned<Choice<Redaction>>>,
    pub(super) truncate: Option<Choice<Truncation>>,
    pub(super) timeout: Option<Choice<Period>>,
    pub(super) concurrency: Option<Choice<Calls>>,
    pub(super) log: Option<bool>,
    pub(super) metrics: Option<bool>,
    pub(super) audit: Option<bool>,
}

/// The layers of a table: `None` where it says nothing, `Some(None)` where it wants none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    pub(crate) redact: Option<Option<RedactLayer>>,
    pub(crate) truncate: Option<Option<TruncateLayer>>,
    pub(crate) timeout: Option<Option<TimeoutLayer>>,
    /// A limit of its own, which holds beside those of other tables.
    pub(crate) concurrency: Option<ConcurrencyLimitLayer>,
    pub(crate) log: Option<bool>,
    pub(crate) metrics: Option<bool>,
    pub(crate) audit: Option<bool>,
}

impl LayerKeys<'_> {
    pub(super) fn build(&self, place: &Place<'_>, flaws: &mut Vec<String>) -> Layers {
        let redact = self.redact.and_then(|redact| {
            let built = match redact.get_ref() {
                Choice::Off => Ok(None),
                Choice::On(redaction) => layer(redaction, place).map(Some),
            };
            built.map_err(|what| flaws.push(place.flaw(&redact.span(), &what))).ok()
        });
        Layers {
            redact,
            truncate: self.truncate.map(|choice| {
                choice.on().map(|cut| TruncateLayer::bytes(cut.bytes).keep(cut.keep))
            }),
            timeout: self.timeout.map(|choice| {
                choice.on().map(|limit| TimeoutLayer::limits(Limits::new().total(limit.0)))
            }),
            concurrency: self
                .concurrency
                .and_then(|choice| choice.on())
                .map(|calls| ConcurrencyLimitLayer::new(calls.0)),
            log: self.log,
            metrics: self.metrics,
            audit: self.audit,
        }
    }
}

impl Layers {
    /// What holds where two tables meet: what the narrower one says, and otherwise the wider one.
    pub(crate) fn or(&self, wider: &Self) -> Self {
        Self {
            redact: self.redact.clone().or_else(|| wider.redact.clone()),
            truncate: self.truncate.or(wider.truncate),
            timeout: self.timeout.clone().or_else(|| wider.timeout.clone()),
            concurrency: None,
            log: self.log.or(wider.log),
            metrics: self.metrics.or(wider.metrics),
            audit: self.audit.or(wider.audit),
        }
    }
}

fn layer(redaction: &Redaction, place: &Place<'_>) -> Result<RedactLayer, String> {
    let layer = match (redaction.set, &redaction.rules) {
        // These two are built once.
        (RuleSet::Secrets, None) => RedactLayer::secrets(),
        (RuleSet::All, None) => RedactLayer::all(),
        _ => RedactLayer::new(detector(redaction, place)?),
    };
    let mask = match redaction.mask {
        MaskKind::Label => Mask::label(),
        MaskKind::Last4 => Mask::keep_last(4),
        MaskKind::Remove => Mask::remove(),
    };
    let arguments = match redaction.arguments {
        ArgumentsKind::Keep => Arguments::Keep,
        ArgumentsKind::Mask => Arguments::Mask,
        ArgumentsKind::Block => Arguments::Block,
    };
    Ok(layer.mask(mask).arguments(arguments))
}

fn detector(redaction: &Redaction, place: &Place<'_>) -> Result<Detector, String> {
    let mut rules = match redaction.set {
        RuleSet::Secrets => Detector::builder().set(Set::Secrets),
        RuleSet::Pii => Detector::builder().set(Set::Pii),
        RuleSet::All => Detector::builder(),
        RuleSet::None => Detector::builder().none(),
    };
    if let Some(path) = &redaction.rules {
        rules = rules.rules_toml(&read(&place.resolve(path))?);
    }
    rules.build().map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
