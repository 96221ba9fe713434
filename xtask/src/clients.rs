//! Clients that people use, against the example server.

use std::process::Command;

use crate::{
    Result, command, options::Options, python, server::with_server, step::step,
    workspace::Workspace,
};

/// The folder of the script and of what it needs.
const FOLDER: &str = "clients";

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("clients", || {
        let python = python::environment(workspace, FOLDER)?.python();
        with_server(workspace, options, |url| {
            let script = workspace.root.join("tests/clients/openai_chat.py");
            command::run(Command::new(&python).arg(script).args([
                "--url",
                url,
                "--tools-model",
                "demo-bare",
            ]))
        })
    })
}

/// Has the clients ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    python::environment(workspace, FOLDER).map(drop)
}
