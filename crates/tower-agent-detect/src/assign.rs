//! A name, an operator and a value.
