//! How a hook's decision, or its failure, becomes the fate of a call.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;
use tower_agent_core::{
    BoxError, Denial, Error, ErrorKind, Failure, FinishReason, Mark, Message, Operation, Output,
    Reply, Role, RunRequest, Str, ToolOutput,
};

use super::{
    leaf::Plugin,
    trail::{Snapshot, Trail},
};
use crate::{
    FailMode, Verdict,
    blame::{HOOK_FAILED, after_failed, answered, before_failed, deny, raised, warn_failed},
    panic_text::panic_text,
};

/// What a call gets instead of going on. It is rare, so it is boxed: what says that there is none passes every hook.
pub type Stop<O> = Result<Box<<O as Operation>::Output>, Error>;

/// A request on its way down.
#[derive(Debug)]
pub struct Before<'a, O> {
    pub(super) names: &'a [Str],
    pub(super) trail: &'a mut Trail<O>,
    pub(super) request: &'a mut O,
}

impl<O: Snapshot> Before<'_, O> {
    /// Carries out what a hook decided, which most often is to go on with the call as it is.
    #[inline]
    pub(super) fn decide(
        &mut self,
        mode: FailMode,
        hook: &'static str,
        verdict: Result<Verdict<O>, Error>,
    ) -> Option<Stop<O>> {
        if matches!(verdict, Ok(Verdict::Allow)) && self.request.is_untouched(self.trail.last()) {
            self.trail.enter_untouched();
            return None;
        }
        self.conclude(mode, hook, verdict)
    }

    #[cold]
    #[inline(never)]
    fn conclude(
        &mut self,
        mode: FailMode,
        hook: &'static str,
        verdict: Result<Verdict<O>, Error>,
    ) -> Option<Stop<O>> {
        match verdict {
            Ok(Verdict::Allow) => {}
            Ok(Verdict::Modify(request)) => *self.request = *request,
            Ok(Verdict::Deny(denial)) => return Some(Ok(self.denied(*denial))),
            Ok(Verdict::Answer(output)) => {
                return Some(Ok(Box::new(answered(self.name(), *output))));
            }
            Err(error) => return self.failed(mode, hook, error),
        }
        if let Some(fault) = self.request.fault(self.trail.last()) {
            return self.failed(mode, hook, Error::new(ErrorKind::InvalidArguments, fault));
        }
        self.trail.enter(self.request);
        None
    }

    fn name(&self) -> &Str {
        name_of(self.names, self.trail.entered())
    }

    fn denied(&self, denial: Denial) -> Box<O::Output> {
        Box::new(deny(self.name(), self.request, denial))
    }

    fn failed(&mut self, mode: FailMode, hook: &'static str, error: Error) -> Option<Stop<O>> {
        let error = before_failed(self.name(), raised(self.name(), hook, error));
        match mode {
            FailMode::Open => {
                warn_failed(&error, "the call goes on without it");
                // Half an edit is worse than none.
                *self.request = self.trail.last().clone();
                self.trail.enter(self.request);
                None
            }
            FailMode::Closed => {
                warn_failed(&error, "the call is denied");
                Some(Ok(self.denied(Denial::new(error.model_text()).code(HOOK_FAILED))))
            }
            FailMode::Split => Some(Err(error)),
        }
    }
}

/// A result on its way up.
#[derive(Debug)]
pub struct After<'a, O, T> {
    pub(super) names: &'a [Str],
    pub(super) trail: &'a mut Trail<O>,
    /// The plugin whose turn it is.
    pub(super) index: usize,
    pub(super) result: &'a mut Result<T, Error>,
    pub(super) took: Duration,
    /// The plugin that answered an error.
    pub(super) answered: Option<usize>,
    /// Why the result had to be withheld.
    pub(super) withheld: Option<Error>,
}

impl<'a, O: Snapshot, T> After<'a, O, T> {
    pub(super) fn new(
        names: &'a [Str],
        trail: &'a mut Trail<O>,
        result: &'a mut Result<T, Error>,
        took: Duration,
    ) -> Self {
        let index = names.len();
        Self { names, trail, index, result, took, answered: None, withheld: None }
    }

    /// Goes on to the next plugin outwards, and tells whether the call had entered it.
    pub(super) fn enter(&mut self) -> bool {
        self.index = self.index.saturating_sub(1);
        let entered = self.index < self.trail.entered();
        self.trail.leave(self.index);
        entered
    }

