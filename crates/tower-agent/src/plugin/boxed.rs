//! Plugins whose type is known at run time only.

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use tower_agent_core::{
    BoxError, Context, End, Error, Message, ModelRequest, ModelResponse, OperationKind, Reply,
    RunEvent, RunRequest, Str, ToolCall, ToolOutput,
};

use super::{
    ended::Ended,
    leaf::Plugin,
    stack::{After, Before, Stop},
    trail::Observe,
};
use crate::{FailMode, Verdict};

type BoxFuture<'a, T> = BoxStep<'a, Result<T, BoxError>>;
type BoxStep<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A plugin behind a shared handle. A `Vec` of them is a plugin, for stacks that are put together at run time.
///
/// Each hook that is called costs one allocation, for its future.
///
/// ```
/// use tower_agent::plugin::{BoxPlugin, Plugin, PluginLayer};
///
/// struct Named(&'static str);
///
/// impl Plugin for Named {
///     fn name(&self) -> &str {
///         self.0
///     }
/// }
///
/// let configured = ["audit", "limits", "audit"];
/// let plugins: Vec<BoxPlugin> = configured.into_iter().map(|name| BoxPlugin::new(Named(name))).collect();
/// assert_eq!(PluginLayer::new(plugins).names(), ["audit", "limits", "audit#3"]);
/// ```
#[derive(Clone)]
pub struct BoxPlugin(Arc<dyn DynPlugin>);

impl BoxPlugin {
    /// Puts a plugin behind a handle.
    pub fn new(plugin: impl Plugin) -> Self {
        Self(Arc::new(plugin))
    }
}

impl fmt::Debug for BoxPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoxPlugin").field(&self.0.name()).finish()
    }
}

/// [`Plugin`] with boxed futures.
trait DynPlugin: Send + Sync {
    fn name(&self) -> &str;
    fn fail_mode(&self) -> FailMode;
    fn edits_replies(&self) -> bool;
    fn before_run<'a>(&'a self, run: &'a mut RunRequest) -> BoxFuture<'a, Verdict<RunRequest>>;
    fn on_user_message<'a>(
        &'a self,
        ctx: &'a Context,
        message: &'a mut Message,
    ) -> BoxFuture<'a, ()>;
    fn on_event<'a>(&'a self, ctx: &'a Context, event: &'a mut RunEvent) -> BoxFuture<'a, ()>;
    fn after_run(&self, run: &RunRequest, end: &End);
    fn before_tool<'a>(&'a self, call: &'a mut ToolCall) -> BoxFuture<'a, Verdict<ToolCall>>;
    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        output: &'a mut ToolOutput,
        took: Duration,
    ) -> BoxFuture<'a, ()>;
    fn on_tool_error<'a>(
        &'a self,
        call: &'a ToolCall,
        error: &'a Error,
    ) -> BoxFuture<'a, Option<ToolOutput>>;
    fn before_model<'a>(
        &'a self,
        request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, Verdict<ModelRequest>>;
    fn after_model<'a>(
        &'a self,
        request: &'a ModelRequest,
        reply: &'a mut Reply,
        took: Duration,
    ) -> BoxFuture<'a, ()>;
    fn on_model_error<'a>(
        &'a self,
        request: &'a ModelRequest,
        error: &'a Error,
    ) -> BoxFuture<'a, Option<ModelResponse>>;
    fn on_dropped(&self, kind: OperationKind, ctx: &Context);

    // What is in the box may be a tuple or a list, which has no hooks but those of its plugins.
    fn collect_names(&self, names: &mut Vec<Str>);
    fn tool_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, ToolCall>,
    ) -> BoxStep<'a, Option<Stop<ToolCall>>>;
    fn tool_after<'a>(&'a self, cx: &'a mut After<'_, ToolCall, ToolOutput>) -> BoxStep<'a, ()>;
    fn model_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, ModelRequest>,
    ) -> BoxStep<'a, Option<Stop<ModelRequest>>>;
    fn model_error<'a>(
        &'a self,
        cx: &'a mut After<'_, ModelRequest, ModelResponse>,
    ) -> BoxStep<'a, ()>;
    fn model_after<'a>(&'a self, cx: &'a mut After<'_, ModelRequest, Reply>) -> BoxStep<'a, ()>;
    fn run_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, RunRequest>,
    ) -> BoxStep<'a, Option<Stop<RunRequest>>>;
    fn run_event<'a>(&'a self, cx: &'a mut Observe<'_, RunEvent>) -> BoxStep<'a, ()>;
    fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended));
}

