//! What the layers and the agent cost, measured and written down.

use std::process::Command;

use crate::{
    Result,
    command::{self, cargo},
    page,
    step::step,
    workspace::Workspace,
};

/// Measures for some minutes, on a machine that had better do nothing else meanwhile.
pub(crate) fn run(workspace: &Workspace) -> Result {
    step("bench", || {
        command::run(&mut benches(workspace, &["build", "--bins"]))?;
        let report =
            command::read(&mut benches(workspace, &["run", "--quiet", "--bin", "report"]))?;
        page::write(workspace, "performance.md", "bench", &String::from_utf8(report)?)
    })
}

/// A cargo that stands in the benches, which are a workspace of their own.
pub(crate) fn benches(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root.join("benches")).args(arguments);
    command.args(["--release"]);
    command
}
