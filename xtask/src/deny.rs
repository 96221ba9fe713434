//! Licences, duplicates and sources of all dependencies.

use std::process::Command;

use crate::{Result, command, step::step, workspace::Workspace};

/// Pinned, since each release may judge anew.
const VERSION: &str = "0.20.2";

pub(crate) fn run(workspace: &Workspace) -> Result {
    step("deny", || {
        install()?;
        workspace.run_cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"])
    })
}

fn install() -> Result {
    let mut version = Command::new("cargo-deny");
    version.arg("--version");
    if command::read(&mut version).is_ok_and(|output| is_pinned(&output)) {
        return Ok(());
    }
    println!("installing cargo-deny {VERSION}");
    command::run(command::cargo().args([
        "install",
        "--quiet",
        "--locked",
        "cargo-deny",
        "--version",
        VERSION,
    ]))
}

fn is_pinned(version: &[u8]) -> bool {
    String::from_utf8_lossy(version).split_whitespace().nth(1) == Some(VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_release_is_replaced() {
        assert!(is_pinned(format!("cargo-deny {VERSION}\n").as_bytes()));
        assert!(!is_pinned(b"cargo-deny 0.19.0\n"));
        assert!(!is_pinned(b""));
    }
}
