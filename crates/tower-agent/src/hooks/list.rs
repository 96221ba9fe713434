use std::{error::Error as StdError, fmt, sync::Arc};

use tower_agent_core::{Error, Operation};
use tower_layer::Layer;

use super::hooked::Hooked;
use crate::{FailMode, Verdict, contain::HookName};

/// One entry of a [`HookList`]: hooks that need not wait for anything.
///
/// All but the name do nothing unless they are written. One value may be entry of several lists, by an
/// [`Arc`], and share its state between the hooks.
pub trait Hook<O: Operation>: Send + Sync + 'static {
    /// The name that denials, errors and logs blame. It is asked once, when the list is built.
    fn name(&self) -> &str;

    /// What the failure of a hook means. It is asked once, when the list is built.
    fn fail_mode(&self) -> FailMode {
        FailMode::Split
    }

    /// Runs before the call.
    ///
    /// # When
    /// On the way down, in the order of the list; not after an entry before it refused or answered.
    ///
    /// # What is available
    /// The request with the edits of the entries before it, for an edit in place.
    ///
    /// # What an error does
    /// As for [`before`](super::before()): a panic, or arguments of a tool call that are no JSON object.
    ///
    /// # What may be returned
    /// A [`Verdict`].
    fn before(&self, request: &mut O) -> Verdict<O> {
        let _ = request;
        Verdict::Allow
    }

    /// Runs on the answer.
    ///
    /// # When
    /// On the way up, in reverse order, for entries whose `before` let the call go on. The answer may be the
    /// service's, that of an entry further in, or what an entry further in put in the place of an error.
    ///
    /// # What is available
    /// The request as this entry passed it on, without edits of later entries; the answer, for an edit in place.
    ///
    /// # What an error does
    /// As for [`after`](super::after()).
    ///
    /// # What may be returned
    /// Nothing.
    fn after(&self, request: &O, output: &mut O::Output) {
        let _ = (request, output);
    }

    /// Runs on an error.
    ///
    /// # When
    /// On the way up, in reverse order, for entries whose `before` let the call go on, until one handles it.
    ///
    /// # What is available
    /// The request as this entry passed it on, and the error.
    ///
    /// # What an error does
    /// As for [`on_error`](super::on_error()).
    ///
    /// # What may be returned
    /// `Some` answer, which the entries further out see in their `after`, or `None`: the error goes on.
    fn on_error(&self, request: &O, error: &Error) -> Option<O::Output> {
        let _ = (request, error);
        None
    }
}

impl<O: Operation, H: Hook<O> + ?Sized> Hook<O> for Box<H> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn fail_mode(&self) -> FailMode {
        (**self).fail_mode()
    }

    fn before(&self, request: &mut O) -> Verdict<O> {
        (**self).before(request)
    }

    fn after(&self, request: &O, output: &mut O::Output) {
        (**self).after(request, output);
    }

    fn on_error(&self, request: &O, error: &Error) -> Option<O::Output> {
        (**self).on_error(request, error)
    }
}

impl<O: Operation, H: Hook<O> + ?Sized> Hook<O> for Arc<H> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn fail_mode(&self) -> FailMode {
        (**self).fail_mode()
    }

    fn before(&self, request: &mut O) -> Verdict<O> {
        (**self).before(request)
    }

    fn after(&self, request: &O, output: &mut O::Output) {
        (**self).after(request, output);
    }

    fn on_error(&self, request: &O, error: &Error) -> Option<O::Output> {
        (**self).on_error(request, error)
    }
}

