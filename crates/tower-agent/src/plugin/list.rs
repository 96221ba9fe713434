//! Lists of plugins: down in order, up in reverse.

use tower_agent_core::{
    ModelRequest, ModelResponse, Reply, RunEvent, RunRequest, Str, ToolCall, ToolOutput,
};

use super::{
    BoxPlugin,
    ended::Ended,
    leaf::Plugin,
    stack::{After, Before, Stop},
    trail::Observe,
};

impl Plugin for Vec<BoxPlugin> {
    fn name(&self) -> &str {
        "plugins"
    }

    fn collect_names(&self, names: &mut Vec<Str>) {
        self.iter().for_each(|plugin| plugin.collect_names(names));
    }

    async fn tool_before(&self, cx: &mut Before<'_, ToolCall>) -> Option<Stop<ToolCall>> {
        for plugin in self {
            let stop = plugin.tool_before(cx).await;
            if stop.is_some() {
                return stop;
            }
        }
        None
    }

    async fn tool_after(&self, cx: &mut After<'_, ToolCall, ToolOutput>) {
        for plugin in self.iter().rev() {
            plugin.tool_after(cx).await;
        }
    }

    async fn model_before(&self, cx: &mut Before<'_, ModelRequest>) -> Option<Stop<ModelRequest>> {
        for plugin in self {
            let stop = plugin.model_before(cx).await;
            if stop.is_some() {
                return stop;
            }
        }
        None
    }

    async fn model_error(&self, cx: &mut After<'_, ModelRequest, ModelResponse>) {
        for plugin in self.iter().rev() {
            plugin.model_error(cx).await;
        }
    }

    async fn model_after(&self, cx: &mut After<'_, ModelRequest, Reply>) {
        for plugin in self.iter().rev() {
            plugin.model_after(cx).await;
        }
    }

    async fn run_before(&self, cx: &mut Before<'_, RunRequest>) -> Option<Stop<RunRequest>> {
        for plugin in self {
            let stop = plugin.run_before(cx).await;
            if stop.is_some() {
                return stop;
            }
        }
        None
    }

    async fn run_event(&self, cx: &mut Observe<'_, RunEvent>) {
        for plugin in self.iter().rev() {
            plugin.run_event(cx).await;
        }
    }

    fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended)) {
        self.iter().rev().for_each(|plugin| plugin.each_ended(ended));
    }
}
