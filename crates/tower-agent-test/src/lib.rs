//! Scripted models, mock tools and a contract probe for tower-agent services.
