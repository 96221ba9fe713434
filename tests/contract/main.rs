//! Every layer keeps tower's contract: alone, in pairs, and in random stacks with failures, time-outs and drops.
//!
//! A new layer is one line in [`table`].
#![cfg(test)]

mod agent;
mod alone;
mod auto_traits;
mod pairs;
mod random;
mod table;
