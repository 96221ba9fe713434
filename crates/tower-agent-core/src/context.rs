use std::{sync::Arc, time::Instant};

use tokio_util::sync::CancellationToken;

use crate::{CallId, Extensions, Identity, RunState, Str};

/// What every request knows about the run that it belongs to.
///
/// These are fields and not extensions, so no layer depends on somebody having inserted them. A clone
/// copies two pointers and a few numbers.
#[derive(Clone, Debug)]
pub struct Context {
    run: Arc<Run>,
    /// The turn of the agent's loop, from 1; 0 outside a loop.
    pub turn: u32,
    /// The attempt at this call, from 1.
    pub attempt: u32,
    deadline: Option<Instant>,
    /// What users attach to the call; layers of this project keep none of their own state here.
    pub extensions: Extensions,
}

/// The part of the context that a whole run shares.
#[derive(Clone, Debug, Default)]
pub struct Run {
    id: Str,
    agent: Str,
    user: Option<Str>,
    session: Option<Str>,
    tenant: Option<Str>,
    parent: Option<Parent>,
    deadline: Option<Instant>,
    cancellation: CancellationToken,
    state: RunState,
}

#[derive(Clone, Debug)]
struct Parent {
    run: Arc<Run>,
    call: CallId,
}

/// Makes a [`Run`] out of what a host knows about its caller.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RunBuilder {
    run: Run,
    extensions: Extensions,
}

impl Run {
    /// Starts a run with an id that the host chooses.
    pub fn builder(id: impl Into<Str>) -> RunBuilder {
        let run = Self { id: id.into(), ..Self::default() };
        RunBuilder { run, extensions: Extensions::new() }
    }

    /// The run's id; empty for a context that no host made.
    #[must_use]
    pub fn id(&self) -> &Str {
        &self.id
    }

    /// The agent's name; empty outside an agent.
    #[must_use]
    pub fn agent(&self) -> &Str {
        &self.agent
    }

    /// Who the agent works for.
    #[must_use]
    pub fn user(&self) -> Option<&Str> {
        self.user.as_ref()
    }

    /// The conversation that the run belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&Str> {
        self.session.as_ref()
    }

    /// The customer whose data and limits apply.
    #[must_use]
    pub fn tenant(&self) -> Option<&Str> {
        self.tenant.as_ref()
    }

    /// The run whose tool call started this one.
    #[must_use]
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_ref().map(|parent| &*parent.run)
    }

    /// The call of the parent run that started this one.
    #[must_use]
    pub fn parent_call(&self) -> Option<&CallId> {
        self.parent.as_ref().map(|parent| &parent.call)
    }

    /// The token that cancels the run and everything nested in it.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// What hooks and tools of this run share.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }
}

impl RunBuilder {
    /// Names the agent.
    pub fn agent(mut self, agent: impl Into<Str>) -> Self {
        self.run.agent = agent.into();
        self
    }

    /// Takes over who asks, and what the host knows besides; what the identity does not name stays.
    pub fn identity(mut self, identity: Identity) -> Self {
        let run = &mut self.run;
        run.user = identity.user.or_else(|| run.user.take());
        run.session = identity.session.or_else(|| run.session.take());
        run.tenant = identity.tenant.or_else(|| run.tenant.take());
        self.extensions.extend(&identity.extensions);
        self
    }

    /// Names who the agent works for.
    pub fn user(mut self, user: impl Into<Str>) -> Self {
        self.run.user = Some(user.into());
        self
    }

    /// Names the conversation.
    pub fn session(mut self, session: impl Into<Str>) -> Self {
        self.run.session = Some(session.into());
        self
    }

    /// Names the customer.
    pub fn tenant(mut self, tenant: impl Into<Str>) -> Self {
        self.run.tenant = Some(tenant.into());
        self
    }

    /// Sets when the run must be over.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.run.deadline = Some(deadline);
        self
    }

    /// Sets the token that cancels the run.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.run.cancellation = token;
        self
    }

    /// Finishes the context of the run's first request.
    #[must_use]
    pub fn build(self) -> Context {
        Context { extensions: self.extensions, ..Context::from(Arc::new(self.run)) }
    }
}

impl Context {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// When the call must be over: its own deadline or the run's, whichever comes first.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        [self.deadline, self.run.deadline].into_iter().flatten().min()
    }

    /// Gives the call a deadline of its own; the run's still holds.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// The token that cancels the run.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.run.cancellation
    }

    /// What hooks and tools of this run share.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.run.state
    }

    /// The same run under an agent's name and, if it had none, an id.
    #[must_use]
    pub fn for_agent(&self, agent: &Str, id: impl FnOnce() -> Str) -> Self {
        let mut run = Run::clone(&self.run);
        if run.id.is_empty() {
            run.id = id();
        }
        run.agent = agent.clone();
        Self { run: Arc::new(run), ..self.clone() }
    }

    /// A run nested under a call of this one: own id and state; identity, deadline and cancellation are the parent's.
    #[must_use]
    pub fn nested(&self, id: impl Into<Str>, call: CallId) -> Self {
        let run = Run {
            id: id.into(),
            agent: Str::default(),
            user: self.run.user.clone(),
            session: self.run.session.clone(),
            tenant: self.run.tenant.clone(),
            parent: Some(Parent { run: Arc::clone(&self.run), call }),
            deadline: self.deadline(),
            cancellation: self.run.cancellation.child_token(),
            state: RunState::new(),
        };
        Self { extensions: self.extensions.clone(), ..Self::from(Arc::new(run)) }
    }

    /// Whether nothing of the call's own part was changed between two handles of it.
    #[inline]
    #[must_use]
    pub fn is_untouched(&self, before: &Self) -> bool {
        self.same_run(before)
            && self.extensions.ptr_eq(&before.extensions)
            && (self.turn, self.attempt) == (before.turn, before.attempt)
            && self.deadline == before.deadline
    }

    /// Whether both belong to the same run.
    #[must_use]
    pub fn same_run(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }
}

impl From<Arc<Run>> for Context {
    fn from(run: Arc<Run>) -> Self {
        Self { run, turn: 0, attempt: 1, deadline: None, extensions: Extensions::new() }
    }
}

impl Default for Context {
    /// A context outside any run, with a state of its own.
    fn default() -> Self {
        Self::from(Arc::new(Run::default()))
    }
}
