use crate::{Extensions, Str};

/// Who asks, as a host found out; it becomes part of the run's context.
///
/// ```
/// use tower_agent_core::{Identity, Run};
///
/// let identity = Identity::default().with_user("ada").with_tenant("acme").with_extension(7_u32);
/// let ctx = Run::builder("r-1").identity(identity).build();
/// assert_eq!(ctx.run().user().unwrap(), "ada");
/// assert_eq!(ctx.extensions.get::<u32>(), Some(&7));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Identity {
    /// Who agents and tools work for.
    pub user: Option<Str>,
    /// The conversation. Where it is not set, a host whose protocol has sessions names that.
    pub session: Option<Str>,
    /// The customer whose data and limits apply.
    pub tenant: Option<Str>,
    /// Whatever else layers and tools of the host should find in the context, such as claims.
    pub extensions: Extensions,
}

impl Identity {
    /// Names who agents and tools work for.
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
