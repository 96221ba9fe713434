//! What the operator reads of redaction: what it found, and how it broke down.
#![cfg(test)]
#![cfg(feature = "redact")]

use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    Error, RedactLayer, ToolCall, ToolOutput,
    redact::{Detector, Mask},
};
use tracing::Level;

#[path = "support/log.rs"]
mod lines;
#[path = "support/tokens.rs"]
mod tokens;

use lines::Lines;
use tokens::{FOUND, calls};

#[tokio::test]
async fn each_call_that_found_something_is_logged_once_with_its_numbers() {
    let (lines, _logging) = Lines::from(Level::DEBUG);
    calls().await;
    let logged = lines.text();
    let lines: Vec<_> = logged.lines().collect();
    assert_eq!(lines.len(), 3, "{logged}");
    assert!(lines[0].contains("DEBUG") && lines[0].contains(r#"operation="tool""#), "{logged}");
    assert!(lines[1].contains(r#"operation="model""#), "{logged}");
    assert!(lines[..2].iter().all(|line| line.contains(&format!("findings={FOUND}"))), "{logged}");
    assert!(!logged.contains("_16C7"), "{logged}");
}

#[tokio::test]
async fn a_check_that_breaks_down_warns_and_names_the_layer_but_no_secret() {
    let (lines, _logging) = Lines::from(Level::INFO);
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

    let logged = lines.text();
    assert!(logged.contains("WARN") && logged.contains("layer=\"redact\""), "{logged}");
    assert!(!logged.contains("xxx"), "{logged}");
}
