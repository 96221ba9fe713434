//! Texts that nobody thought of, tried on the engine that masks.

use std::{fs, path::Path, process::Command};

use crate::{
    Result,
    command::{self, cargo},
    options::Options,
    step::step,
    workspace::Workspace,
};

const TARGETS: [&str; 4] = ["stream", "json", "rules", "vault"];
/// How long each target runs unless told otherwise, in seconds.
const SECONDS: u32 = 60;
/// Longer inputs say nothing new and take long.
const LONGEST: u32 = 1500;

/// Runs the targets one after another, or one of them. What it finds stays in `fuzz/artifacts`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    if !command::answers("cargo-fuzz", "--version") {
        return Err("cargo-fuzz is missing: `cargo install --locked cargo-fuzz` installs it".into());
    }
    let folder = workspace.root.join("fuzz");
    let targets = chosen(options.target.as_deref())?;
    step("seeds", || example(&folder, &["seeds", "--", "corpus"]))?;
    for target in targets {
        step(target, || try_target(&folder, target, options.seconds.unwrap_or(SECONDS)))?;
    }
    Ok(())
}

fn chosen(target: Option<&str>) -> Result<Vec<&'static str>> {
    let chosen: Vec<_> =
        TARGETS.into_iter().filter(|name| target.is_none_or(|target| target == *name)).collect();
    if chosen.is_empty() {
        let error =
            format!("the targets are {}", TARGETS.map(|name| format!("`{name}`")).join(", "));
        return Err(error.into());
    }
    Ok(chosen)
}

fn try_target(folder: &Path, target: &str, seconds: u32) -> Result {
    let mut fuzz = cargo();
    // Without a sanitizer it builds on stable; there is no unsafe code to watch.
    fuzz.current_dir(folder).args(["fuzz", "run", "--sanitizer", "none", target, "--"]);
    fuzz.args(["-dict=dictionary", "-timeout=60", "-rss_limit_mb=2048"]);
    fuzz.args([format!("-max_total_time={seconds}"), format!("-max_len={LONGEST}")]);
    let result = command::run(&mut fuzz);
    if result.is_err() {
        show(folder, target)?;
    }
    result
}

/// Shows the shortest texts that still fail.
fn show(folder: &Path, target: &str) -> Result {
    let Ok(files) = fs::read_dir(folder.join("artifacts").join(target)) else { return Ok(()) };
    let files = files.filter_map(|file| file.ok()?.path().to_str().map(str::to_owned));
    // What took too long or too much memory would do so again.
    let crashes: Vec<_> = files.filter(|file| file.contains("/crash-")).collect();
    let mut arguments = vec!["shrink", "--", target];
    arguments.extend(crashes.iter().map(String::as_str));
    if crashes.is_empty() { Ok(()) } else { example(folder, &arguments) }
}

fn example(folder: &Path, arguments: &[&str]) -> Result {
    let mut command: Command = cargo();
    command.current_dir(folder).args(["run", "--quiet", "--release", "--example"]).args(arguments);
    command::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_all_targets_run_and_with_one_only_that() {
        assert_eq!(chosen(None).unwrap(), TARGETS);
        assert_eq!(chosen(Some("json")).unwrap(), ["json"]);
    }

    #[test]
    fn a_name_that_no_target_has_is_answered_by_those_that_there_are() {
        let error = chosen(Some("xml")).unwrap_err().to_string();
        assert_eq!(error, "the targets are `stream`, `json`, `rules`, `vault`");
    }
}
