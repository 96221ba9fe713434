//! Environments of Python, each with the packages that a folder of the tests pins.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, command, workspace::Workspace};

const PYTHON: &str = "python3";

/// An environment that holds the pinned packages and nothing else.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Where its programs are.
    pub(crate) fn programs(&self) -> PathBuf {
        self.folder.join("bin")
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.programs().join("python")
    }
}

/// The environment for a folder of the tests; made anew when the pins change.
pub(crate) fn environment(workspace: &Workspace, name: &str) -> Result<Environment> {
    let requirements = workspace.root.join("tests").join(name).join("requirements.txt");
    let environment = Environment { folder: workspace.output(name)?.join("venv") };
    let python = environment.python();
    let installed = environment.folder.join("requirements.txt");
    if same(&requirements, &installed) && command::answers(&python, "--version") {
        return Ok(environment);
    }
    if !command::answers(PYTHON, "--version") {
        return Err("python3 is missing: install Python 3.9 or later with its venv module".into());
    }
    println!("installing {}", requirements.display());
    command::run(Command::new(PYTHON).args(["-m", "venv", "--clear"]).arg(&environment.folder))?;
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
    Ok(environment)
}

/// Whether both files are there and say the same.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}
