//! Pages that hold what a task measured, between two lines, and what it means around them.

use std::fs;

use crate::{Result, workspace::Workspace};

const END: &str = "<!-- end of what was measured -->\n";

/// Puts a report into a page of the documentation, in the place of the one before.
pub(crate) fn write(workspace: &Workspace, page: &str, task: &str, report: &str) -> Result {
    let page = workspace.root.join("docs").join(page);
    let before = fs::read_to_string(&page)?;
    let after = replaced(&before, task, report)
        .ok_or_else(|| format!("{} has no place for the measurements", page.display()))?;
    fs::write(&page, after)?;
    println!("written to {}", page.display());
    Ok(())
}

fn replaced(page: &str, task: &str, report: &str) -> Option<String> {
    let begin = format!("<!-- measured by `cargo xtask {task}` -->\n");
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{begin}\n{}\n\n{END}{tail}", report.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_is_replaced() {
        let begin = "<!-- measured by `cargo xtask bench` -->\n";
        let page = format!("before\n{begin}old\n{END}after\n");
        let page = replaced(&page, "bench", "new\n\n").unwrap();
        assert_eq!(page, format!("before\n{begin}\nnew\n\n{END}after\n"));
        assert_eq!(replaced(&page, "bench", "new").unwrap(), page);
    }

    #[test]
    fn a_page_without_a_place_is_left_alone() {
        assert_eq!(replaced("nothing here", "bench", "new"), None);
        assert_eq!(
            replaced(&format!("<!-- measured by `cargo xtask other` -->\n{END}"), "bench", "new"),
            None
        );
    }
}