/// A list of [`Hook`]s that is put together at run time, as one layer.
///
/// It behaves as the same hooks would as nested layers, the first outermost: before-hooks in order,
/// after-hooks in reverse, and those only for entries whose before-hook let the call go on. It is call-through and
/// allocates nothing, however long it is; only an entry that edits a request costs a handle of it.
///
/// # Examples
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{
///     Error, ToolCall, ToolOutput, Verdict, hooks::{Hook, HookList, NameError},
/// };
///
/// struct ReadOnly;
///
/// impl Hook<ToolCall> for ReadOnly {
///     fn name(&self) -> &str {
///         "read-only"
///     }
///
///     fn before(&self, call: &mut ToolCall) -> Verdict<ToolCall> {
///         if call.name == "write" {
///             return Verdict::deny("Nothing may be written here, and nothing was. Use `read`.");
///         }
///         Verdict::Allow
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookList::builder().hook(ReadOnly).build()?;
/// let stack = ServiceBuilder::new()
///     .layer(hooks)
///     .service(service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("written")) }));
/// let output = stack.oneshot(ToolCall::new("write", "{}")).await?;
/// assert_eq!(output.provenance.by.as_deref(), Some("read-only"));
///
/// let twice = HookList::builder().hook(ReadOnly).hook(ReadOnly).build();
/// assert_eq!(twice.unwrap_err(), NameError::Duplicate("read-only".into()));
/// # Ok(())
/// # }
/// ```
///
/// Chosen by configuration:
///
/// ```
/// use tower_agent::{ToolCall, hooks::{Hook, HookList, NameError}};
///
/// struct Noop(String);
///
/// impl Hook<ToolCall> for Noop {
///     fn name(&self) -> &str {
///         &self.0
///     }
/// }
///
/// # fn main() -> Result<(), NameError> {
/// let wanted = "auth,log,cache";
/// let hooks = wanted.split(',').map(|name| Box::new(Noop(name.to_owned())) as Box<dyn Hook<ToolCall>>);
/// let hooks = HookList::new(hooks)?;
/// assert_eq!(hooks.to_string(), "auth > log > cache");
/// assert_eq!(HookList::<ToolCall>::default().to_string(), "no hooks");
/// # Ok(())
/// # }
/// ```
pub struct HookList<O: Operation> {
    entries: Arc<[Entry<O>]>,
}

pub(super) struct Entry<O: Operation> {
    pub(super) name: HookName,
    pub(super) mode: FailMode,
    pub(super) hook: Box<dyn Hook<O>>,
}

/// Puts a [`HookList`] together.
#[must_use]
pub struct HookListBuilder<O: Operation> {
    hooks: Vec<Box<dyn Hook<O>>>,
}

/// Why a list cannot be built: blame must never be ambiguous.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NameError {
    /// The hook at this position, from 0, has no name.
    Blank(usize),
    /// Two hooks have this name.
    Duplicate(Box<str>),
}

impl<O: Operation> HookList<O> {
    /// A list of boxed hooks, the first outermost.
    ///
    /// # Errors
    /// [`NameError`] when a name is blank or occurs twice.
    pub fn new(hooks: impl IntoIterator<Item = Box<dyn Hook<O>>>) -> Result<Self, NameError> {
        let mut entries = Vec::<Entry<O>>::new();
        for (position, hook) in hooks.into_iter().enumerate() {
            let name = hook.name();
            if name.trim().is_empty() {
                return Err(NameError::Blank(position));
            }
            if entries.iter().any(|entry| &*entry.name == name) {
                return Err(NameError::Duplicate(name.into()));
            }
            let name = HookName::Shared(name.into());
            entries.push(Entry { name, mode: hook.fail_mode(), hook });
        }
        Ok(Self { entries: entries.into() })
    }

    /// Starts an empty list.
    pub fn builder() -> HookListBuilder<O> {
        HookListBuilder { hooks: Vec::new() }
    }

    /// The names, outermost first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// How many hooks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no hook, so that the layer changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<O: Operation> HookListBuilder<O> {
    /// Adds a hook, inside those that were added before.
    pub fn hook(mut self, hook: impl Hook<O>) -> Self {
        self.hooks.push(Box::new(hook));
        self
    }

    /// Finishes the list.
    ///
    /// # Errors
    /// [`NameError`] when a name is blank or occurs twice.
    pub fn build(self) -> Result<HookList<O>, NameError> {
        HookList::new(self.hooks)
    }
}

impl<O: Operation, S> Layer<S> for HookList<O> {
    type Service = Hooked<S, O>;

    fn layer(&self, inner: S) -> Self::Service {
        Hooked::of_entries(inner, Arc::clone(&self.entries))
    }
}

impl<O: Operation> Clone for HookList<O> {
    fn clone(&self) -> Self {
        Self { entries: Arc::clone(&self.entries) }
    }
}

impl<O: Operation> Default for HookList<O> {
    fn default() -> Self {
        Self { entries: Arc::new([]) }
    }
}

impl<O: Operation> fmt::Debug for HookList<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookList")?;
        f.debug_list().entries(self.names()).finish()
    }
}

/// The names in order; never empty.
impl<O: Operation> fmt::Display for HookList<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no hooks");
        }
        for (position, name) in self.names().enumerate() {
            let separator = if position == 0 { "" } else { " > " };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}

impl<O: Operation> fmt::Debug for HookListBuilder<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.hooks.iter().map(|hook| hook.name());
        f.write_str("HookListBuilder")?;
        f.debug_list().entries(names).finish()
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank(position) => write!(f, "hook {position} has no name"),
            Self::Duplicate(name) => write!(f, "two hooks are named `{name}`"),
        }
    }
}

impl StdError for NameError {}
