//! What others have made to try MCP servers, against ours.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::{
    Result, command,
    node::Node,
    python::{self, Environment},
    server::Program,
    step::step,
    verdicts::{Reasons, Verdicts},
    workspace::Workspace,
};

/// The folder of the scripts and of what they need.
const FOLDER: &str = "mcp";
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const INSPECTOR: &str =
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

const NOTES: Program =
    Program { package: "mcp-server", target: None, flags: &["--http", "127.0.0.1:0"] };
const FIXTURE: Program =
    Program { package: "tower-agent-mcp", target: Some(("--example", "conformance")), flags: &[] };
const GATEWAY: Program = Program {
    package: "mcp-gateway",
    target: Some(("--bin", "mcp-gateway")),
    flags: &["--http", "127.0.0.1:0"],
};
/// Where the gateway may change a verdict, and why.
const DIFFERENCES: &str = "gateway-differences.json";

/// The Python client and the inspector against the example server, over pipes and over HTTP: first by itself, then behind
/// the gateway, which reaches it the same way.
pub(crate) fn clients(workspace: &Workspace) -> Result {
    step("mcp-clients", || {
        let tools = Tools::ready(workspace)?;
        NOTES.serve(workspace, |notes, url| {
            step("direct", || tools.ask(notes, None, url))?;
            step("through the gateway", || {
                let pipes = config(workspace, "pipes", "command", notes)?;
                let http = config(workspace, "http", "url", endpoint(url))?;
                through_gateway(workspace, &http, |gateway, url| {
                    tools.ask(gateway, Some(&pipes), url)
                })
            })
        })
    })
}

/// The conformance suite against a server that has the tools that it asks for. It fails when a scenario fails that
/// is not on the list of those expected to, and when one of these passes; and when a verdict is another one behind the
/// gateway.
pub(crate) fn conformance(workspace: &Workspace) -> Result {
    step("conformance", || {
        let tools = Tools::ready(workspace)?;
        FIXTURE.serve(workspace, |_, url| {
            let found = workspace.output(FOLDER)?;
            let (direct, through) = (found.join("direct"), found.join("through"));
            step("direct", || {
                let expected = tools.folder.join("expected-failures.yml");
                let mut suite = tools.suite(url, &direct)?;
                command::run(suite.arg("--expected-failures").arg(expected))
            })?;
            step("through the gateway", || {
                let config = config(workspace, "conformance", "url", endpoint(url))?;
                through_gateway(workspace, &config, |_, url| {
                    // By its own measure it fails; ours is what it found of the server itself.
                    let log = found.join("through.log");
                    command::log(&mut tools.suite(url, &through)?, &log)?;
                    tools.compare(&direct, &through)
                })
            })
        })
    })
}

/// Starts the gateway, and does `work` with its file and its address while it runs.
fn through_gateway(
    workspace: &Workspace,
    config: &Path,
    work: impl FnOnce(&Path, &str) -> Result,
) -> Result {
    GATEWAY.serve_with(workspace, &["--config".as_ref(), config.as_ref()], work)
}

/// Writes a configuration that puts the gateway in front of one server.
fn config(
    workspace: &Workspace,
    name: &str,
    key: &str,
    server: impl AsRef<Path>,
) -> Result<PathBuf> {
    let file = workspace.output(FOLDER)?.join(format!("gateway-{name}.toml"));
    let server = server.as_ref().to_str().ok_or("the path of the server is no UTF-8")?;
    // A string of JSON is one of TOML as well.
    fs::write(&file, format!("[[server]]\nname = \"behind\"\n{key} = {}\n", json!(server)))?;
    Ok(file)
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

    /// Runs the clients against a program, which they start with this configuration, and against a server.
    fn ask(&self, program: &Path, config: Option<&Path>, url: &str) -> Result {
        let mut python = Command::new(self.python.python());
        python.arg(self.folder.join("clients.py"));
        python.arg("--program").arg(program).args(["--url", &endpoint(url)]);
        python.arg("--node").arg(self.node.program());
        python.arg("--inspector").arg(self.folder.join(INSPECTOR));
        if let Some(config) = config {
            python.arg("--gateway-config").arg(config);
        }
        command::run(&mut python)
    }

    /// The suite, which writes what it finds of a server into a folder that is new.
    fn suite(&self, url: &str, found: &Path) -> Result<Command> {
        if found.exists() {
            fs::remove_dir_all(found)?;
        }
        let mut suite = Command::new(self.node.program());
        suite.arg(self.folder.join(SUITE)).args(["server", "--suite", "all"]);
        suite.args(["--url", &endpoint(url), "--output-dir"]).arg(found);
        Ok(suite)
    }

    fn compare(&self, direct: &Path, through: &Path) -> Result {
        let file = self.folder.join(DIFFERENCES);
        let reasons: Reasons = serde_json::from_slice(&fs::read(file)?)?;
        let (direct, through) = (Verdicts::read(direct)?, Verdicts::read(through)?);
        let differences = direct.compare(&through, &reasons).map_err(|wrong| {
            format!("verdicts that are not as {DIFFERENCES} says, direct and through the gateway: {wrong}")
        })?;
        println!("{} scenarios, {differences} of them differ as expected", direct.len());
        Ok(())
    }
}
