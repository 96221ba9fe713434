//! All tests.

use crate::{
    Result, browser, clients, mcp, mcp_servers, options::Options, step::step, upstreams,
    workspace::Workspace,
};

/// What is missing is installed, or said, before the long part begins.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("install", || {
        clients::install(workspace)?;
        mcp::install(workspace)?;
        mcp_servers::install(workspace)?;
        upstreams::install(workspace)?;
        browser::install(workspace)
    })?;
    step("cargo test", || workspace.run_cargo(&["test", "--workspace", "--all-features"]))?;
    clients::run(workspace, options)?;
    mcp::clients(workspace)?;
    mcp_servers::run(workspace)?;
    mcp::conformance(workspace)?;
    upstreams::run(workspace)?;
    browser::run(workspace, options)
}
