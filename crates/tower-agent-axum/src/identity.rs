//! Who asks.

use std::{convert::Infallible, fmt, future::ready, pin::Pin, sync::Arc};

use axum::{
    extract::FromRequestParts,
    response::{IntoResponse, Response},
};
use http::request::Parts;
use tower_agent_core::{Extensions, Str};

/// Who asks, as the host found out; it becomes part of the run's context.
///
/// ```
/// use tower_agent_axum::Identity;
///
/// let identity = Identity::default().with_user("ada").with_tenant("acme");
/// assert_eq!(identity.user.unwrap(), "ada");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Identity {
    /// Who the agent works for.
    pub user: Option<Str>,
    /// The conversation.
    pub session: Option<Str>,
    /// The customer whose data and limits apply.
    pub tenant: Option<Str>,
    /// Whatever else layers and tools of the host should find in the context, such as claims.
    pub extensions: Extensions,
}

impl Identity {
    /// Names who the agent works for.
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

/// Whose limits and runs they are.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Caller {
    tenant: Option<Str>,
    user: Option<Str>,
}

impl Identity {
    pub(crate) fn caller(&self) -> Caller {
        Caller { tenant: self.tenant.clone(), user: self.user.clone() }
    }
}

type Found = Pin<Box<dyn Future<Output = Result<Identity, Response>> + Send>>;

/// The host's way to find out who asks.
#[derive(Clone)]
pub(crate) struct Identify(Arc<dyn Fn(Parts) -> Found + Send + Sync>);

impl Identify {
    pub(crate) fn by<F, E>(find: F) -> Self
    where
        F: Fn(&Parts) -> Result<Identity, E> + Send + Sync + 'static,
        E: IntoResponse,
    {
        Self(Arc::new(move |parts| {
            let found = find(&parts).map_err(IntoResponse::into_response);
            Box::pin(ready(found))
        }))
    }

    pub(crate) fn from<T>() -> Self
    where
        T: FromRequestParts<()> + Into<Identity> + Send,
    {
        Self(Arc::new(|mut parts| {
            Box::pin(async move {
                let found = T::from_request_parts(&mut parts, &()).await;
                found.map(Into::into).map_err(IntoResponse::into_response)
            })
        }))
    }

    pub(crate) async fn find(&self, parts: Parts) -> Result<Identity, Response> {
        (self.0)(parts).await
    }
}

impl Default for Identify {
    /// Nobody in particular.
    fn default() -> Self {
        Self::by(|_| Ok::<_, Infallible>(Identity::default()))
    }
}

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identify(..)")
    }
}
