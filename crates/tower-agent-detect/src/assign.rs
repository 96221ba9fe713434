//! A name, an operator and a value.
use crate::text::{Stop, Text};
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) name: (usize, usize),
}
pub(crate) fn value_after(_: &Text<'_>, _: usize, _: usize) -> Result<Value, Stop> {
    Err(Stop::Nothing)
}
