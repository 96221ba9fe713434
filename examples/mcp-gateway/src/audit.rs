//! A line for each call, whatever becomes of it.

mod file;
mod record;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tower_agent::{Error, Str, ToolCall, ToolOutput};
use tower_layer::Layer;
use tower_service::Service;

pub(crate) use self::file::AuditFile;
use self::record::Entry;
use crate::config;

/// Where lines go. Clones write to the same file.
#[derive(Clone, Debug)]
pub(crate) struct Audit {
    file: Arc<AuditFile>,
    settings: config::Audit,
}

impl Audit {
    /// Opens the file, which is made for its owner alone.
    ///
    /// # Errors
    /// When it cannot be opened for appending.
    pub(crate) fn open(settings: &config::Audit) -> std::io::Result<Self> {
        let file = AuditFile::open(&settings.file)?;
        Ok(Self { file: Arc::new(file), settings: settings.clone() })
    }

    /// What writes nowhere, to show where it would stand.
    pub(crate) fn nowhere(settings: &config::Audit) -> Self {
        Self { file: Arc::new(AuditFile::nowhere()), settings: settings.clone() }
    }

    /// The same file with other settings, if it is the same file.
    pub(crate) fn with(&self, settings: &config::Audit) -> Option<Self> {
        let is_same = self.settings.file == settings.file;
        is_same.then(|| Self { file: Arc::clone(&self.file), settings: settings.clone() })
    }

    /// The layer around a tool of a server, or around no tool.
    pub(crate) fn layer(&self, server: Option<&str>) -> AuditLayer {
        AuditLayer {
            file: Arc::clone(&self.file),
            arguments: self.settings.arguments,
            server: server.map(Str::from),
        }
    }
}

/// Writes a line for each call.
///
/// It stands outside all that may refuse a call, and inside the counters. A call that is dropped is written as cancelled. Writing
/// never holds a call up, and never fails one: see [`AuditFile`].
#[derive(Clone, Debug)]
pub(crate) struct AuditLayer {
    file: Arc<AuditFile>,
    arguments: bool,
    server: Option<Str>,
}

/// What [`AuditLayer`] makes of a service.
#[derive(Clone)]
pub(crate) struct AuditService<S> {
    inner: S,
    layer: AuditLayer,
}

impl<S> Layer<S> for AuditLayer {
    type Service = AuditService<S>;

    fn layer(&self, inner: S) -> AuditService<S> {
        AuditService { inner, layer: self.clone() }
    }
}

impl<S> Service<ToolCall> for AuditService<S>
where
    S: Service<ToolCall, Response = ToolOutput>,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
{
    type Response = ToolOutput;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<ToolOutput, Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let AuditLayer { file, arguments, server } = &self.layer;
        let entry = Entry::begin(Arc::clone(file), server.as_ref(), &call, *arguments);
        let answer = self.inner.call(call);
        Box::pin(async move {
            let result = answer.await.map_err(Into::into);
            entry.end(&result);
            result
        })
    }
}

impl<S> fmt::Debug for AuditService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditService").finish_non_exhaustive()
    }
}