impl<P: Plugin> DynPlugin for P {
    fn name(&self) -> &str {
        Plugin::name(self)
    }

    fn fail_mode(&self) -> FailMode {
        Plugin::fail_mode(self)
    }

    fn edits_replies(&self) -> bool {
        Plugin::edits_replies(self)
    }

    fn before_run<'a>(&'a self, run: &'a mut RunRequest) -> BoxFuture<'a, Verdict<RunRequest>> {
        Box::pin(Plugin::before_run(self, run))
    }

    fn on_user_message<'a>(
        &'a self,
        ctx: &'a Context,
        message: &'a mut Message,
    ) -> BoxFuture<'a, ()> {
        Box::pin(Plugin::on_user_message(self, ctx, message))
    }

    fn on_event<'a>(&'a self, ctx: &'a Context, event: &'a mut RunEvent) -> BoxFuture<'a, ()> {
        Box::pin(Plugin::on_event(self, ctx, event))
    }

    fn after_run(&self, run: &RunRequest, end: &End) {
        Plugin::after_run(self, run, end);
    }

    fn before_tool<'a>(&'a self, call: &'a mut ToolCall) -> BoxFuture<'a, Verdict<ToolCall>> {
        Box::pin(Plugin::before_tool(self, call))
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        output: &'a mut ToolOutput,
        took: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(Plugin::after_tool(self, call, output, took))
    }

    fn on_tool_error<'a>(
        &'a self,
        call: &'a ToolCall,
        error: &'a Error,
    ) -> BoxFuture<'a, Option<ToolOutput>> {
        Box::pin(Plugin::on_tool_error(self, call, error))
    }

    fn before_model<'a>(
        &'a self,
        request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, Verdict<ModelRequest>> {
        Box::pin(Plugin::before_model(self, request))
    }

    fn after_model<'a>(
        &'a self,
        request: &'a ModelRequest,
        reply: &'a mut Reply,
        took: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(Plugin::after_model(self, request, reply, took))
    }

    fn on_model_error<'a>(
        &'a self,
        request: &'a ModelRequest,
        error: &'a Error,
    ) -> BoxFuture<'a, Option<ModelResponse>> {
        Box::pin(Plugin::on_model_error(self, request, error))
    }

    fn on_dropped(&self, kind: OperationKind, ctx: &Context) {
        Plugin::on_dropped(self, kind, ctx);
    }

    fn collect_names(&self, names: &mut Vec<Str>) {
        Plugin::collect_names(self, names);
    }

    fn tool_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, ToolCall>,
    ) -> BoxStep<'a, Option<Stop<ToolCall>>> {
        Box::pin(Plugin::tool_before(self, cx))
    }

    fn tool_after<'a>(&'a self, cx: &'a mut After<'_, ToolCall, ToolOutput>) -> BoxStep<'a, ()> {
        Box::pin(Plugin::tool_after(self, cx))
    }

    fn model_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, ModelRequest>,
    ) -> BoxStep<'a, Option<Stop<ModelRequest>>> {
        Box::pin(Plugin::model_before(self, cx))
    }

    fn model_error<'a>(
        &'a self,
        cx: &'a mut After<'_, ModelRequest, ModelResponse>,
    ) -> BoxStep<'a, ()> {
        Box::pin(Plugin::model_error(self, cx))
    }

    fn model_after<'a>(&'a self, cx: &'a mut After<'_, ModelRequest, Reply>) -> BoxStep<'a, ()> {
        Box::pin(Plugin::model_after(self, cx))
    }

    fn run_before<'a>(
        &'a self,
        cx: &'a mut Before<'_, RunRequest>,
    ) -> BoxStep<'a, Option<Stop<RunRequest>>> {
        Box::pin(Plugin::run_before(self, cx))
    }

    fn run_event<'a>(&'a self, cx: &'a mut Observe<'_, RunEvent>) -> BoxStep<'a, ()> {
        Box::pin(Plugin::run_event(self, cx))
    }

    fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended)) {
        Plugin::each_ended(self, ended);
    }
}

