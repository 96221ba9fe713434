//! Numbers as servers print them.

use tower_agent_core::Usage;

use super::raw::{Fields, NULL, Object};

/// A whole number; some servers print it as a float.
pub(crate) fn count(raw: &str) -> Option<u64> {
    raw.parse().ok().or_else(|| {
        let float: f64 = raw.parse().ok()?;
        let fits = float.fract() == 0.0 && (0.0..9e15).contains(&float);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        fits.then_some(float as u64)
    })
}

pub(crate) fn take_count(fields: &mut Fields<'_>, key: &str) -> u64 {
    fields.take_if(key, count).unwrap_or(0)
}

/// A literal 0 stays where it is, because 0 is not written.
pub(crate) fn take_positive(fields: &mut Fields<'_>, key: &str) -> u64 {
    fields.take_if(key, |raw| count(raw).filter(|count| *count > 0)).unwrap_or(0)
}

/// Writes a count unless it is 0 and the fields have one that means as much.
pub(crate) fn write_count(object: &mut Object<'_, '_>, key: &str, count: u64) {
    if count > 0 || object.extra().get(key).is_none() {
        object.number(key, count);
    }
}

/// A whole number is written as an integer, so the spelling `1.0` has to be marked.
pub(crate) fn take_float(fields: &mut Fields<'_>, key: &'static str) -> Option<f64> {
    let is_marked = fields.get(key)?.contains(['.', 'e', 'E']);
    let float: f64 = fields.take_as(key)?;
    if is_marked && float.fract() == 0.0 {
        fields.set(key, NULL);
    }
    Some(float)
}

pub(crate) fn write_float(object: &mut Object<'_, '_>, key: &str, float: Option<f64>) {
    let Some(number) = float.and_then(serde_json::Number::from_f64) else { return };
    let text = number.to_string();
    let whole = text.strip_suffix(".0").filter(|_| !object.extra().is_null(key));
    object.raw(key, whole.unwrap_or(&text));
}

/// Takes the usage of a reply; what has no name in the vocabulary stays under the same key.
pub(crate) fn take_usage(
    fields: &mut Fields<'_>,
    key: &'static str,
    read: impl FnOnce(&mut Fields<'_>) -> Usage,
) -> Option<Usage> {
    let raw = fields.take(key)?;
    let Some(mut inner) = Fields::parse(&raw) else {
        fields.set(key, raw.into_owned());
        return None;
    };
    let usage = read(&mut inner);
    fields.set_rest(key, &inner);
    Some(usage)
}
