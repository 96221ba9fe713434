//! `GET /healthz` and `GET /readyz`: whether the process lives, and whether it takes work.

use std::{fmt, sync::Arc};

use axum::{Router, extract::State, routing::get};
use futures_util::FutureExt;
use http::StatusCode;
use tower::{Service, ServiceExt};
use tower_agent_core::Operation;

use crate::report::method_not_allowed;

type Check = Arc<dyn Fn() -> bool + Send + Sync>;

/// Serves `GET /healthz`, which answers while the process lives, and `GET /readyz`, which answers 503 while one of the
/// named things takes no work.
///
/// ```
/// use axum::{Router, body::Body, http::Request};
/// use tower::{ServiceExt, service_fn};
/// use tower_agent_axum::health_router;
/// use tower_agent_core::{Error, ModelRequest, ModelResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = service_fn(|_: ModelRequest| async { Ok::<_, Error>(ModelResponse::default()) });
/// let health = health_router().ready_if("database", || true).ready("model", model);
/// let app: Router = Router::new().merge(health);
/// let response = app.oneshot(Request::get("/readyz").body(Body::empty())?).await?;
/// assert_eq!(response.status(), 200);
/// # Ok(())
/// # }
/// ```
pub fn health_router() -> HealthRouter {
    HealthRouter { checks: Vec::new() }
}

/// The routes of [`health_router`], to be merged into a router.
#[derive(Clone)]
#[must_use = "it serves nothing until it is merged into a router"]
pub struct HealthRouter {
    checks: Vec<(&'static str, Check)>,
}

impl HealthRouter {
    /// Is ready only while the closure says so. It must not block.
    pub fn ready_if(
        mut self,
        name: &'static str,
        check: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.checks.push((name, Arc::new(check)));
        self
    }

    /// Is ready only while a fresh clone of the service is ready at once.
    ///
    /// What the clone took to be ready, such as a permit, it gives back at once.
    pub fn ready<O, A>(self, name: &'static str, service: A) -> Self
    where
        O: Operation,
        A: Service<O> + Clone + Send + Sync + 'static,
    {
        self.ready_if(name, move || {
            let mut service = service.clone();
            service.ready().now_or_never().is_some_and(|ready| ready.is_ok())
        })
    }
}

impl<S: Clone + Send + Sync + 'static> From<HealthRouter> for Router<S> {
    fn from(router: HealthRouter) -> Self {
        let ready = get(readiness).fallback(method_not_allowed);
        Self::new()
            .route("/healthz", get(async || "ok\n").fallback(method_not_allowed))
            .route("/readyz", ready.with_state(Arc::new(router)))
    }
}

async fn readiness(State(router): State<Arc<HealthRouter>>) -> (StatusCode, String) {
    match router.checks.iter().find(|(_, check)| !check()) {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some((name, _)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{name} is not ready\n")),
    }
}

impl fmt::Debug for HealthRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.checks.iter().map(|(name, _)| *name).collect();
        f.debug_struct("HealthRouter").field("checks", &names).finish()
    }
}
