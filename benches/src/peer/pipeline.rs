use std::sync::Arc;

use adk_core::{
    Artifacts, CallbackContext, Content, EventActions, MemoryEntry, ReadonlyContext, Tool,
    ToolContext, async_trait,
};
use adk_plugin::{
    AfterToolCallResult, BeforeToolCallResult, EnhancedPlugin, EnhancedPluginManager,
};
use serde_json::Value;

use crate::{
    case::{Case, now},
    payload,
};

/// A plugin that keeps every default.
struct Idle;

impl EnhancedPlugin for Idle {
    fn name(&self) -> &str {
        "idle"
    }
}

/// Answers with nothing, which is cheaper than the text that our tool hands out: the peer would copy it.
struct Free;

#[async_trait]
impl Tool for Free {
    fn name(&self) -> &str {
        payload::TOOL
    }

    fn description(&self) -> &str {
        "Reads a file"
    }

    async fn execute(&self, _: Arc<dyn ToolContext>, _: Value) -> adk_core::Result<Value> {
        Ok(Value::Null)
    }
}

/// A context that is there already.
struct Still {
    content: Content,
}

impl ReadonlyContext for Still {
    fn invocation_id(&self) -> &str {
        "run"
    }

    fn agent_name(&self) -> &str {
        "agent"
    }

    fn user_id(&self) -> &str {
        "user"
    }

    fn app_name(&self) -> &str {
        "app"
    }

    fn session_id(&self) -> &str {
        "session"
    }

    fn branch(&self) -> &str {
        ""
    }

    fn user_content(&self) -> &Content {
        &self.content
    }
}

impl CallbackContext for Still {
    fn artifacts(&self) -> Option<Arc<dyn Artifacts>> {
        None
    }
}

#[async_trait]
impl ToolContext for Still {
    fn function_call_id(&self) -> &str {
        "call_1"
    }

    fn actions(&self) -> EventActions {
        EventActions::default()
    }

    fn set_actions(&self, _: EventActions) {}

    async fn search_memory(&self, _: &str) -> adk_core::Result<Vec<MemoryEntry>> {
        Ok(Vec::new())
    }
}

/// One tool call through so many plugins, with their hooks before and after it.
///
/// The arguments move; the deep copies that the peer's agent makes of them for each call are left out.
pub fn pipeline(size: usize, plugins: usize) -> Case<Value, Value> {
    let plugins = (0..plugins).map(|_| Arc::new(Idle) as Arc<dyn EnhancedPlugin>).collect();
    let manager = EnhancedPluginManager::new(plugins);
    let tool: Arc<dyn Tool> = Arc::new(Free);
    let ctx = Arc::new(Still { content: Content::new("user") });
    let arguments = payload::arguments_of(size);
    Case::new(
        move || arguments.clone(),
        move |arguments| now(call(&manager, &tool, &ctx, arguments)).expect("the tool answers"),
    )
}

async fn call(
    manager: &EnhancedPluginManager,
    tool: &Arc<dyn Tool>,
    ctx: &Arc<Still>,
    arguments: Value,
) -> adk_core::Result<Value> {
    let before = manager.run_before_tool_call(Arc::clone(tool), arguments, ctx.clone()).await?;
    let arguments = match before {
        BeforeToolCallResult::Continue(arguments) => arguments,
        BeforeToolCallResult::ShortCircuit(result) => return Ok(result),
    };
    let result = tool.execute(ctx.clone(), Value::Null).await?;
    let after = manager.run_after_tool_call(Arc::clone(tool), &arguments, result, ctx.clone());
    let AfterToolCallResult::Continue(result) = after.await?;
    Ok(result)
}
