//! The example's page in a real browser.

use std::{env, path::PathBuf, process::Command};

use crate::{
    Result, command, node, options::Options, server::with_server, step::step, workspace::Workspace,
};

/// Names the browser to use, for machines that have it elsewhere.
const VARIABLE: &str = "CHROMIUM";
const PLACES: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result {
    step("browser", || {
        let browser = prepare(workspace)?;
        let pictures = workspace.output("browser")?;
        with_server(workspace, options, |url| {
            let mut node = Command::new("node");
            node.arg("--test-reporter=spec")
                .arg(scripts(workspace).join("page.mjs"))
                .args(["--url", url]);
            node.arg("--browser").arg(&browser).arg("--out").arg(&pictures);
            if let Some(file) = &options.screenshot {
                node.arg("--screenshot").arg(file);
            }
            command::run(&mut node)?;
            println!("pictures are in {}", pictures.display());
            Ok(())
        })
    })
}

/// Has the browser and what drives it ready.
pub(crate) fn install(workspace: &Workspace) -> Result {
    prepare(workspace).map(drop)
}

fn prepare(workspace: &Workspace) -> Result<PathBuf> {
    node::install(&scripts(workspace))?;
    if let Some(browser) = find() {
        return Ok(browser);
    }
    install_browser()?;
    find().ok_or_else(|| {
        "Chromium was installed, but not to a place known here: set CHROMIUM to its path".into()
    })
}

fn scripts(workspace: &Workspace) -> PathBuf {
    workspace.root.join("tests/browser")
}

fn find() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    named
        .into_iter()
        .chain(PLACES.map(PathBuf::from))
        .find(|place| command::answers(place, "--version"))
}

/// Installs Debian's Chromium where that needs nobody's password.
fn install_browser() -> Result {
    if !(is_root() && command::answers("apt-get", "--version")) {
        return Err("Chromium is missing: install it, or set CHROMIUM to its path".into());
    }
    println!("installing chromium");
    command::run(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--quiet", "--yes", "--no-install-recommends", "chromium"]);
    command::run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> bool {
    command::read(Command::new("id").arg("-u")).is_ok_and(|user| user.trim_ascii() == b"0")
}
