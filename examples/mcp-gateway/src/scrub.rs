//! Masks what does not pass through a stack.

use std::future::ready;

use futures_util::FutureExt;
use tower::{ServiceExt, service_fn};
use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput};
use tower_layer::Layer;

/// What a redacting layer leaves of an output; nothing where it fails.
pub(crate) fn scrub(layer: &RedactLayer, output: ToolOutput) -> Option<ToolOutput> {
    let given = service_fn(move |_: ToolCall| ready(Ok::<_, Error>(output.clone())));
    // Nothing in it waits.
    layer.layer(given).oneshot(ToolCall::new("", "{}")).now_or_never()?.ok()
}
