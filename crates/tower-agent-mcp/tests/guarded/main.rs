//! Tool stacks around a server that somebody else wrote.
#![cfg(test)]

mod calls;
mod fidelity;
mod forwarding;
mod policies;
mod support;
