//! What the operator reads when redaction breaks down. A binary of its own: tests that run beside each other can keep
//! `tracing` from asking a subscriber at all.
#![cfg(test)]
#![cfg(feature = "redact")]

use std::sync::{Arc, Mutex};

use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput, redact::Pattern};

#[tokio::test]
async fn a_check_that_breaks_down_warns_and_names_the_layer_but_no_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let pattern = Pattern::new("broken", "x+").unwrap().accept(|_| panic!("the check is broken"));
    let tool = service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("raw xxx text")) });
    let stack = RedactLayer::new([pattern]).layer(tool);
    let output = stack.oneshot(ToolCall::new("t", "{}")).await.unwrap();
    assert!(!output.joined_text().contains("xxx"));

    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("WARN") && logged.contains("layer=\"redact\""), "{logged}");
    assert!(!logged.contains("xxx"), "{logged}");
}

/// What is written in a test.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
