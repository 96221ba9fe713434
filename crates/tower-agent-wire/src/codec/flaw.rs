use std::borrow::Cow;

use tower_agent_core::{Error, ErrorKind};

use super::ApiError;

/// What is wrong with a body, and at which field.
#[derive(Debug)]
pub(crate) struct Flaw {
    field: Cow<'static, str>,
    reason: Cow<'static, str>,
}

impl Flaw {
    pub(crate) fn new(
        field: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// Puts the flaw into the item of a list.
    pub(crate) fn at(self, list: &str, index: usize) -> Self {
        let field = if self.field.is_empty() {
            format!("{list}[{index}]")
        } else {
            format!("{list}[{index}].{}", self.field)
        };
        Self { field: field.into(), ..self }
    }

    /// Puts the flaw into the object under a field.
    #[cfg(feature = "gemini")]
    pub(crate) fn within(self, name: &str) -> Self {
        Self { field: format!("{name}.{}", self.field).into(), ..self }
    }

    fn text(&self) -> String {
        if self.field.is_empty() {
            self.reason.to_string()
        } else {
            format!("{}: {}", self.field, self.reason)
        }
    }

    /// The flaw as the fault of a client.
    pub(crate) fn in_request(self) -> Error {
        let text = self.text();
        let param = (!self.field.is_empty()).then(|| self.field.into_owned().into());
        Error::new(ErrorKind::InvalidArguments, format!("the request is invalid: {text}"))
            .with_model_text(format!("The request is invalid: {text}. Nothing ran."))
            .with_extension(ApiError { param, ..ApiError::default() })
    }

    /// The flaw as the fault of a provider.
    pub(crate) fn in_reply(self) -> Error {
        Error::new(
            ErrorKind::Protocol,
            format!("the provider's reply is malformed: {}", self.text()),
        )
        .with_model_text("The model's reply was malformed.")
    }
}

/// A reply that ended before it said that it was complete.
pub(crate) fn cut_off(what: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, what)
        .with_model_text("The model's reply broke off before it was complete.")
}
