//! Why a reply ended: its status, and why it is incomplete.

use std::borrow::Cow;

use tower_agent_core::{Error, ErrorKind, FinishReason, Json};

use super::{extra, reply::usual_finish};
use crate::{
    LossRule,
    codec::{
        Losses, cut_off,
        raw::{Fields, NULL, Object, string},
    },
};

/// Takes the status. What has no name in the vocabulary stays in the fields.
pub(super) fn read(fields: &mut Fields<'_>, asks: bool) -> Result<FinishReason, Error> {
    let status = fields.get("status").and_then(string);
    match status.as_deref() {
        Some("completed") => {
            fields.take("status");
            Ok(usual_finish(asks))
        }
        Some("incomplete") => Ok(incomplete(fields)),
        Some("failed") => Err(Error::new(
            ErrorKind::Upstream { status: None },
            "the provider says that the reply failed, and not why",
        )),
        Some("in_progress" | "queued" | "cancelled") => {
            Err(cut_off("the provider's reply is not complete: it was cancelled or goes on"))
        }
        Some(other) => Ok(FinishReason::Other(other.into())),
        None => Ok(FinishReason::Unspecified),
    }
}

fn incomplete(fields: &mut Fields<'_>) -> FinishReason {
    let raw = fields.get("incomplete_details").unwrap_or("{}").to_owned();
    let mut details = Fields::parse(&raw).unwrap_or_default();
    let reason = details.take_str("reason").unwrap_or_default();
    let finish = match reason.as_str() {
        "max_output_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => return FinishReason::Other(reason),
    };
    fields.take("status");
    fields.take("incomplete_details");
    fields.set_rest("incomplete_details", &details);
    finish
}

/// What a client is told of the end.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Completed,
    Incomplete(&'static str),
    Failed,
    /// As the extra of the reply has it.
    Kept {
        event: &'static str,
    },
}

/// How the dialect says a reason.
pub(super) fn of(reason: &FinishReason, extra: Option<&Json>, losses: &mut Losses<'_>) -> Ending {
    match reason {
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Unspecified => {
            Ending::Completed
        }
        FinishReason::Length => Ending::Incomplete("max_output_tokens"),
        FinishReason::ContentFilter => Ending::Incomplete("content_filter"),
        FinishReason::Error => Ending::Failed,
        _ => match extra::peek(extra).get("status") {
            Some("\"incomplete\"") => Ending::Kept { event: "response.incomplete" },
            Some(_) => Ending::Kept { event: "response.completed" },
            None => {
                losses.note(LossRule::FinishReason);
                Ending::Completed
            }
        },
    }
}

impl Ending {
    /// The name of the last event of a stream.
    pub(super) const fn event(&self) -> &'static str {
        match self {
            Self::Completed => "response.completed",
            Self::Incomplete(_) => "response.incomplete",
            Self::Failed => "response.failed",
            Self::Kept { event } => event,
        }
    }

    pub(super) fn write(&self, object: &mut Object<'_, '_>) {
        match self {
            Self::Kept { .. } => {}
            Self::Completed => object.str("status", "completed"),
            Self::Incomplete(_) => object.str("status", "incomplete"),
            Self::Failed => object.str("status", "failed"),
        }
        match self {
            Self::Failed => {
                let mut error = Object::new(object.field("error"), Fields::default());
                error.str("code", "server_error");
                error.str("message", "The model failed.");
                error.end();
            }
            _ => object.default_raw("error", NULL),
        }
        match self {
            Self::Incomplete(reason) => {
                let rest = object.take("incomplete_details").unwrap_or(Cow::Borrowed("{}"));
                let rest = Fields::parse(&rest).unwrap_or_default();
                let mut details = Object::new(object.field("incomplete_details"), rest);
                details.str("reason", reason);
                details.end();
            }
            _ => object.default_raw("incomplete_details", NULL),
        }
    }
}