impl Plugin for BoxPlugin {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn fail_mode(&self) -> FailMode {
        self.0.fail_mode()
    }

    fn edits_replies(&self) -> bool {
        self.0.edits_replies()
    }

    async fn before_run(&self, run: &mut RunRequest) -> Result<Verdict<RunRequest>, BoxError> {
        self.0.before_run(run).await
    }

    async fn on_user_message(&self, ctx: &Context, message: &mut Message) -> Result<(), BoxError> {
        self.0.on_user_message(ctx, message).await
    }

    async fn on_event(&self, ctx: &Context, event: &mut RunEvent) -> Result<(), BoxError> {
        self.0.on_event(ctx, event).await
    }

    fn after_run(&self, run: &RunRequest, end: &End) {
        self.0.after_run(run, end);
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        self.0.before_tool(call).await
    }

    async fn after_tool(
        &self,
        call: &ToolCall,
        output: &mut ToolOutput,
        took: Duration,
    ) -> Result<(), BoxError> {
        self.0.after_tool(call, output, took).await
    }

    async fn on_tool_error(
        &self,
        call: &ToolCall,
        error: &Error,
    ) -> Result<Option<ToolOutput>, BoxError> {
        self.0.on_tool_error(call, error).await
    }

    async fn before_model(
        &self,
        request: &mut ModelRequest,
    ) -> Result<Verdict<ModelRequest>, BoxError> {
        self.0.before_model(request).await
    }

    async fn after_model(
        &self,
        request: &ModelRequest,
        reply: &mut Reply,
        took: Duration,
    ) -> Result<(), BoxError> {
        self.0.after_model(request, reply, took).await
    }

    async fn on_model_error(
        &self,
        request: &ModelRequest,
        error: &Error,
    ) -> Result<Option<ModelResponse>, BoxError> {
        self.0.on_model_error(request, error).await
    }

    fn on_dropped(&self, kind: OperationKind, ctx: &Context) {
        self.0.on_dropped(kind, ctx);
    }

    fn collect_names(&self, names: &mut Vec<Str>) {
        self.0.collect_names(names);
    }

    async fn tool_before(&self, cx: &mut Before<'_, ToolCall>) -> Option<Stop<ToolCall>> {
        self.0.tool_before(cx).await
    }

    async fn tool_after(&self, cx: &mut After<'_, ToolCall, ToolOutput>) {
        self.0.tool_after(cx).await;
    }

    async fn model_before(&self, cx: &mut Before<'_, ModelRequest>) -> Option<Stop<ModelRequest>> {
        self.0.model_before(cx).await
    }

    async fn model_error(&self, cx: &mut After<'_, ModelRequest, ModelResponse>) {
        self.0.model_error(cx).await;
    }

    async fn model_after(&self, cx: &mut After<'_, ModelRequest, Reply>) {
        self.0.model_after(cx).await;
    }

    async fn run_before(&self, cx: &mut Before<'_, RunRequest>) -> Option<Stop<RunRequest>> {
        self.0.run_before(cx).await
    }

    async fn run_event(&self, cx: &mut Observe<'_, RunEvent>) {
        self.0.run_event(cx).await;
    }

    fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended)) {
        self.0.each_ended(ended);
    }
}
