//! Strategies that make any value of the vocabulary.
