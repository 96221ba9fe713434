//! Guides, each of them tested.

#[doc = include_str!("docs/recipes.md")]
pub mod recipes {}

#[doc = include_str!("docs/writing.md")]
pub mod writing {}
