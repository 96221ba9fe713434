// Methods that rmcp deprecates are forwarded like all others, for the servers that have them.
#![expect(deprecated, reason = "every method of the handler is forwarded")]

use std::{borrow::Cow, error::Error as StdError, fmt, future::Future, sync::Arc};

use futures_util::FutureExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
        CompleteRequestParams, CompleteResult, CreateTaskResult, CustomNotification, CustomRequest,
        CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse,
        GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProtocolVersion, ReadResourceDirectoryRequestParams,
        ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tower_agent_core::{Context, Error, Outcome, ToolOutput, ToolSpec};

use super::{GuardedBuilder, output};
use crate::server::{
    Caller,
    calls::{Answer, Calls},
    respond::{failed, respond},
    shelf::Shelf,
};

/// Somebody's MCP server with a tool stack around its tools. See the [module](super).
pub struct Guarded<H> {
    handler: Arc<H>,
    calls: Calls,
}

impl<H: ServerHandler> Guarded<H> {
    /// Starts a stack around a server.
    pub fn builder(handler: H) -> GuardedBuilder<H> {
        GuardedBuilder::new(handler)
    }

    pub(super) const fn new(handler: Arc<H>, calls: Calls) -> Self {
        Self { handler, calls }
    }

    /// The server inside.
    #[must_use]
    pub fn get_ref(&self) -> &H {
        &self.handler
    }

    fn spec(&self, name: &str) -> Option<Arc<ToolSpec>> {
        let tool = self.handler.get_tool(name)?;
        output::spec(&tool).ok().map(Arc::new)
    }
}

fn answered(name: &str, answer: Answer) -> Result<CallToolResponse, ErrorData> {
    match answer.result {
        Ok(output) => Ok(response(output, &answer.caller)),
        // What the handler meant for the client goes to the client.
        Err(error) => match protocol_error(&error) {
            Some(data) => Err(data.clone()),
            None => Ok(respond(failed(name, &error), &answer.caller)),
        },
    }
}

fn response(output: ToolOutput, caller: &Caller) -> CallToolResponse {
    if let Outcome::Suspended(suspension) = &output.outcome
        && let Some(Ok(task)) =
            suspension.request.as_ref().map(|json| json.read::<CreateTaskResult>())
    {
        return task.into();
    }
    let shape = output.extensions.get_arc::<output::Shape>();
    let mut response = respond(output, caller);
    if let (CallToolResponse::Complete(result), Some(shape)) = (&mut response, shape) {
        shape.restore(result);
    }
    response
}

fn protocol_error(error: &Error) -> Option<&ErrorData> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(data) = error.downcast_ref() {
            return Some(data);
        }
        source = error.source();
    }
    None
}

/// What policies cannot judge is not shown.
fn shelf(tools: Vec<Tool>) -> Shelf {
    let shelved = |tool: Tool| Some((Arc::new(output::spec(&tool).ok()?), tool));
    tools.into_iter().filter_map(shelved).collect()
}

/// Methods that the stack has no part in.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> impl Future<Output = forward!(@ $($output)?)> + Send + '_ {
            self.handler.$name($($argument),*)
        }
    )*};
    (@ $output:ty) => { Result<$output, ErrorData> };
    (@) => { () };
}

impl<H: ServerHandler> ServerHandler for Guarded<H> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let answer = self.calls.run(request, self.spec(&name), context).await?;
        answered(&name, answer)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut page = self.handler.list_tools(request, context.clone()).await?;
        let shelf = shelf(std::mem::take(&mut page.tools));
        page.tools = shelf.take(&self.calls.visible(shelf.specs(), context).await?);
        Ok(page)
    }

    /// What a caller without a name may see, as far as the policies decide that at once.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let shelf = shelf(self.handler.get_tool(name).into_iter().collect());
        let visible = self.calls.gate.visible(shelf.specs(), Context::default());
        shelf.take(&visible.now_or_never()?.ok()?).pop()
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        self.handler.negotiate_initialize(request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    forward! {
        ping(context: RequestContext<RoleServer>) -> ();
        initialize(request: InitializeRequestParams, context: RequestContext<RoleServer>) -> InitializeResult;
        discover(context: RequestContext<RoleServer>) -> DiscoverResult;
        complete(request: CompleteRequestParams, context: RequestContext<RoleServer>) -> CompleteResult;
        set_level(request: SetLevelRequestParams, context: RequestContext<RoleServer>) -> ();
        get_prompt(request: GetPromptRequestParams, context: RequestContext<RoleServer>) -> GetPromptResponse;
        list_prompts(request: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> ListPromptsResult;
        list_resources(request: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> ListResourcesResult;
        list_resource_templates(request: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> ListResourceTemplatesResult;
        read_resource(request: ReadResourceRequestParams, context: RequestContext<RoleServer>) -> ReadResourceResponse;
        listen(context: SubscriptionContext) -> ();
        subscribe(request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> ();
        unsubscribe(request: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> ();
        on_custom_request(request: CustomRequest, context: RequestContext<RoleServer>) -> CustomResult;
        get_task(request: GetTaskParams, context: RequestContext<RoleServer>) -> GetTaskResult;
        update_task(request: UpdateTaskParams, context: RequestContext<RoleServer>) -> ();
        cancel_task(request: CancelTaskParams, context: RequestContext<RoleServer>) -> ();
        list_skills(request: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> ListSkillsResult;
        get_skill(request: GetSkillRequestParams, context: RequestContext<RoleServer>) -> GetSkillResult;
        read_resource_directory(request: ReadResourceDirectoryRequestParams, context: RequestContext<RoleServer>) -> ReadResourceDirectoryResult;
        on_cancelled(notification: CancelledNotificationParam, context: NotificationContext<RoleServer>);
        on_progress(notification: ProgressNotificationParam, context: NotificationContext<RoleServer>);
        on_initialized(context: NotificationContext<RoleServer>);
        on_roots_list_changed(context: NotificationContext<RoleServer>);
        on_custom_notification(notification: CustomNotification, context: NotificationContext<RoleServer>);
    }
}

impl<H> Clone for Guarded<H> {
    fn clone(&self) -> Self {
        Self { handler: Arc::clone(&self.handler), calls: self.calls.clone() }
    }
}

impl<H> fmt::Debug for Guarded<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("calls", &self.calls).finish_non_exhaustive()
    }
}
