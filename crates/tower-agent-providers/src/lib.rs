//! Model services over HTTP for tower-agent.
