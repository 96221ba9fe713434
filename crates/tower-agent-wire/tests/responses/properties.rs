//! Streams as providers send them, and as clients read them.
