//! Packages of Node.js, as a folder of the tests pins them.

use std::{fs, path::Path, process::Command};

use crate::{Result, command, python::same};

/// Installs what the lock file names, unless that was done.
pub(crate) fn install(folder: &Path) -> Result {
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules/installed-lock.json");
    if same(&lock, &installed) {
        return Ok(());
    }
    if !command::answers("npm", "--version") {
        return Err("npm is missing: install Node.js 20 or later".into());
    }
    println!("installing {}", lock.display());
    command::run(Command::new("npm").args(["ci", "--silent"]).current_dir(folder))?;
    fs::copy(lock, installed)?;
    Ok(())
}
