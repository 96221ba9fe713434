//! What a host of agents promises to its callers, over the routers alone and over real sockets.

#[cfg(test)]
mod support;

#[cfg(test)]
mod cancellation;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod sockets;
