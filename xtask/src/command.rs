//! Running other programs.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    path::Path,
    process::{Command, Stdio},
};

use crate::Result;

/// Runs a command to its end, its output beside ours. Any end but success is an error that names the command.
pub(crate) fn run(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(ended(command, &status.to_string())) }
}

/// Runs a command to its end, whichever that is, and writes what it says into a file.
pub(crate) fn log(command: &mut Command, file: &Path) -> Result {
    let file = File::create(file)?;
    command.stdout(file.try_clone()?).stderr(file);
    command.status().map_err(|error| cannot_start(command, &error))?;
    Ok(())
}

/// Runs a command to its end and returns what it wrote to its standard output.
pub(crate) fn read(command: &mut Command) -> Result<Vec<u8>> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(ended(command, &output.status.to_string()))
    }
}

/// Whether a program is there and answers.
pub(crate) fn answers(program: impl AsRef<OsStr>, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The cargo that runs us.
///
/// `cargo run` tells its child about the package that it runs. A cargo started from here must not see that: build
/// scripts watch these variables, and would rebuild their crates on each change between `cargo` and `cargo xtask`.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_us) {
            command.env_remove(name);
        }
    }
    command
}

fn describes_us(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Box<dyn std::error::Error> {
    format!("`{}` did not start: {error}", line(command)).into()
}

fn ended(command: &Command, status: &str) -> Box<dyn std::error::Error> {
    format!("`{}` failed ({status})", line(command)).into()
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or_default();
    let words = command.get_args().map(OsStr::to_string_lossy);
    std::iter::once(name.into()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_its_end() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert_eq!(error, "`sh -c exit 3` failed (exit status: 3)");
    }

    #[test]
    fn what_a_command_says_is_kept_whichever_way_it_ends() {
        let file = env::temp_dir().join(format!("xtask-{}-said.log", std::process::id()));
        log(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"]), &file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = read(&mut Command::new("/nowhere/tool")).unwrap_err().to_string();
        assert!(error.starts_with("`tool` did not start: "), "{error}");
        assert!(!answers("/nowhere/tool", "--version"));
    }

    #[test]
    fn cargo_is_not_told_which_package_runs_it() {
        let command = cargo();
        let removed = |name| command.get_envs().any(|(key, value)| key == name && value.is_none());
        assert!(removed("CARGO_PKG_NAME") && removed("CARGO_MANIFEST_DIR"));
        assert!(!removed("CARGO_HOME") && !removed("CARGO_TARGET_DIR"));
    }
}
