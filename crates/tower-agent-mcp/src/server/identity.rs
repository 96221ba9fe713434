use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tower_agent_core::{Denial, Identity};

use super::Caller;

type Find = dyn Fn(&Caller) -> Result<Identity, Denial> + Send + Sync;

/// The host's way to find out who calls.
#[derive(Clone)]
pub(crate) struct Identify(Arc<Find>);

impl Identify {
    pub(crate) fn by(
        find: impl Fn(&Caller) -> Result<Identity, Denial> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    /// A panic is a refusal: rmcp would leave the client without an answer.
    pub(crate) fn find(&self, caller: &Caller) -> Result<Identity, Denial> {
        let found = catch_unwind(AssertUnwindSafe(|| (self.0)(caller)));
        let failed = |_| {
            tracing::error!("the host's way to find out who calls panicked");
            let text = "It could not be found out who calls, so nothing ran. Try again later.";
            Err(Denial::new(text).code("identity_failed"))
        };
        found.unwrap_or_else(failed).map_err(|denial| denial.by("identity"))
    }
}

impl Default for Identify {
    /// Nobody in particular.
    fn default() -> Self {
        Self::by(|_| Ok(Identity::default()))
    }
}

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identify(..)")
    }
}
