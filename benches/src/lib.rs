//! What is measured, shared by the benches and the report.
//!
//! Every future here is ready at once and every payload is made before the clock starts, so what is left is the
//! cost of the stack itself.

pub mod agent;
pub mod case;
pub mod catalog;
pub mod hooks;
pub mod layers;
pub mod payload;
pub mod peer;
pub mod stack;
