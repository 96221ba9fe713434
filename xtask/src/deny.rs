//! Licences, duplicates and sources of all dependencies.

use crate::{Result, command, step::step, workspace::Workspace};

/// What is installed where there is none. Another one that is there already will do.
const VERSION: &str = "0.20.2";

pub(crate) fn run(workspace: &Workspace) -> Result {
    step("deny", || {
        install()?;
        workspace.run_cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"])
    })
}

fn install() -> Result {
    if command::answers("cargo-deny", "--version") {
        return Ok(());
    }
    println!("installing cargo-deny {VERSION}");
    let mut install = command::cargo();
    install.args(["install", "--quiet", "--locked", "cargo-deny", "--version", VERSION]);
    command::run(&mut install)
}
