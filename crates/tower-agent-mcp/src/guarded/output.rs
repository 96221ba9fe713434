//! What a handler answers, in our vocabulary.

use rmcp::model::{CallToolResponse, CallToolResult, ResultType, Tool};
use serde::Serialize;
use tower_agent_core::{Error, ErrorKind, Json, ToolOutput, ToolSpec};

use crate::convert::from_mcp;

/// What of a result our vocabulary does not tell apart: `false` from nothing said.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    is_error: Option<bool>,
    result_type: Option<ResultType>,
}

impl Shape {
    /// Gives a result that is still a success, or still an error, the handler's own form.
    pub(super) fn restore(&self, result: &mut CallToolResult) {
        if self.is_error.unwrap_or(false) == result.is_error.unwrap_or(false) {
            result.is_error = self.is_error;
        }
        result.result_type = self.result_type.clone();
    }
}

pub(super) fn read(response: &CallToolResponse) -> Result<ToolOutput, Error> {
    match response {
        CallToolResponse::Complete(result) => {
            let mut output = output(result)?;
            let shape =
                Shape { is_error: result.is_error, result_type: result.result_type.clone() };
            output.extensions.insert(shape);
            Ok(output)
        }
        CallToolResponse::InputRequired(asked) => output(asked),
        CallToolResponse::Task(task) => output(task),
        _ => Err(unreadable("the result is of an unknown type")),
    }
}

fn output(result: &impl Serialize) -> Result<ToolOutput, Error> {
    from_mcp::output(&json(result)?).map_err(unreadable)
}

/// A tool as policies see it. What clients see stays the handler's own description.
pub(super) fn spec(tool: &Tool) -> Result<ToolSpec, Error> {
    from_mcp::tool(&json(tool)?).map_err(unreadable)
}

fn json(value: &impl Serialize) -> Result<Json, Error> {
    let text = serde_json::to_string(value).map_err(|error| {
        Error::new(ErrorKind::Protocol, "a message of the handler has no JSON form")
            .with_source(error)
    })?;
    Ok(Json::from_text(text))
}

fn unreadable(flaw: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, flaw)
}
