//! What people expect who come from other hook systems: each test shows one behaviour, named in `docs/contract.md`.
#![cfg(test)]

mod models;
mod plugins;
mod runs;
mod tools;
