//! What a host of agents promises to its callers, over the routers alone and over real sockets.

#[cfg(test)]
mod support;

#[cfg(test)]
mod cancellation;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod chat_agents;
#[cfg(test)]
mod chat_errors;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod sockets;
