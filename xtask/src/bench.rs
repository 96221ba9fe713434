//! What the layers and the agent cost, measured and written down.

use std::{fs, process::Command};

use crate::{
    Result,
    command::{self, cargo},
    step::step,
    workspace::Workspace,
};

/// The page holds what was measured between these two lines, and what it means around them.
const BEGIN: &str = "<!-- measured by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of what was measured -->\n";

/// Measures for some minutes, on a machine that had better do nothing else meanwhile.
pub(crate) fn run(workspace: &Workspace) -> Result {
    step("bench", || {
        command::run(&mut benches(workspace, &["build", "--bins"]))?;
        let report =
            command::read(&mut benches(workspace, &["run", "--quiet", "--bin", "report"]))?;
        let page = workspace.root.join("docs/performance.md");
        let before = fs::read_to_string(&page)?;
        let after = replaced(&before, &String::from_utf8(report)?)
            .ok_or_else(|| format!("{} has no place for the measurements", page.display()))?;
        fs::write(&page, after)?;
        println!("written to {}", page.display());
        Ok(())
    })
}

/// A cargo that stands in the benches, which are a workspace of their own.
fn benches(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(workspace.root.join("benches")).args(arguments);
    command.args(["--release"]);
    command
}

fn replaced(page: &str, report: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{}\n\n{END}{tail}", report.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_is_replaced() {
        let page = format!("before\n{BEGIN}old\n{END}after\n");
        let page = replaced(&page, "new\n\n").unwrap();
        assert_eq!(page, format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(replaced(&page, "new").unwrap(), page);
    }

    #[test]
    fn a_page_without_a_place_is_left_alone() {
        assert_eq!(replaced("nothing here", "new"), None);
    }
}
