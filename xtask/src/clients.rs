//! Clients that people use, against the example server.

use std::{path::PathBuf, process::Command};

use crate::{
    Result, command, node::Node, options::Options, python, server::with_server, step::step,
    workspace::Workspace,
};

/// The folder of the script and of what it needs.
const FOLDER: &str = "clients";
const RESPONSES: &str = "clients/openai_responses";
const GEMINI: &str = "clients/gemini";

/// The model of the example server that leaves tools to its client.
const TOOLS_MODEL: [&str; 2] = ["--tools-model", "demo-bare"];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("clients", || {
        let chat = python::environment(workspace, FOLDER)?.python();
        let responses = python::environment(workspace, RESPONSES)?;
        let gemini = python::environment(workspace, GEMINI)?.python();
        let node = Node::of(&responses)?;
        node.install(&scripts(workspace))?;
        with_server(workspace, options, |url| {
            let clients = workspace.root.join("tests/clients");
            let ask = |mut program: Command, script: &str| {
                program.arg(clients.join(script)).args(["--url", url]).args(TOOLS_MODEL);
                command::run(&mut program)
            };
            ask(Command::new(&chat), "openai_chat.py")?;
            ask(Command::new(responses.python()), "openai_responses/clients.py")?;
            ask(Command::new(&gemini), "gemini/clients.py")?;
            ask(node.command(), "js/openai_responses.mjs")
        })
    })
}

/// Has the clients ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    python::environment(workspace, FOLDER)?;
    python::environment(workspace, GEMINI)?;
    let responses = python::environment(workspace, RESPONSES)?;
    Node::of(&responses)?.install(&scripts(workspace))
}

fn scripts(workspace: &Workspace) -> PathBuf {
    workspace.root.join("tests/clients/js")
}
