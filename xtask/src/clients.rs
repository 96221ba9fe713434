//! Clients that people use, against the example server.

use std::{path::PathBuf, process::Command};

use crate::{
    Result, command,
    node::{self, Node},
    options::Options,
    python,
    server::with_server,
    step::step,
    workspace::Workspace,
};

/// The folder of the scripts and of what they need.
const FOLDER: &str = "clients";
const PYTHON: [&str; 3] = ["openai_chat.py", "openai_responses.py", "anthropic_messages.py"];
/// The folder of the clients of Gemini, which want other versions of what the others want.
const GEMINI: &str = "clients/gemini";
const NODE: [&str; 2] = ["openai_responses.mjs", "anthropic_messages.mjs"];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("clients", || {
        let environment = python::environment(workspace, FOLDER)?;
        let gemini = python::environment(workspace, GEMINI)?.python();
        node::install(&scripts(workspace))?;
        let node = Node::of(&environment)?.program();
        with_server(workspace, options, |url| {
            for script in PYTHON {
                let mut python = Command::new(environment.python());
                ask(python.arg(scripts(workspace).join(script)), url)?;
            }
            ask(Command::new(&gemini).arg(scripts(workspace).join("gemini/clients.py")), url)?;
            for script in NODE {
                let mut node = Command::new(&node);
                let node = node.arg("--test-reporter=spec");
                ask(node.arg(scripts(workspace).join(script)), url)?;
            }
            Ok(())
        })
    })
}

fn ask(script: &mut Command, url: &str) -> Result {
    command::run(script.args(["--url", url, "--tools-model", "demo-bare"]))
}

fn scripts(workspace: &Workspace) -> PathBuf {
    workspace.root.join("tests").join(FOLDER)
}

/// Has the clients ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    python::environment(workspace, FOLDER)?;
    python::environment(workspace, GEMINI)?;
    node::install(&scripts(workspace))
}
