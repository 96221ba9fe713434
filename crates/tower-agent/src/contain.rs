//! Calls of hooks that may panic: the panic is contained and names the hook.

use std::{
    any::Any,
    borrow::Cow,
    fmt,
    future::Future,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_agent_core::Error;

use crate::{blame::hook_error, panic_text::panic_text};

/// The name of a hook. A clone allocates nothing, whoever made the name.
#[derive(Clone)]
pub(crate) enum HookName {
    Static(&'static str),
    Shared(Arc<str>),
}

impl HookName {
    /// The name as a denial or an error carries it.
    pub(crate) fn to_cow(&self) -> Cow<'static, str> {
        match self {
            Self::Static(name) => Cow::Borrowed(name),
            Self::Shared(name) => Cow::Owned(String::from(&**name)),
        }
    }
}

impl Deref for HookName {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Static(name) => name,
            Self::Shared(name) => name,
        }
    }
}

impl From<Cow<'static, str>> for HookName {
    fn from(name: Cow<'static, str>) -> Self {
        match name {
            Cow::Borrowed(name) => Self::Static(name),
            Cow::Owned(name) => Self::Shared(name.into()),
        }
    }
}

impl fmt::Debug for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// What a hook panicked with.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Calls a hook. A panic becomes an error of kind [`Hook`](ErrorKind::Hook) that names it.
///
/// `hook` says which of its hooks it is, such as `before`. The effect is [`Unknown`](Effect::Unknown) until the
/// caller, who knows where it stands, sets it.
pub(crate) fn contain<T>(name: &str, hook: &str, call: impl FnOnce() -> T) -> Result<T, Error> {
    caught(call).map_err(|panic| panicked(name, hook, &*panic))
}

/// Calls hooks of which only the panic tells who it was.
///
/// A panic that comes [from inside](inside) is none of theirs and goes on as it is.
#[inline]
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| match panic.downcast::<FromInside>() {
        Ok(from_inside) => resume_unwind(from_inside.0),
        Err(panic) => panic,
    })
}

struct FromInside(Panic);

/// Calls the service inside of a hook that runs around it, so that a panic there is not taken for the hook's.
pub(crate) fn inside<T>(call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| resume_unwind(Box::new(FromInside(panic))))
}

pin_project! {
    /// The async twin of [`contain`]: a future of a hook that ends in an error where the hook panics.
    pub(crate) struct Contained<F> {
        #[pin]
        future: F,
        name: HookName,
        hook: &'static str,
    }
}

impl<F: Future> Contained<F> {
    /// Watches over a future of the hook.
    pub(crate) fn new(name: HookName, hook: &'static str, future: F) -> Self {
        Self { future, name, hook }
    }
}

/// Calls an async hook, where making the future may panic as well.
pub(crate) fn contain_async<F: Future>(
    name: &HookName,
    hook: &'static str,
    make: impl FnOnce() -> F,
) -> Result<Contained<F>, Error> {
    let future = contain(name, hook, make)?;
    Ok(Contained::new(name.clone(), hook, future))
}

impl<F: Future> Future for Contained<F> {
    type Output = Result<F::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let polled = contain(this.name, this.hook, || this.future.poll(cx));
        match polled {
            Ok(poll) => Poll::Ready(Ok(ready!(poll))),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

/// The error of a hook that panicked.
#[cold]
pub(crate) fn panicked(name: &str, hook: &str, panic: &(dyn Any + Send)) -> Error {
    hook_error(name, format!("`{hook}` panicked: {}", panic_text(panic)))
}
