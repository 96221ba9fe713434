use tower_agent_core::{Context, End, OperationKind, RunRequest};

use super::leaf::Plugin;

/// The hooks that a drop may call, which await nothing.
#[doc(hidden)]
pub trait Ended {
    fn run_ended(&self, run: &RunRequest, end: &End);
    fn call_dropped(&self, kind: OperationKind, ctx: &Context);
}

pub(super) struct Single<'a, P: ?Sized>(pub(super) &'a P);

impl<P: Plugin + ?Sized> Ended for Single<'_, P> {
    fn run_ended(&self, run: &RunRequest, end: &End) {
        self.0.after_run(run, end);
    }

    fn call_dropped(&self, kind: OperationKind, ctx: &Context) {
        self.0.on_dropped(kind, ctx);
    }
}
