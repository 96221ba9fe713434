//! One trait with every hook, as a layer for all three operations.
//!
//! A [`Plugin`] is what a packaged concern looks like from outside: a name, and the hooks that it needs. The
//! others do nothing. [`PluginLayer`] puts it into the stacks of tools, models and runs, where one value serves
//! all of them.
//!
//! # Example
//!
//! A plugin that adds an argument that the model left out:
//!
//! ```
//! use serde_json::json;
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{
//!     BoxError, Error, ToolCall, ToolOutput, Verdict,
//!     plugin::{Plugin, PluginLayer},
//! };
//!
//! struct DefaultLimit;
//!
//! impl Plugin for DefaultLimit {
//!     fn name(&self) -> &str {
//!         "default-limit"
//!     }
//!
//!     async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
//!         if call.name == "search" && call.arguments.value()?.get("limit").is_none() {
//!             call.arguments.make_mut()?["limit"] = json!(10);
//!         }
//!         Ok(Verdict::Allow)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let search = service_fn(|call: ToolCall| async move { Ok::<_, Error>(ToolOutput::text(call.arguments.as_str())) });
//! let stack = ServiceBuilder::new().layer(PluginLayer::new(DefaultLimit)).service(search);
//! let output = stack.oneshot(ToolCall::new("search", r#"{"query":"tower"}"#)).await?;
//! assert_eq!(output.joined_text(), r#"{"limit":10,"query":"tower"}"#);
//! # Ok(())
//! # }
//! ```
//!
//! # Several plugins
//!
//! A tuple of plugins is a plugin, and so is a `Vec` of [`BoxPlugin`]s, for stacks that are put together at run
//! time. Before-hooks run in the order given and after-hooks in reverse, and only for those plugins whose
//! before-hook let the call go on: the order of nested layers. One layer with ten plugins costs one boxed
//! future; ten layers with one plugin each would cost ten, and clones of each other's services.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{
//!     BoxError, Error, ToolCall, ToolOutput, Verdict,
//!     plugin::{Plugin, PluginLayer},
//! };
//!
//! /// Writes down when it is asked.
//! struct Noted(&'static str, Arc<Mutex<Vec<String>>>);
//!
//! impl Plugin for Noted {
//!     fn name(&self) -> &str {
//!         self.0
//!     }
//!
//!     async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
//!         self.1.lock().unwrap().push(format!("{} before", self.0));
//!         Ok(Verdict::Allow)
//!     }
//!
//!     async fn after_tool(
//!         &self,
//!         _: &ToolCall,
//!         _: &mut ToolOutput,
//!         _: std::time::Duration,
//!     ) -> Result<(), BoxError> {
//!         self.1.lock().unwrap().push(format!("{} after", self.0));
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let notes = Arc::new(Mutex::new(Vec::new()));
//! let plugins = ["auth", "log", "cache"].map(|name| Noted(name, notes.clone()));
//! let [auth, log, cache] = plugins;
//! let tool = service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("ran")) });
//! let stack = ServiceBuilder::new().layer(PluginLayer::new((auth, log, cache))).service(tool);
//! stack.oneshot(ToolCall::new("any", "{}")).await?;
//! let order = ["auth before", "log before", "cache before", "cache after", "log after", "auth after"];
//! assert_eq!(*notes.lock().unwrap(), order);
//! # Ok(())
//! # }
//! ```
//!
//! # Streamed replies
//!
//! [`after_model`](Plugin::after_model) gets the complete reply. Of a stream that is known at its end, when the reader
//! has it already. So a plugin that wants to change replies says so with [`edits_replies`](Plugin::edits_replies):
//! then the reply is gathered, changed and handed on whole. Otherwise events pass through untouched and the
//! hook observes at the end; what it changes then is dropped. To change text while it streams, use a layer that
//! works on events, such as `hooks::on_model_event` or `RedactLayer`.
//!
//! # Placement
//!
//! The hooks see what passes the place where the layer stands: below a redacting layer they see raw text, above
//! it they see masked text. A hook fires only in the stacks that the layer was put into.
//!
//! # Errors
//!
//! [`FailMode`](crate::FailMode) of each plugin decides what its failure does; a panic is a failure. The blame is
//! never in doubt: a name that occurs twice gets its position added. Errors of the service keep their
//! identity unless an error hook answers them.
//!
//! # Cancellation
//!
//! A call that is dropped runs no more hooks but [`on_dropped`](Plugin::on_dropped), and a dropped run fires
//! [`after_run`](Plugin::after_run). Neither can await anything.

mod boxed;
mod ended;
mod leaf;
mod list;
mod model;
mod run;
mod stack;
mod tool;
mod trail;
mod tuple;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tower_agent_core::{Error, Str};
use tower_layer::Layer;

pub use self::{boxed::BoxPlugin, leaf::Plugin};

/// What the hidden methods of [`Plugin`] take; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use super::{
        ended::Ended,
        stack::{After, Before, Stop, Withhold},
        trail::{Observe, Snapshot, Trail},
    };
}

