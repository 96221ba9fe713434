//! How well the engine detects: the samples, and what is counted on them.
//!
//! The program of this package writes the page about it, and its tests hold the engine to the targets.

mod corpus;
mod engine;
mod notes;
pub mod personal;
pub mod secrets;
mod share;
pub mod verdicts;

pub use corpus::{Corpora, Due, Sample, Secret, Sentence, VARIABLE};
pub use engine::{Engine, Find};
pub use notes::{Differences, Judgements};
pub use share::Share;

/// An error is one line, for whoever started the program.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
