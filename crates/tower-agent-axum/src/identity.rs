//! Who asks.

use std::{convert::Infallible, fmt, future::ready, pin::Pin, sync::Arc};

use axum::{
    extract::FromRequestParts,
    response::{IntoResponse, Response},
};
use http::request::Parts;
use tower_agent_core::{Identity, Str};

/// Whose limits and runs they are.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Caller {
    tenant: Option<Str>,
    user: Option<Str>,
}

impl From<&Identity> for Caller {
    fn from(identity: &Identity) -> Self {
        Self { tenant: identity.tenant.clone(), user: identity.user.clone() }
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