    /// Puts what an error hook answered in the place of the error.
    pub(super) fn answer(&mut self, hook: &'static str, answer: Result<Option<T>, Error>)
    where
        T: Output,
    {
        match answer {
            Ok(Some(output)) => {
                *self.result = Ok(answered(name_of(self.names, self.index), output));
                self.answered = Some(self.index);
            }
            Ok(None) => {}
            Err(error) => {
                let error = raised(name_of(self.names, self.index), hook, error);
                warn_failed(&error, "the error that it was asked about goes on");
            }
        }
    }
}

impl<O: Snapshot, T: Withhold> After<'_, O, T> {
    /// Keeps the result if an after-hook failed, unless the plugin is a guard.
    pub(super) fn settle(&mut self, mode: FailMode, hook: &'static str, done: Result<(), Error>) {
        let Err(error) = done else { return };
        let name = name_of(self.names, self.index);
        let error = after_failed(name, raised(name, hook, error));
        if mode != FailMode::Closed {
            return warn_failed(&error, "the result is kept");
        }
        warn_failed(&error, "the result is withheld");
        if let Ok(result) = self.result {
            result.withhold(name, &error);
        }
        self.withheld = Some(error);
    }
}

/// What can be replaced when a guard could not check it.
pub trait Withhold {
    /// Puts the text of the error in the place of all content.
    fn withhold(&mut self, name: &str, error: &Error);
}

impl Withhold for ToolOutput {
    fn withhold(&mut self, name: &str, error: &Error) {
        let safe = Self::text(error.model_text()).with_outcome(Failure::from(error));
        let provenance = std::mem::replace(self, safe).provenance;
        self.provenance = provenance;
        self.provenance.mark(Mark::new(name.to_owned(), "withheld"));
    }
}

impl Withhold for Reply {
    fn withhold(&mut self, _: &str, error: &Error) {
        let mut safe = Self::new(Message::assistant(error.model_text()));
        safe.finish = FinishReason::Error;
        safe.usage = self.usage;
        *self = safe;
    }
}

/// Runs a hook and turns its panic into an error.
pub(super) const fn contained<F>(hook: F) -> Contained<F> {
    Contained { hook }
}

pin_project! {
    /// A hook that is polled where it lies: its verdict is large, and moved as seldom as can be.
    pub(super) struct Contained<F> {
        #[pin]
        hook: F,
    }
}

impl<T, F: Future<Output = Result<T, BoxError>>> Future for Contained<F> {
    type Output = Result<T, Error>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let hook = self.project().hook;
        match catch_unwind(AssertUnwindSafe(|| hook.poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(Ok(done))) => Poll::Ready(Ok(done)),
            Ok(Poll::Ready(Err(error))) => Poll::Ready(Err(error.into())),
            Err(payload) => Poll::Ready(Err(panicked(payload.as_ref()))),
        }
    }
}

/// Runs a hook that awaits nothing and logs its panic.
pub(super) fn contained_now(names: &[Str], index: usize, name: &'static str, hook: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(hook)) {
        let error = raised(name_of(names, index), name, panicked(payload.as_ref()));
        warn_failed(&error, "nothing else changes");
    }
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    Error::new(ErrorKind::Panic, format!("panicked: {}", panic_text(payload)))
}

pub(super) fn name_of(names: &[Str], index: usize) -> &Str {
    static UNKNOWN: std::sync::LazyLock<Str> = std::sync::LazyLock::new(|| "plugin".into());
    names.get(index).unwrap_or(&UNKNOWN)
}

/// Shows a plugin the user's messages that a run answers.
pub(super) async fn read_input<P: Plugin + ?Sized>(
    plugin: &P,
    run: &mut RunRequest,
) -> Result<Verdict<RunRequest>, Error> {
    for index in 0..run.input.len() {
        let Some(before) = run.input.get(index).filter(|message| *message.role() == Role::User)
        else {
            continue;
        };
        let mut message = before.clone();
        contained(plugin.on_user_message(&run.ctx, &mut message)).await?;
        if !run.input.get(index).is_some_and(|before| before.ptr_eq(&message))
            && let Some(slot) = run.input.make_mut().get_mut(index)
        {
            *slot = message;
        }
    }
    Ok(Verdict::Allow)
}
