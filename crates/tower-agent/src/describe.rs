//! Says what a stack is made of, as it was really built.

mod check;
mod onion;

use std::{any::Any, fmt, sync::Arc};

use serde::{Serialize, Serializer};
use tower_agent_core::{ModelRequest, Operation, RunRequest, Str, ToolCall};

pub use self::check::{Warning, check};
use crate::Boxed;

/// The names of a stack's layers, outermost first, and of the service under them.
///
/// It prints as an onion read from the outside, `timeout > redact > tool_fn`, and serialises as the list of
/// names. A layer that is there or not at run time ([`option_layer`](tower::util::option_layer)) ends in `?`.
///
/// ```
/// use tower::{ServiceBuilder, service_fn};
/// use tower_agent::{BoxError, ToolCall, ToolOutput, describe};
///
/// let stack = ServiceBuilder::new()
///     .load_shed()
///     .concurrency_limit(8)
///     .service(service_fn(|call: ToolCall| async move { Ok::<_, BoxError>(ToolOutput::text("")) }));
///
/// let description = describe(&stack);
/// assert_eq!(description.to_string(), "load_shed > concurrency_limit > service_fn");
/// assert_eq!(description.layers(), ["load_shed", "concurrency_limit"]);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct Description(Arc<[Str]>);

/// Describes a stack of services.
///
/// The type of a stack spells its onion, so no layer has to cooperate: those of tower and of anybody else
/// show as ours do. The service inside a layer is taken to be the first type parameter that could be one; where
/// tower does otherwise, that is known. Type names are the compiler's and not promised to stay as they
/// are, so a description is for people, logs and [`check`], not for decisions.
///
/// A box hides the type of what it holds. A [`Boxed`] keeps the description that it was built with and gives
/// it when it is asked itself; below other layers it shows as `boxed`.
#[must_use]
pub fn describe<S: 'static>(service: &S) -> Description {
    kept::<S, ToolCall>(service)
        .or_else(|| kept::<S, ModelRequest>(service))
        .or_else(|| kept::<S, RunRequest>(service))
        .unwrap_or_else(Description::of::<S>)
}

fn kept<S: 'static, O: Operation>(service: &S) -> Option<Description> {
    let boxed = (service as &dyn Any).downcast_ref::<Boxed<O>>()?;
    Some(boxed.description().clone())
}

impl Description {
    /// Describes a type of stacks.
    #[must_use]
    pub fn of<S: ?Sized>() -> Self {
        Self(onion::names(std::any::type_name::<S>()).into_iter().map(Str::from).collect())
    }

    /// A description of given names, the service last.
    pub fn from_names<N: Into<Str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// The same layers with another description in place of the service, for whoever knows what a box holds.
    #[must_use]
    pub fn around(&self, inner: &Self) -> Self {
        Self(self.layers().iter().chain(inner.names()).cloned().collect())
    }

    /// All names, outermost first; the last one is the service's.
    #[must_use]
    pub fn names(&self) -> &[Str] {
        &self.0
    }

    /// The layers, outermost first.
    #[must_use]
    pub fn layers(&self) -> &[Str] {
        self.0.split_last().map_or(&[], |(_, layers)| layers)
    }

    /// The service under all layers.
    #[must_use]
    pub fn service(&self) -> Option<&Str> {
        self.0.last()
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [service] = self.names() {
            return write!(f, "{service} (no layers)");
        }
        for (position, name) in self.names().iter().enumerate() {
            if position > 0 {
                f.write_str(" > ")?;
            }
            f.write_str(name)?;
        }
        if self.0.is_empty() { f.write_str("(nothing)") } else { Ok(()) }
    }
}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Description({self})")
    }
}

impl Serialize for Description {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}
