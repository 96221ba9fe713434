use serde_json::Value;
use tower_agent_core::{BoxError, Content, Error, ErrorKind, Json, Str, ToolOutput};

/// What a tool's function may return.
///
/// An `Err` leaves the tool as an [`Error`] of kind [`Tool`](ErrorKind::Tool), so that error hooks, retries and
/// [`ReportErrorsLayer`] see it. Its `Display` text is what a model may read about it; a tool that wants to
/// keep its reasons to itself returns an [`Error`] with a model text of its own.
///
/// [`ReportErrorsLayer`]: crate::report_errors::ReportErrorsLayer
pub trait IntoToolOutput {
    /// Converts the value.
    ///
    /// # Errors
    /// The tool's own error.
    fn into_tool_output(self) -> Result<ToolOutput, Error>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for Str {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for Json {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(ToolOutput::structured(self))
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        Ok(ToolOutput::structured(self))
    }
}

impl IntoToolOutput for Vec<Content> {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        let mut output = ToolOutput::default();
        output.content = self;
        Ok(output)
    }
}

impl<R: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<R, E> {
    fn into_tool_output(self) -> Result<ToolOutput, Error> {
        self.map_err(|error| tool_error(error.into()))?.into_tool_output()
    }
}

fn tool_error(error: BoxError) -> Error {
    let error = Error::from(error);
    if error.kind() != ErrorKind::Other {
        return error;
    }
    let text = error.to_string();
    error.with_kind(ErrorKind::Tool).with_model_text(text)
}
