//! What every failed, refusing or answering hook says: who it was, and what that means.

use std::error::Error as StdError;

use tower_agent_core::{BoxError, Denial, Effect, Error, ErrorKind, Operation, Origin, Output};

/// The code of a denial whose reason is that a hook failed.
pub(crate) const HOOK_FAILED: &str = "hook_failed";

/// The error of a before-hook: nothing ran, and the model is told so.
pub(crate) fn before_failed(name: &str, error: Error) -> Error {
    let text = format!("The call did not run, because the hook `{name}` failed. {ADVICE}");
    error.with_effect(Effect::NotStarted).with_model_text(text)
}

/// The error of an after-hook: the call ran, and the model is told so.
pub(crate) fn after_failed(name: &str, error: Error) -> Error {
    let text = format!(
        "The call ran, but its result is withheld, because the hook `{name}` failed. {ADVICE}"
    );
    error.with_effect(Effect::Completed).with_model_text(text)
}

const ADVICE: &str =
    "This is a fault of the system and not of the call; repeating it will hardly help.";

/// The error of a hook that returned one.
pub(crate) fn raised(name: &str, hook: &str, source: impl Into<BoxError>) -> Error {
    hook_error(name, format!("`{hook}` failed")).with_source(source)
}

pub(crate) fn hook_error(name: &str, message: String) -> Error {
    Error::new(ErrorKind::Hook, message).with_layer(name.to_owned())
}

/// An answer in the place of the service says who gave it, unless the hook said so itself.
pub(crate) fn answered<T: Output>(name: &str, mut output: T) -> T {
    let provenance = output.provenance_mut();
    if provenance.origin == Origin::Executed && provenance.by.is_none() {
        provenance.origin = Origin::Emulated;
    }
    provenance.by.get_or_insert_with(|| name.to_owned().into());
    output
}

/// Refuses a call; the denial gets the name of the hook, and a text if it has none.
pub(crate) fn deny<O: Operation>(name: &str, request: &O, mut denial: Denial) -> O::Output {
    if denial.layer.is_empty() {
        denial.layer = name.to_owned().into();
    }
    if denial.message.trim().is_empty() {
        let (kind, target) = (O::KIND, request.name());
        denial.message = format!(
            "The {kind} call `{target}` was refused by `{name}` and did not run. Do not repeat it; find another way."
        )
        .into();
    }
    request.denied(denial)
}

/// Tells the operator that a hook failed and what that led to.
pub(crate) fn warn_failed(error: &Error, consequence: &str) {
    tracing::warn!(
        hook = error.layer(),
        effect = ?error.effect(),
        error = %error,
        cause = error.source(),
        "a hook failed; {consequence}"
    );
}
