//! The model services against an upstream that fails on purpose.

use std::process::Command;

use crate::{Result, python, server, step::step, workspace::Workspace};

/// The folder of the upstream's pins and of the program that asks it.
const FOLDER: &str = "upstreams";

pub(crate) fn run(workspace: &Workspace) -> Result {
    step(FOLDER, || {
        let script = workspace.root.join("tests").join(FOLDER).join("serve.py");
        let mut llmock = Command::new(python::environment(workspace, FOLDER)?.python());
        server::while_it_runs(workspace, llmock.arg(script), "llmock", |url| {
            let ask = ["run", "--quiet", "--package", "tower-agent-upstreams", "--", "--url", url];
            workspace.run_cargo(&ask)
        })
    })
}

/// Has the upstream ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    python::environment(workspace, FOLDER).map(drop)
}
