//! The tasks of this workspace, for a contributor and for the build machine alike: `cargo xtask help` lists them.

mod bench;
mod browser;
mod ci;
mod clients;
mod command;
mod deny;
mod detection;
mod features;
mod fuzz;
mod load;
mod mcp;
mod mcp_servers;
mod node;
mod options;
mod page;
mod python;
mod server;
mod step;
mod test;
mod upstreams;
mod verdicts;
mod workspace;

use std::{env, error::Error, process::ExitCode};

use options::Options;
use workspace::Workspace;

/// What a task answers. An error is one line, since that line is all that a reader of the log gets.
type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const HELP: &str = "\
cargo xtask <task>

  test      install what the tests need, then run all of them: cargo test, clients, mcp-clients,
            mcp-servers, conformance, upstreams, browser
  clients   clients in Python and JavaScript against the example server  [--url URL]
  mcp-clients
            MCP's Python client and its inspector against the example server of tools, direct and
            through the gateway
  conformance
            MCP's conformance suite against a server of the tools that it asks for, direct and
            through the gateway
  browser   the example's page in headless Chromium                  [--url URL] [--screenshot FILE]
  mcp-servers
            MCP servers that people use, asked through the client
  upstreams the model services against llmock, an upstream that fails on purpose
  features  check that each feature of each crate compiles alone
  bench     measure the layers and the agent, and write docs/performance.md
  load      measure a host under load, and write its part of docs/performance.md
  detection-quality
            measure what the engine finds, and write docs/detection-quality.md
  fuzz      try texts that nobody thought of on the engine    [TARGET] [--seconds N]
  ci        fmt, clippy, doc, deny, features, test

  --url URL          ask a server that runs already, instead of starting one
  --screenshot FILE  also write the picture that the README shows
  --seconds N        how long each fuzz target runs, instead of 60 seconds";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result {
    let mut arguments = env::args().skip(1);
    let task = arguments.next().unwrap_or_else(|| "help".to_owned());
    let options = Options::parse(arguments)?;
    if let Some(word) = options.target.as_ref().filter(|_| task != "fuzz") {
        return Err(format!("`{word}` is no option of `{task}`").into());
    }
    match task.as_str() {
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        "test" => test::run(&Workspace::load()?, &options),
        "clients" => clients::run(&Workspace::load()?, &options),
        "mcp-clients" => mcp::clients(&Workspace::load()?),
        "conformance" => mcp::conformance(&Workspace::load()?),
        "browser" => browser::run(&Workspace::load()?, &options),
        "mcp-servers" => mcp_servers::run(&Workspace::load()?),
        "upstreams" => upstreams::run(&Workspace::load()?),
        "features" => features::run(&Workspace::load()?),
        "bench" => bench::run(&Workspace::load()?),
        "load" => load::run(&Workspace::load()?),
        "detection-quality" => detection::run(&Workspace::load()?),
        "fuzz" => fuzz::run(&Workspace::load()?, &options),
        "ci" => ci::run(&Workspace::load()?, &options),
        other => Err(format!("no task is called `{other}`; `cargo xtask help` lists them").into()),
    }
}
