//! How well the engine detects, measured and written down.

use crate::{Result, command, page, python, step::step, workspace::Workspace};

const TASK: &str = "detection-quality";
/// The folder of the program that measures, and of the scanners that it compares with.
const FOLDER: &str = "detection";
/// Names the folder with the samples.
const VARIABLE: &str = "TOWER_AGENT_SHARED";

pub(crate) fn run(workspace: &Workspace) -> Result {
    step(TASK, || {
        if std::env::var_os(VARIABLE).is_none() {
            return Err(
                format!("{VARIABLE} is not set: it names the folder with the samples").into()
            );
        }
        let scanners = python::environment(workspace, FOLDER)?.programs();
        let work = workspace.output(FOLDER)?;
        let mut measure = workspace.cargo(&[
            "run",
            "--release",
            "--quiet",
            "--package",
            "tower-agent-detection-quality",
            "--",
        ]);
        measure.arg("--scanners").arg(scanners).arg("--work").arg(&work);
        let report = String::from_utf8(command::read(&mut measure)?)?;
        page::write(workspace, "detection-quality.md", TASK, &report)?;
        println!("every find in the sources is in {}", work.join("finds.tsv").display());
        Ok(())
    })
}
