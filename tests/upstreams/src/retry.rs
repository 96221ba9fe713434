//! When a model is asked again, for tower's retry layer.

use std::time::Duration;

use tokio::time::{Sleep, sleep};
use tower::retry::Policy;
use tower_agent_core::{Effect, Error, ErrorKind, ModelRequest};

const FIRST_WAIT: Duration = Duration::from_millis(200);
/// A provider that asks for more is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Asks again as long as the error may pass: after the time that the provider asked for, else after twice the time of the
/// attempt before.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    left: u32,
    wait: Duration,
}

impl Retry {
    pub(crate) const fn new(attempts: u32) -> Self {
        Self { left: attempts.saturating_sub(1), wait: FIRST_WAIT }
    }
}

impl<T> Policy<ModelRequest, T, Error> for Retry {
    type Future = Sleep;

    fn retry(&mut self, _: &mut ModelRequest, result: &mut Result<T, Error>) -> Option<Sleep> {
        let error = result.as_ref().err().filter(|error| may_pass(error))?;
        self.left = self.left.checked_sub(1)?;
        let wait = error.retry_after().unwrap_or(self.wait);
        self.wait *= 2;
        (wait <= LONGEST_WAIT).then(|| sleep(wait))
    }

    fn clone_request(&mut self, request: &ModelRequest) -> Option<ModelRequest> {
        Some(request.clone())
    }
}

/// Asking a model costs money and changes nothing, so an unknown effect is no reason to stop.
fn may_pass(error: &Error) -> bool {
    let passes = match error.kind() {
        ErrorKind::RateLimited { .. } | ErrorKind::Overloaded | ErrorKind::Unavailable => true,
        ErrorKind::Timeout | ErrorKind::Protocol => true,
        ErrorKind::Upstream { status } => matches!(status, None | Some(408 | 409 | 500..)),
        _ => false,
    };
    passes && error.effect() != Effect::Completed
}
