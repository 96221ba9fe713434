use std::fmt;

use tower_agent_core::{BoxError, Denial, Operation, Output, Str};

/// What a before-hook decides.
///
/// A hook that returns nothing allows: one that returns early, or that was written before a variant existed,
/// must not block every call by accident. What is told beside "go on" stands in a box, for it is the rare case and
/// every hook returns a verdict.
///
/// ```
/// use tower_agent::{Denial, ToolCall, Verdict};
///
/// let verdict: Verdict<ToolCall> = ().into();
/// assert!(matches!(verdict, Verdict::Allow));
/// let verdict: Verdict<ToolCall> = Denial::new("Not on a Sunday.").into();
/// assert!(matches!(verdict, Verdict::Deny(_)));
/// ```
#[derive(Default)]
#[non_exhaustive]
pub enum Verdict<O: Operation> {
    /// Go on with the request as it is now.
    #[default]
    Allow,
    /// Go on with this request in its place.
    Modify(Box<O>),
    /// Refuse; the model reads the message. An empty message becomes one that names the hook.
    Deny(Box<Denial>),
    /// Answer in the place of the service, which does not run.
    Answer(Box<O::Output>),
}

impl<O: Operation> Verdict<O> {
    /// Refuses with a message for the model.
    pub fn deny(message: impl Into<Str>) -> Self {
        Denial::new(message).into()
    }

    /// Goes on with another request.
    pub fn modify(request: O) -> Self {
        Self::Modify(Box::new(request))
    }

    /// Answers in the place of the service.
    pub fn answer(output: O::Output) -> Self {
        Self::Answer(Box::new(output))
    }
}

impl<O: Operation> From<()> for Verdict<O> {
    fn from((): ()) -> Self {
        Self::Allow
    }
}

impl<O: Operation> From<Denial> for Verdict<O> {
    fn from(denial: Denial) -> Self {
        Self::Deny(Box::new(denial))
    }
}

impl<O: Operation> From<Option<Denial>> for Verdict<O> {
    fn from(denial: Option<Denial>) -> Self {
        denial.map_or(Self::Allow, Into::into)
    }
}

impl<O: Operation> fmt::Debug for Verdict<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow => f.write_str("Allow"),
            Self::Modify(request) => f.debug_tuple("Modify").field(request).finish(),
            Self::Deny(denial) => f.debug_tuple("Deny").field(denial).finish(),
            Self::Answer(output) => f.debug_tuple("Answer").field(output).finish(),
        }
    }
}

/// What a before-hook may return: whatever is [`Into<Verdict>`](Verdict), or a `Result` of it.
///
/// An error is a failed hook, not a refusal; the hook's [`FailMode`] says what becomes of the call.
pub trait IntoVerdict<O: Operation> {
    /// The verdict, unless the hook failed.
    ///
    /// # Errors
    /// Why the hook failed.
    fn into_verdict(self) -> Result<Verdict<O>, BoxError>;
}

impl<O: Operation, T: Into<Verdict<O>>> IntoVerdict<O> for T {
    fn into_verdict(self) -> Result<Verdict<O>, BoxError> {
        Ok(self.into())
    }
}

impl<O: Operation, T: Into<Verdict<O>>, E: Into<BoxError>> IntoVerdict<O> for Result<T, E> {
    fn into_verdict(self) -> Result<Verdict<O>, BoxError> {
        self.map(Into::into).map_err(Into::into)
    }
}

/// What an after-hook may return: nothing, or a `Result` of nothing.
///
/// An error is a failed hook; the hook's [`FailMode`] says what becomes of the result.
pub trait IntoHookResult {
    /// Nothing, unless the hook failed.
    ///
    /// # Errors
    /// Why the hook failed.
    fn into_hook_result(self) -> Result<(), BoxError>;
}

impl IntoHookResult for () {
    fn into_hook_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> IntoHookResult for Result<(), E> {
    fn into_hook_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// What a hook on events may return: nothing, whether the event goes on (`false` drops it), or a `Result` of either.
///
/// An error is a failed hook; the hook's [`FailMode`] says what becomes of the event.
pub trait IntoKeep {
    /// Whether the event goes on, unless the hook failed.
    ///
    /// # Errors
    /// Why the hook failed.
    fn into_keep(self) -> Result<bool, BoxError>;
}

impl IntoKeep for () {
    fn into_keep(self) -> Result<bool, BoxError> {
        Ok(true)
    }
}

impl IntoKeep for bool {
    fn into_keep(self) -> Result<bool, BoxError> {
        Ok(self)
    }
}

impl<T: IntoKeep, E: Into<BoxError>> IntoKeep for Result<T, E> {
    fn into_keep(self) -> Result<bool, BoxError> {
        self.map_err(Into::into).and_then(IntoKeep::into_keep)
    }
}

/// What an async after-hook may return: the answer that it was given, edited or not, or another one; or a `Result`
/// of it.
pub trait IntoEdited<T> {
    /// The answer, unless the hook failed.
    ///
    /// # Errors
    /// Why the hook failed.
    fn into_edited(self) -> Result<T, BoxError>;
}

impl<T: Output> IntoEdited<T> for T {
    fn into_edited(self) -> Result<T, BoxError> {
        Ok(self)
    }
}

impl<T: Output, E: Into<BoxError>> IntoEdited<T> for Result<T, E> {
    fn into_edited(self) -> Result<T, BoxError> {
        self.map_err(Into::into)
    }
}

/// What becomes of a call when a hook fails: returns an error, or panics.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum FailMode {
    /// A hook that fails *before* the call ends it with an error, and nothing ran; one that fails *after* it
    /// keeps the result and is logged.
    #[default]
    Split,
    /// The call goes on as if the hook were not there: for observers.
    Open,
    /// The call is denied, or its result withheld: for guards.
    Closed,
}
