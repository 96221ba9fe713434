//! A call that a server of 2026-07-28 answers with questions, which are answered with the same call once more.

use std::time::Instant;

use futures_util::future::try_join_all;
use serde_json::Value;
use tower_agent_core::{Effect, Error, ErrorKind, Json, Outcome, Str, ToolCall, ToolOutput};

use super::{Answers, Ask, Asking, fault, pending, shared::Shared};
use crate::convert::from_mcp;

/// What a server asked in the place of a result, each under the name that its answer must have.
pub(crate) struct Round {
    state: Option<Json>,
    asked: Vec<(Str, Ask, Json)>,
}

impl Round {
    /// The questions of an output, unless whoever calls wants to see them for himself.
    pub(crate) fn of(shared: &Shared, call: &ToolCall, output: &ToolOutput) -> Option<Self> {
        let Outcome::Suspended(suspension) = &output.outcome else { return None };
        let is_suspended = match call.ctx.extensions.get::<Asking>() {
            Some(asking) => asking.is_suspended(),
            None => shared.options.input,
        };
        if is_suspended || shared.options.answerer.is_none() {
            return None;
        }
        let result = suspension.request.as_ref()?;
        let asked = from_mcp::input_requests(result)?;
        let asked = asked
            .into_iter()
            .map(|(name, method, params)| Some((name, Ask::of_method(&method)?, params)));
        Some(Self { state: from_mcp::request_state(result), asked: asked.collect::<Option<_>>()? })
    }

    /// Answers all of it, or says why not.
    pub(crate) async fn answer(
        self,
        shared: &Shared,
        call: &ToolCall,
        end: Instant,
    ) -> Result<Answers, Error> {
        let answers = self.asked.into_iter().map(|(name, ask, params)| async move {
            let answer = pending::answer(shared, call, ask, params).await;
            answer.map(|json| format!("{}:{}", Value::from(&*name), json.as_str()))
        });
        let answers = tokio::select! {
            biased;
            () = call.ctx.cancellation().cancelled() => {
                Err(fault::error(ErrorKind::Cancelled, "the run was cancelled"))
            }
            () = tokio::time::sleep_until(end.into()) => {
                let what = format!("nobody answered what server `{}` asks in time", shared.name);
                Err(fault::error(ErrorKind::Timeout, what))
            }
            answers = try_join_all(answers) => answers,
        };
        let answers = answers.map_err(|error| unfinished(shared, error))?;
        let responses = Json::from_text(format!("{{{}}}", answers.join(",")));
        Ok(Answers::of(self.state, responses))
    }
}

/// The server began, and will not hear of this call again.
fn unfinished(shared: &Shared, error: Error) -> Error {
    let what = format!("server `{}` asked what was not answered: {error}", shared.name);
    let text = "The tool asked for something that it did not get, so it did not finish.";
    fault::error(error.kind(), what)
        .with_effect(Effect::Unknown)
        .with_model_text(text)
        .with_source(error)
}
