//! Host tower-agent agents and model stacks in axum.
