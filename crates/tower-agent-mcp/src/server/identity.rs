use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tower_agent_core::{Denial, Extensions, Str};

use super::Caller;

/// Who calls, as the host found out; it becomes part of the call's context.
///
/// ```
/// use tower_agent_mcp::server::Identity;
///
/// let identity = Identity::default().with_user("ada").with_tenant("acme");
/// assert_eq!(identity.user.unwrap(), "ada");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Identity {
    /// Who the tools work for.
    pub user: Option<Str>,
    /// The conversation; the protocol's own session if it is not set.
    pub session: Option<Str>,
    /// The customer whose data and limits apply.
    pub tenant: Option<Str>,
    /// Whatever else layers and tools of the host should find in the context, such as claims.
    pub extensions: Extensions,
}

impl Identity {
    /// Names who the tools work for.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<Str>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Names the conversation.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<Str>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Names the customer.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Str>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Adds a value that layers and tools find in the context's extensions.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }
}

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
