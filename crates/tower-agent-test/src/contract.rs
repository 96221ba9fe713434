//! The standard stories that every layer must survive.

mod drive;
mod stories;

use tower_agent_core::Error;
use tower_layer::Layer;
use tower_service::Service;

use crate::{Counts, Probe, Sample};

/// Runs a layer through the standard stories around a [`Probe`] and panics where the layer breaks the
/// contract of [`tower::Service`] or of this project. Returns what all probes counted together, so that a test can
/// say that calls did get through.
///
/// The stories:
///
/// - ready, ready again, call; several calls in a row; not ready at first; ready but dropped before the call;
/// - the original and its clone called in either order; more calls than the inner service takes at a time;
/// - the call dropped after 0, 1, 2, .. polls, and the service used again;
/// - `poll_ready` fails; the call fails, panics, hangs, reports a failure;
/// - a stream read to its end, dropped after 0, 1, 2, .. steps, cut off, broken, stalled, panicking.
///
/// After each of them nothing may be in flight, no stream open, no reservation held, and a reply that was cut off
/// inside must not have come out as a complete one.
///
/// A service that hangs is given up after an hour, so run this with a paused clock:
/// `#[tokio::test(start_paused = true)]`.
///
/// ```
/// use tower_agent_core::ToolCall;
/// use tower_agent_test::assert_service_contract;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # tokio::time::pause();
/// let timeout = tower::timeout::TimeoutLayer::new(std::time::Duration::from_secs(1));
/// let counts = assert_service_contract::<ToolCall, _>(&timeout).await;
/// assert!(counts.outputs > 0);
/// # }
/// ```
///
/// # Panics
///
/// When the contract is broken; the text names the story and what went wrong.
///
/// [`tower::Service`]: tower_service::Service
pub async fn assert_service_contract<O, L>(layer: &L) -> Counts
where
    O: Sample,
    L: Layer<Probe<O>>,
    L::Service: Service<O, Response = O::Output, Error: Into<Error>> + Clone,
{
    let mut counts = Counts::default();
    counts += stories::readiness(layer).await;
    counts += stories::clones(layer).await;
    counts += stories::answers(layer).await;
    counts += stories::dropped_calls(layer).await;
    if O::STREAMS {
        counts += stories::streams(layer).await;
        counts += stories::dropped_streams(layer).await;
    }
    counts
}
