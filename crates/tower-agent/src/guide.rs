//! Guides, each of them tested.

#[doc = include_str!("docs/errors.md")]
pub mod errors {}

#[doc = include_str!("docs/order.md")]
pub mod order {}

#[doc = include_str!("docs/recipes.md")]
pub mod recipes {}

#[doc = include_str!("docs/redaction.md")]
pub mod redaction {}

#[doc = include_str!("docs/streams.md")]
pub mod streams {}

#[doc = include_str!("docs/writing.md")]
pub mod writing {}
