//! Names that say that their value is secret.
use crate::text::{Text, Verdict};
pub(crate) const NAMES: &[&str] = &[];
pub(crate) fn generic(_: &Text<'_>, _: usize, _: usize, _: usize) -> (Verdict, &'static str) {
    (Verdict::Nothing, "password")
}
