//! What others have made to try MCP servers, against ours.

use std::{path::PathBuf, process::Command};

use crate::{
    Result, command,
    node::Node,
    python::{self, Environment},
    server::Program,
    step::step,
    workspace::Workspace,
};

/// The folder of the scripts and of what they need.
const FOLDER: &str = "mcp";
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const INSPECTOR: &str =
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

const NOTES: Program =
    Program { package: "mcp-server", example: None, flags: &["--http", "127.0.0.1:0"] };
const FIXTURE: Program =
    Program { package: "tower-agent-mcp", example: Some("conformance"), flags: &[] };

/// The Python client and the inspector against the example server, over pipes and over HTTP.
pub(crate) fn clients(workspace: &Workspace) -> Result {
    step("mcp-clients", || {
        let tools = Tools::ready(workspace)?;
        NOTES.serve(workspace, |program, url| {
            let mut python = Command::new(tools.python.python());
            python.arg(tools.folder.join("clients.py"));
            python.arg("--program").arg(program).args(["--url", &endpoint(url)]);
            python.arg("--node").arg(tools.node.program());
            command::run(python.arg("--inspector").arg(tools.folder.join(INSPECTOR)))
        })
    })
}

/// The conformance suite against a server that has the tools that it asks for. It fails when a scenario fails that
/// is not on the list of those expected to, and when one of these passes.
pub(crate) fn conformance(workspace: &Workspace) -> Result {
    step("conformance", || {
        let tools = Tools::ready(workspace)?;
        FIXTURE.serve(workspace, |_, url| {
            let mut suite = Command::new(tools.node.program());
            suite.arg(tools.folder.join(SUITE)).args([
                "server",
                "--suite",
                "all",
                "--url",
                &endpoint(url),
            ]);
            suite.arg("--expected-failures").arg(tools.folder.join("expected-failures.yml"));
            command::run(&mut suite)
        })
    })
}

/// Has all of it ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    Tools::ready(workspace).map(drop)
}

fn endpoint(url: &str) -> String {
    format!("{url}/mcp")
}

/// The pinned clients.
struct Tools {
    folder: PathBuf,
    python: Environment,
    node: Node,
}

impl Tools {
    fn ready(workspace: &Workspace) -> Result<Self> {
        let python = python::environment(workspace, FOLDER)?;
        let node = Node::of(&python)?;
        let folder = workspace.root.join("tests").join(FOLDER);
        node.install(&folder)?;
        Ok(Self { folder, python, node })
    }
}
