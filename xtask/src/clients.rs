//! Clients that people use, against the example server.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result, command, options::Options, server::with_server, step::step, workspace::Workspace,
};

const PYTHON: &str = "python3";

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("clients", || {
        let python = environment(workspace)?;
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
    environment(workspace).map(drop)
}

/// The Python of an environment that holds the pinned clients and nothing else; made anew when the pins change.
fn environment(workspace: &Workspace) -> Result<PathBuf> {
    let requirements = workspace.root.join("tests/clients/requirements.txt");
    let folder = workspace.output("clients")?.join("venv");
    let python = folder.join("bin/python");
    let installed = folder.join("requirements.txt");
    if same(&requirements, &installed) && command::answers(&python, "--version") {
        return Ok(python);
    }
    if !command::answers(PYTHON, "--version") {
        return Err("python3 is missing: install Python 3.9 or later with its venv module".into());
    }
    println!("installing {}", requirements.display());
    command::run(Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(&folder))?;
    command::run(
        Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
            ])
            .arg(&requirements),
    )?;
    fs::copy(&requirements, &installed)?;
    Ok(python)
}

/// Whether both files are there and say the same.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}
