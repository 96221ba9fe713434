//! Middleware for AI agents: tool calls, model calls and runs as tower services.
