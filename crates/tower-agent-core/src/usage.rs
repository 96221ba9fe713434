use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens that a model call used, as the provider counted them.
///
/// The parts are included in their whole: `cached_read` and `cached_write` in `input`, `reasoning` in `output`.
/// Sums saturate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input: u64,
    /// Part of `input` that was read from the provider's prompt cache.
    pub cached_read: u64,
    /// Part of `input` that was written to the provider's prompt cache.
    pub cached_write: u64,
    /// Tokens that the model produced.
    pub output: u64,
    /// Part of `output` that was spent on reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Usage of a prompt and an answer, without parts.
    #[must_use]
    pub const fn new(input: u64, output: u64) -> Self {
        Self { input, cached_read: 0, cached_write: 0, output, reasoning: 0 }
    }

    /// Input and output together.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached_read: self.cached_read.saturating_add(other.cached_read),
            cached_write: self.cached_write.saturating_add(other.cached_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
