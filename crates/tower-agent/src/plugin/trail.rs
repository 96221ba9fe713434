//! An event on its way up.

use tower_agent_core::{Context, Error, RunEvent, Str};

use super::stack::name_of;
pub use crate::trail::{Snapshot, Trail};
use crate::{
    FailMode,
    blame::{raised, warn_failed},
};

/// An event on its way up through the plugins that its run entered.
#[derive(Debug)]
pub struct Observe<'a, E> {
    pub(super) names: &'a [Str],
    pub(super) entered: usize,
    pub(super) index: usize,
    pub(super) ctx: &'a Context,
    pub(super) event: &'a mut E,
    /// Why the stream has to end.
    pub(super) error: Option<Error>,
}

impl Observe<'_, RunEvent> {
    pub(super) fn enter(&mut self) -> bool {
        self.index = self.index.saturating_sub(1);
        self.index < self.entered && self.error.is_none()
    }

    pub(super) fn settle(&mut self, mode: FailMode, hook: &str, done: Result<(), Error>) {
        if let Err(error) = done {
            let error = raised(name_of(self.names, self.index), hook, error);
            if mode != FailMode::Closed {
                return warn_failed(&error, "the event goes on as it is");
            }
            warn_failed(&error, "the run ends");
            self.error = Some(error);
        }
    }
}
