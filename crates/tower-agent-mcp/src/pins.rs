//! The definitions of tools as they were first seen, so that a server cannot change them behind one's back.
//!
//! A tool's description is read by the model as if its user had written it, and its schema says what the model sends. A server
//! that is trusted today can change both tomorrow. With pins, a changed tool is kept out (its calls are answered with a
//! denial, with the code `changed_tool`) until somebody accepts the change.
//!
//! ```
//! use tower_agent_mcp::{client::{Child, McpClient}, pins::{Decision, Pins}};
//!
//! # async fn connect() -> Result<(), tower_agent_core::Error> {
//! let pins = Pins::file("mcp-pins.json").on_change(|change| async move {
//!     println!("{change}");
//!     // Ask a person.
//!     Decision::Refuse
//! });
//! let files = McpClient::builder("files", Child::new("mcp-server-files")).pins(pins).connect().await?;
//! # Ok(())
//! # }
//! ```
//!
//! What is pinned: name, title, description, both schemas and the annotations. What a tool of a server does when it is
//! called, nobody can pin.

mod change;
mod store;

use std::{fmt, pin::Pin as Pinned, sync::Arc};

use tower_agent_core::{BoxError, Json, Str};

pub use self::{
    change::Change,
    store::{FileStore, MemoryStore, Pin, PinStore, PinnedTools},
};
use crate::convert::from_mcp;

type Deciding = Pinned<Box<dyn Future<Output = Decision> + Send>>;

/// Where definitions are pinned, and what happens to one that changed. Clones share the store.
#[derive(Clone)]
#[must_use]
pub struct Pins {
    store: Arc<dyn PinStore>,
    ask: Option<Arc<dyn Fn(Change) -> Deciding + Send + Sync>>,
}

/// What becomes of a changed tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// It is pinned as it is now, and can be called.
    Accept,
    /// It is kept out, and asked about again when the list is read again.
    Refuse,
}

impl Pins {
    /// Pins in a store of one's own.
    pub fn new(store: impl PinStore) -> Self {
        Self { store: Arc::new(store), ask: None }
    }

    /// Pins that last as long as this process.
    pub fn in_memory() -> Self {
        Self::new(MemoryStore::default())
    }

    /// Pins in a JSON file, which several clients and processes may share. It is made when it is missing, and replaced
    /// in one step.
    pub fn file(path: impl Into<std::path::PathBuf>) -> Self {
        Self::new(FileStore::new(path))
    }

    /// Asks about each changed tool, which is kept out meanwhile; without it all changes are refused. A panic refuses.
    pub fn on_change<F, Fut>(mut self, ask: F) -> Self
    where
        F: Fn(Change) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Decision> + Send + 'static,
    {
        self.ask = Some(Arc::new(move |change| Box::pin(ask(change))));
        self
    }

    pub(crate) const fn asks(&self) -> bool {
        self.ask.is_some()
    }

    pub(crate) async fn decide(&self, change: Change) -> Decision {
        use futures_util::FutureExt;
        use std::panic::AssertUnwindSafe;

        let Some(ask) = &self.ask else { return Decision::Refuse };
        let asking = AssertUnwindSafe(async { ask(change).await });
        asking.catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("the hook that decides about changed tools panicked");
            Decision::Refuse
        })
    }

    /// Stores may wait for a disk, which a task of the runtime must not.
    pub(crate) async fn load(&self, server: &Str) -> Result<PinnedTools, BoxError> {
        let (store, server) = (Arc::clone(&self.store), server.clone());
        tokio::task::spawn_blocking(move || store.load(&server)).await?
    }

    pub(crate) async fn put(&self, server: &Str, pins: PinnedTools) -> Result<(), BoxError> {
        let (store, server) = (Arc::clone(&self.store), server.clone());
        tokio::task::spawn_blocking(move || store.put(&server, &pins)).await?
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pins").field("asks", &self.ask.is_some()).finish_non_exhaustive()
    }
}

/// What of a tool's definition is pinned.
pub(crate) fn definition(tool: &Json) -> Json {
    from_mcp::pick(
        tool,
        &["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
    )
}
