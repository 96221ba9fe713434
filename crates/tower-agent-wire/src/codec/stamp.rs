use tower_agent_core::Str;

/// What a host puts on a reply that has none of its own.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stamp {
    /// The reply's id.
    pub id: Str,
    /// The model's name.
    pub model: Str,
    /// When the reply was made, in seconds since 1970.
    pub created: u64,
}

impl Stamp {
    /// A stamp. The time is an argument, because nothing here reads a clock.
    pub fn new(id: impl Into<Str>, model: impl Into<Str>, created: u64) -> Self {
        Self { id: id.into(), model: model.into(), created }
    }
}
