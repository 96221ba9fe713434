//! All tests.

use crate::{
    Result, browser, clients, mcp_servers, options::Options, step::step, workspace::Workspace,
};

/// What is missing is installed, or said, before the long part begins.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("install", || {
        clients::install(workspace)?;
        browser::install(workspace)?;
        mcp_servers::install(workspace)
    })?;
    step("cargo test", || workspace.run_cargo(&["test", "--workspace", "--all-features"]))?;
    clients::run(workspace, options)?;
    browser::run(workspace, options)?;
    mcp_servers::run(workspace)
}
