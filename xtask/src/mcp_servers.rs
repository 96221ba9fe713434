//! MCP servers that people use, asked through the client.

use std::path::PathBuf;

use crate::{Result, command, node, python, step::step, workspace::Workspace};

/// The folder of the program that asks, and of the servers' pins.
const FOLDER: &str = "mcp-servers";

pub(crate) fn run(workspace: &Workspace) -> Result {
    step(FOLDER, || {
        let Servers { node, current, before_2 } = prepare(workspace)?;
        let work = workspace.output(FOLDER)?.join("work");
        let mut ask =
            workspace.cargo(&["run", "--quiet", "--package", "tower-agent-mcp-servers", "--"]);
        ask.arg("--node").arg(node).arg("--current").arg(current);
        ask.arg("--before-2").arg(before_2).arg("--work").arg(work);
        command::run(&mut ask)
    })
}

/// Has the servers ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    prepare(workspace).map(drop)
}

/// Where the servers' programs are.
struct Servers {
    node: PathBuf,
    current: PathBuf,
    before_2: PathBuf,
}

fn prepare(workspace: &Workspace) -> Result<Servers> {
    let folder = workspace.root.join("tests").join(FOLDER);
    node::install(&folder)?;
    Ok(Servers {
        node: folder.join("node_modules/.bin"),
        current: python::environment(workspace, "mcp-servers/current")?.programs(),
        before_2: python::environment(workspace, "mcp-servers/before-2")?.programs(),
    })
}
