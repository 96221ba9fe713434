use std::sync::Arc;

use rmcp::model::Tool;
use tower_agent_core::{ToolSpec, Tools};

use crate::convert::to_mcp;

/// Tools as policies see them, each with what clients see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf(Vec<(Arc<ToolSpec>, Tool)>);

impl Shelf {
    pub(crate) fn specs(&self) -> Tools {
        self.0.iter().map(|(spec, _)| Arc::clone(spec)).collect()
    }

    /// The tools that policies left, in their order.
    pub(crate) fn take(&self, visible: &Tools) -> Vec<Tool> {
        visible.iter().filter_map(|spec| self.find(spec)).collect()
    }

    /// A tool as it stands here, unless a policy changed what it says of itself.
    pub(crate) fn find(&self, spec: &Arc<ToolSpec>) -> Option<Tool> {
        if let Some((_, tool)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, spec)) {
            return Some(tool.clone());
        }
        to_mcp::tool(spec)
            .inspect_err(
                |_| tracing::warn!(tool = %spec.name, "hidden, as its schema is no object"),
            )
            .ok()
    }
}

impl FromIterator<(Arc<ToolSpec>, Tool)> for Shelf {
    fn from_iter<I: IntoIterator<Item = (Arc<ToolSpec>, Tool)>>(tools: I) -> Self {
        Self(tools.into_iter().collect())
    }
}