/// Puts a [`Plugin`] into a stack of tools, models or runs. Clones share the plugin. See the [module](self).
pub struct PluginLayer<P> {
    shared: Arc<Shared<P>>,
}

/// A plugin, or a tuple or list of them, with the names that failures are blamed on.
struct Shared<P> {
    plugin: P,
    names: Vec<Str>,
}

impl<P: Plugin> PluginLayer<P> {
    /// A layer of a plugin, a tuple of plugins or a `Vec<BoxPlugin>`.
    pub fn new(plugin: P) -> Self {
        let mut names = Vec::new();
        plugin.collect_names(&mut names);
        let names = unambiguous(&names);
        Self { shared: Arc::new(Shared { plugin, names }) }
    }

    /// The plugin itself, to read what it has gathered.
    #[must_use]
    pub fn plugin(&self) -> &P {
        &self.shared.plugin
    }

    /// The plugins' names in order.
    #[must_use]
    pub fn names(&self) -> &[Str] {
        &self.shared.names
    }
}

/// Adds its position to a name that is blank or was there before.
fn unambiguous(names: &[Str]) -> Vec<Str> {
    let mut given = Vec::with_capacity(names.len());
    for (position, name) in (1..).zip(names) {
        let mut name = name.clone();
        if name.trim().is_empty() {
            name = format!("plugin#{position}").into();
        }
        // What it becomes may be the name of yet another.
        while given.contains(&name) {
            name = format!("{name}#{position}").into();
        }
        given.push(name);
    }
    given
}

impl<P> Clone for PluginLayer<P> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<P> fmt::Debug for PluginLayer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PluginLayer").field(&self.shared.names).finish()
    }
}

impl<S, P> Layer<S> for PluginLayer<P> {
    type Service = PluginService<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        PluginService { inner, shared: Arc::clone(&self.shared) }
    }
}

/// A service with the hooks of plugins around it.
pub struct PluginService<S, P> {
    inner: S,
    shared: Arc<Shared<P>>,
}

impl<S, P: Plugin> PluginService<S, P> {
    /// Wraps a service.
    pub fn new(inner: S, plugin: P) -> Self {
        PluginLayer::new(plugin).layer(inner)
    }

    /// A layer of a plugin.
    pub fn layer(plugin: P) -> PluginLayer<P> {
        PluginLayer::new(plugin)
    }
}

impl<S: Clone, P> PluginService<S, P> {
    /// Takes the instance that is ready and leaves a clone that has yet to become so.
    fn take_ready(&mut self) -> S {
        let clone = self.inner.clone();
        std::mem::replace(&mut self.inner, clone)
    }
}

impl<S, P> PluginService<S, P> {
    inner_accessors!();
}

impl<S: Clone, P> Clone for PluginService<S, P> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S: fmt::Debug, P> fmt::Debug for PluginService<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginService")
            .field("plugins", &self.shared.names)
            .field("inner", &self.inner)
            .finish()
    }
}

/// What the service answers, after the hooks.
pub struct ResponseFuture<T>(Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>);

impl<T> ResponseFuture<T> {
    fn new(future: impl Future<Output = Result<T, Error>> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl<T> Future for ResponseFuture<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for ResponseFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
