//! What every route that starts something has in common.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, request::Parts};
use tokio::time::Instant;
use tokio_util::sync::DropGuard;
use tower_agent_core::{CancellationToken, Context, Identity, Run, Str};
use uuid::Uuid;

use crate::{
    ApiError, body,
    identity::Identify,
    limits::{Limits, Permit},
    proxy::Passing,
};

/// The response header that names the run.
pub const RUN_ID: HeaderName = HeaderName::from_static("x-run-id");

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) identify: Identify,
    pub(crate) limits: Option<Limits>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) body_limit: usize,
    pub(crate) keep_alive: Duration,
    /// Set where the routes are those of a proxy.
    pub(crate) proxy: Option<Passing>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            identify: Identify::default(),
            limits: None,
            deadline: None,
            body_limit: 2 * 1024 * 1024,
            keep_alive: Duration::from_secs(15),
            proxy: None,
        }
    }
}

/// Who asks and what was sent.
pub(crate) struct Received {
    pub(crate) identity: Identity,
    pub(crate) body: Bytes,
    pub(crate) permit: Option<Permit>,
}

/// What a run holds as long as it lives. Dropped before the run is complete, it cancels the run's token.
pub(crate) struct Lease {
    guard: Option<DropGuard>,
    _permit: Option<Permit>,
}

impl Lease {
    pub(crate) fn complete(&mut self) {
        self.guard.take().map(DropGuard::disarm);
    }

    pub(crate) const fn is_complete(&self) -> bool {
        self.guard.is_none()
    }
}

impl Options {
    /// Finds out who asks and whether they may, and only then reads the body.
    pub(crate) async fn receive(
        &self,
        parts: Parts,
        mut body: axum::body::Body,
    ) -> Result<Received, Response> {
        body::check_head(&parts.headers, self.body_limit).map_err(IntoResponse::into_response)?;
        // A stranger's body is not looked at.
        let identity = self.identify.find(parts).await?;
        let read = self.admit_and_read(&identity, &mut body).await;
        let (permit, body) = read.map_err(IntoResponse::into_response)?;
        Ok(Received { identity, body, permit })
    }

    async fn admit_and_read(
        &self,
        identity: &Identity,
        body: &mut axum::body::Body,
    ) -> Result<(Option<Permit>, Bytes), ApiError> {
        let permit = self.limits.as_ref().map(|limits| limits.admit(identity.into()));
        let permit = permit.transpose()?;
        Ok((permit, body::read(body, self.body_limit).await?))
    }

    /// Opens a run that lives as long as its lease.
    pub(crate) fn open(
        &self,
        id: Uuid,
        identity: Identity,
        permit: Option<Permit>,
        agent: Str,
    ) -> (Context, Lease) {
        let token = CancellationToken::new();
        let run = Run::builder(id.to_string()).agent(agent).identity(identity);
        let mut run = run.cancellation(token.clone());
        if let Some(deadline) = self.deadline.and_then(|wait| Instant::now().checked_add(wait)) {
            run = run.deadline(deadline.into_std());
        }
        (run.build(), Lease { guard: Some(token.drop_guard()), _permit: permit })
    }
}

/// Gives a request a run's id, and every answer to it the same one.
pub(crate) async fn with_run_id<B, F>(
    request: Request<B>,
    answer: impl FnOnce(Request<B>, Uuid) -> F,
) -> Response
where
    F: Future<Output = Result<Response, Response>>,
{
    let id = Uuid::now_v7();
    let value = HeaderValue::from_str(&id.to_string());
    let mut response = answer(request, id).await.unwrap_or_else(|refusal| refusal);
    if let Ok(value) = value {
        response.headers_mut().insert(RUN_ID, value);
    }
    response
}

/// When an id was made, in seconds since 1970.
pub(crate) fn unix_seconds(id: Uuid) -> u64 {
    id.get_timestamp().map_or(0, |time| time.to_unix().0)
}

/// The knobs that the builders of such routes share.
macro_rules! options {
    () => {
        /// Finds out who asks from the head of the request; an error is the answer.
        ///
        /// It runs before the body is read. What needs more than the head, such as a look into a database, belongs
        /// into an axum middleware that leaves what it found in the request's extensions.
        pub fn identity<F, E>(mut self, find: F) -> Self
        where
            F: Fn(&http::request::Parts) -> Result<$crate::Identity, E> + Send + Sync + 'static,
            E: axum::response::IntoResponse,
        {
            self.options.identify = $crate::identity::Identify::by(find);
            self
        }

        /// Finds out who asks by an extractor of axum; its rejection is the answer.
        ///
        /// The extractor gets no state; one that needs some takes it from the request's extensions.
        pub fn identity_from<T>(mut self) -> Self
        where
            T: axum::extract::FromRequestParts<()> + Into<$crate::Identity> + Send,
        {
            self.options.identify = $crate::identity::Identify::from::<T>();
            self
        }

        /// How many calls all callers and each of them may make. There is no limit by default.
        pub fn limits(mut self, limits: $crate::Limits) -> Self {
            self.options.limits = Some(limits);
            self
        }

        /// How long a run may take; its context carries the deadline, which agents keep. There is none by default.
        pub const fn deadline(mut self, limit: std::time::Duration) -> Self {
            self.options.deadline = Some(limit);
            self
        }

        /// The most bytes of a request's body, 2 MiB by default; more is answered with 413.
        ///
        /// axum's own `DefaultBodyLimit` does not apply here.
        pub const fn body_limit(mut self, bytes: usize) -> Self {
            self.options.body_limit = bytes;
            self
        }

        /// How long a stream may be silent before a comment shows proxies that it lives: 15 seconds by default,
        /// zero for never.
        pub const fn keep_alive(mut self, every: std::time::Duration) -> Self {
            self.options.keep_alive =
                if every.is_zero() { std::time::Duration::MAX } else { every };
            self
        }
    };
}
