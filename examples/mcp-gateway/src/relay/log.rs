#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

use rmcp::model::LoggingMessageNotificationParam;
use serde_json::{Value, json};
use tower_agent::{Json, Str};
use tower_agent_mcp::client::Log;

use crate::masks::Masks;

/// A line of a server's log as clients see it: named after the server, and masked. Nothing of it is left where masking fails.
pub(crate) fn message(
    server: &Str,
    masks: &Masks,
    log: &Log,
) -> Option<LoggingMessageNotificationParam> {
    let level = log.severity();
    let json = Json::from_value(json!({ "logger": log.logger, "data": log.data.value().ok()? }));
    let masked = masks.outward(json)?;
    let masked = masked.value().ok()?;
    let logger = match masked.get("logger").and_then(Value::as_str) {
        Some(logger) => format!("{server}/{logger}"),
        None => server.to_string(),
    };
    let message = LoggingMessageNotificationParam::new(level, masked.get("data")?.clone());
    Some(message.with_logger(logger))
}
