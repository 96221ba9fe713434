//! What a host of agents bears, measured and written down.

use std::process::Command;

use crate::{
    Result, bench,
    command::{self, answers},
    page,
    step::step,
    workspace::Workspace,
};

/// The core of the callers; that of the servers is the first one.
const CORE: &str = "1";

/// Measures for two minutes, on a machine with two cores that had better do nothing else meanwhile.
pub(crate) fn run(workspace: &Workspace) -> Result {
    step("load", || {
        if !answers("taskset", "--version") {
            return Err("it takes Linux and `taskset`, which keeps servers and callers on cores of their own".into());
        }
        let build = ["build", "--package", "tower-agent-load"];
        command::run(&mut bench::benches(workspace, &build))?;
        let program = workspace.root.join("benches/target/release/tower-agent-load");
        let mut load = Command::new("taskset");
        let report = command::read(load.args(["--cpu-list", CORE]).arg(program))?;
        page::write(workspace, "performance.md", "load", &String::from_utf8(report)?)
    })
}
