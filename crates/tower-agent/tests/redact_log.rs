//! What the operator reads when redaction breaks down. A binary of its own: tests that run beside each other can keep
//! `tracing` from asking a subscriber at all.
#![cfg(test)]
#![cfg(feature = "redact")]

use std::sync::{Arc, Mutex};

use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Error, RedactLayer, ToolCall, ToolOutput,
    redact::{Detector, Mask},
};

#[tokio::test]
async fn a_check_that_breaks_down_warns_and_names_the_layer_but_no_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let rule = r#"
        [[rule]]
        id = "broken"
        description = "What no mask is made for"
        keywords = ["xxx"]
        pattern = 'x{3,9}'
    "#;
    let detector = Detector::builder().none().rules_toml(rule).build().unwrap();
    let layer = RedactLayer::new(detector).mask(Mask::with(|_| panic!("the mask is broken")));
    let tool = service_fn(|_: ToolCall| async { Ok::<_, Error>(ToolOutput::text("raw xxx text")) });
    let stack = layer.layer(tool);
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
