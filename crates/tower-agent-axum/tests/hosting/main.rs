//! What a host of agents promises to its callers, over the routers alone and over real sockets.
#![cfg(test)]

mod support;

mod cancellation;
mod chat;
mod chat_agents;
mod chat_errors;
mod errors;
mod faults;
mod identity;
mod limits;
mod messages;
mod operations;
mod responses;
mod resume;
mod runs;
mod secure;
mod sockets;
