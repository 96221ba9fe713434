//! A leaf service that finds out whether what stands above it keeps tower's contract.

mod flight;
mod handle;
mod ledger;
mod plan;
mod service;

pub use self::{
    handle::{Counts, ProbeHandle},
    plan::Plan,
    service::{Probe, ProbeBuilder, ProbeFuture},
};
