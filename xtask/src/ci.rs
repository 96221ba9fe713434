//! Everything that a change must pass.

use crate::{Result, deny, features, options::Options, step::step, test, workspace::Workspace};

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("fetch", || workspace.run_cargo(&["fetch", "--locked"]))?;
    step("fmt", || workspace.run_cargo(&["fmt", "--all", "--check"]))?;
    step("clippy", || {
        workspace.run_cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ])
    })?;
    step("doc", || doc(workspace))?;
    deny::run(workspace)?;
    features::run(workspace)?;
    test::run(workspace, options)
}

fn doc(workspace: &Workspace) -> Result {
    let mut cargo = workspace.cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    crate::command::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}
