use std::{
    future::{Future, ready},
    time::Duration,
};

use tower_agent_core::{
    BoxError, Context, End, Error, Message, ModelRequest, ModelResponse, OperationKind, Reply,
    RunEvent, RunRequest, Str, ToolCall, ToolOutput,
};

use super::{
    ended::{Ended, Single},
    stack::{self, After, Before, Stop},
    trail::Observe,
};
use crate::{FailMode, Verdict};

/// A named bundle of hooks. Every hook but the name has a default that does nothing.
///
/// Implement a hook as an `async fn`. Per-call state that hooks share belongs into
/// [`Context::state`](tower_agent_core::Context::state), which lives as long as the run; what outlives runs belongs
/// into the plugin. See the [module](super) for examples.
pub trait Plugin: Send + Sync + 'static {
    /// The plugin's name: who denied, who failed. It should be unique in a stack.
    fn name(&self) -> &str;

    /// What a failure of one of the hooks does.
    fn fail_mode(&self) -> FailMode {
        FailMode::default()
    }

    /// Whether [`after_model`](Self::after_model) changes replies. If so, streamed replies are gathered first.
    fn edits_replies(&self) -> bool {
        false
    }

    /// Wraps a run, at its start.
    ///
    /// # When
    /// Before the agent sees the request, once per run.
    ///
    /// # What is available
    /// The request, for edits: input, conversation, instructions, limits; and through its context who asks.
    ///
    /// # What an error does
    /// The run does not start; see [`FailMode`].
    ///
    /// # What may be returned
    /// A verdict: go on, go on with another request, refuse, or answer in the agent's place.
    fn before_run(
        &self,
        _run: &mut RunRequest,
    ) -> impl Future<Output = Result<Verdict<RunRequest>, BoxError>> + Send {
        ready(Ok(Verdict::Allow))
    }

    /// Sees each message of a user that the run answers.
    ///
    /// # When
    /// After this plugin's [`before_run`](Self::before_run), for each input message of a user, in order.
    ///
    /// # What is available
    /// The run's context, and the message for edits. What is changed is what the model, the history and the
    /// events see.
    ///
    /// # What an error does
    /// The run does not start; see [`FailMode`].
    ///
    /// # What may be returned
    /// Nothing.
    fn on_user_message(
        &self,
        _ctx: &Context,
        _message: &mut Message,
    ) -> impl Future<Output = Result<(), BoxError>> + Send {
        ready(Ok(()))
    }

    /// Sees each event of a run.
    ///
    /// # When
    /// Whenever an event is handed out, innermost plugin first.
    ///
    /// # What is available
    /// The run's context, and the event for edits. What is changed is what the reader and the transcript see.
    ///
    /// # What an error does
    /// The event goes on as it is; [`FailMode::Closed`] ends the run with the error.
    ///
    /// # What may be returned
    /// Nothing.
    fn on_event(
        &self,
        _ctx: &Context,
        _event: &mut RunEvent,
    ) -> impl Future<Output = Result<(), BoxError>> + Send {
        ready(Ok(()))
    }

    /// Wraps a run, at its end.
    ///
    /// # When
    /// Exactly once for each run that this plugin let start: when its last event was handed out, when it failed,
    /// or when the reader dropped it.
    ///
    /// # What is available
    /// The request as this plugin saw it, and how the run ended with what it used. As it may be called from a
    /// drop, it cannot await: to store something slowly, send it to a task.
    ///
    /// # What an error does
    /// There is none to return; a panic is contained and logged.
    ///
    /// # What may be returned
    /// Nothing.
    fn after_run(&self, _run: &RunRequest, _end: &End) {}

    /// Judges or edits a tool call.
    ///
    /// # When
    /// Before the tool runs, once for each attempt that reaches this layer.
    ///
    /// # What is available
    /// The call, for edits: id, name, arguments; its spec, unless nobody knows the tool; turn, attempt, run.
    /// Arguments that are edited must stay a JSON object, otherwise the hook counts as failed.
    ///
    /// # What an error does
    /// The tool does not run; see [`FailMode`].
    ///
    /// # What may be returned
    /// A verdict: go on, go on with another call, refuse, or answer in the tool's place.
    fn before_tool(
        &self,
        _call: &mut ToolCall,
    ) -> impl Future<Output = Result<Verdict<ToolCall>, BoxError>> + Send {
        ready(Ok(Verdict::Allow))
    }

    /// Sees what came of a tool call.
    ///
    /// # When
    /// After the tool answered, or an inner plugin answered in its place, or an error hook answered an error.
    ///
    /// # What is available
    /// The call as this plugin saw it, the output for edits, and how long the call took below this layer.
    ///
    /// # What an error does
    /// The output stays as it is; [`FailMode::Closed`] withholds it.
    ///
    /// # What may be returned
    /// Nothing.
    fn after_tool(
        &self,
        _call: &ToolCall,
        _output: &mut ToolOutput,
        _took: Duration,
    ) -> impl Future<Output = Result<(), BoxError>> + Send {
        ready(Ok(()))
    }

    /// Sees the error of a tool call.
    ///
    /// # When
    /// When the call failed with an error, innermost plugin first, until one answers it. That plugin and those
    /// outside it then see the answer in [`after_tool`](Self::after_tool).
    ///
    /// # What is available
    /// The call as this plugin saw it, and the error.
    ///
    /// # What an error does
    /// It counts as "no answer".
    ///
    /// # What may be returned
    /// An output in place of the error, or nothing: then the error goes on as it is.
    fn on_tool_error(
        &self,
        _call: &ToolCall,
        _error: &Error,
    ) -> impl Future<Output = Result<Option<ToolOutput>, BoxError>> + Send {
        ready(Ok(None))
    }

    /// Judges or edits a model call.
    ///
    /// # When
    /// Before the model is asked, once for each attempt that reaches this layer.
    ///
    /// # What is available
    /// The request, for edits: instructions, messages, tools, sampling; turn, attempt, run.
    ///
    /// # What an error does
    /// The model is not asked; see [`FailMode`].
    ///
    /// # What may be returned
    /// A verdict: go on, go on with another request, refuse, or answer in the model's place, from a cache say.
    fn before_model(
        &self,
        _request: &mut ModelRequest,
    ) -> impl Future<Output = Result<Verdict<ModelRequest>, BoxError>> + Send {
        ready(Ok(Verdict::Allow))
    }

    /// Sees the reply of a model.
    ///
    /// # When
    /// After the reply is complete. Of a stream, that is at its end.
    ///
    /// # What is available
    /// The request as this plugin saw it; the reply with message, finish reason and usage, for edits if
    /// [`edits_replies`](Self::edits_replies) says so or the reply came whole; how long it took.
    ///
    /// # What an error does
    /// The reply stays as it is; [`FailMode::Closed`] withholds it, or ends a stream with an error.
    ///
    /// # What may be returned
    /// Nothing.
    fn after_model(
        &self,
        _request: &ModelRequest,
        _reply: &mut Reply,
        _took: Duration,
    ) -> impl Future<Output = Result<(), BoxError>> + Send {
        ready(Ok(()))
    }

    /// Sees the error of a model call.
    ///
    /// # When
    /// When the call failed with an error, or its stream did, innermost plugin first, until one answers it.
    ///
    /// # What is available
    /// The request as this plugin saw it, and the error.
    ///
    /// # What an error does
    /// It counts as "no answer".
    ///
    /// # What may be returned
    /// A response in place of the error, or nothing. Once a stream has begun an answer comes too late: it is
    /// dropped, and the plugins outside are asked as well.
    fn on_model_error(
        &self,
        _request: &ModelRequest,
        _error: &Error,
    ) -> impl Future<Output = Result<Option<ModelResponse>, BoxError>> + Send {
        ready(Ok(None))
    }

    /// Learns that a call was given up.
    ///
    /// # When
    /// When a tool or model call, or the stream of its reply, is dropped after this plugin's before-hook and before its
    /// after- or error-hook: so each before-hook has exactly one end. A dropped run calls
    /// [`after_run`](Self::after_run) instead.
    ///
    /// # What is available
    /// Which operation it was, and its context. It is called from a drop, so it cannot await.
    ///
    /// # What an error does
    /// There is none to return; a panic is contained and logged.
    ///
    /// # What may be returned
    /// Nothing.
    fn on_dropped(&self, _kind: OperationKind, _ctx: &Context) {}

    // What follows is how tuples and lists of plugins take the place of one. It is no part of the interface.

    #[doc(hidden)]
    fn collect_names(&self, names: &mut Vec<Str>) {
        names.push(self.name().into());
    }

    #[doc(hidden)]
    fn tool_before(
        &self,
        cx: &mut Before<'_, ToolCall>,
    ) -> impl Future<Output = Option<Stop<ToolCall>>> + Send {
        async move {
            let verdict = stack::contained(self.before_tool(cx.request)).await;
            cx.decide(self.fail_mode(), "before_tool", verdict)
        }
    }

    #[doc(hidden)]
    fn tool_after(
        &self,
        cx: &mut After<'_, ToolCall, ToolOutput>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            if !cx.enter() {
                return;
            }
            if let Err(error) = cx.result {
                let answer =
                    stack::contained(self.on_tool_error(cx.trail.seen(cx.index), error)).await;
                cx.answer("on_tool_error", answer);
            }
            if let Ok(output) = cx.result {
                let done =
                    stack::contained(self.after_tool(cx.trail.seen(cx.index), output, cx.took))
                        .await;
                cx.settle(self.fail_mode(), "after_tool", done);
            }
        }
    }

    #[doc(hidden)]
    fn model_before(
        &self,
        cx: &mut Before<'_, ModelRequest>,
    ) -> impl Future<Output = Option<Stop<ModelRequest>>> + Send {
        async move {
            let verdict = stack::contained(self.before_model(cx.request)).await;
            let edits = self.edits_replies();
            let stop = cx.decide(self.fail_mode(), "before_model", verdict);
            cx.trail.gathers |= edits && stop.is_none();
            stop
        }
    }

    #[doc(hidden)]
    fn model_error(
        &self,
        cx: &mut After<'_, ModelRequest, ModelResponse>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            if cx.enter()
                && let Err(error) = cx.result
            {
                let answer =
                    stack::contained(self.on_model_error(cx.trail.seen(cx.index), error)).await;
                cx.answer("on_model_error", answer);
            }
        }
    }

    #[doc(hidden)]
    fn model_after(
        &self,
        cx: &mut After<'_, ModelRequest, Reply>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            if cx.enter()
                && let Ok(reply) = cx.result
            {
                let done =
                    stack::contained(self.after_model(cx.trail.seen(cx.index), reply, cx.took))
                        .await;
                cx.settle(self.fail_mode(), "after_model", done);
            }
        }
    }

    #[doc(hidden)]
    fn run_before(
        &self,
        cx: &mut Before<'_, RunRequest>,
    ) -> impl Future<Output = Option<Stop<RunRequest>>> + Send {
        async move {
            let verdict = match stack::contained(self.before_run(cx.request)).await {
                Ok(Verdict::Allow) => stack::read_input(self, cx.request).await,
                Ok(Verdict::Modify(request)) => {
                    *cx.request = *request;
                    stack::read_input(self, cx.request).await
                }
                verdict => verdict,
            };
            cx.decide(self.fail_mode(), "before_run", verdict)
        }
    }

    #[doc(hidden)]
    fn run_event(&self, cx: &mut Observe<'_, RunEvent>) -> impl Future<Output = ()> + Send {
        async move {
            if cx.enter() {
                let done = stack::contained(self.on_event(cx.ctx, cx.event)).await;
                cx.settle(self.fail_mode(), "on_event", done);
            }
        }
    }

    #[doc(hidden)]
    fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended)) {
        ended(&Single(self));
    }
}
