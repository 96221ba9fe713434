//! The vocabulary of tower-agent: calls, replies, streams, context and errors.
