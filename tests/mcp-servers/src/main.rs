//! Servers that people use, asked through the client.
//!
//! `tower-agent-mcp-servers --node FOLDER --current FOLDER --before-2 FOLDER --work FOLDER`: where the programs of the npm
//! servers and of both environments of Python are, and a folder to work in.

mod everything;
mod files;
mod python;
mod support;

use std::{env, fs, path::PathBuf, process::ExitCode};

use support::{Result, Story};

/// Where things are.
struct Places {
    node: PathBuf,
    current: PathBuf,
    before_2: PathBuf,
    work: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mcp-servers: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result {
    let places = Places::read()?;
    // What an earlier run left behind tells nothing about this one.
    if places.work.exists() {
        fs::remove_dir_all(&places.work)?;
    }
    fs::create_dir_all(&places.work)?;
    let mut story = Story::default();
    files::tell(&mut story, &places).await;
    everything::tell(&mut story, &places).await;
    python::tell(&mut story, &places).await;
    story.end()
}

impl Places {
    fn read() -> Result<Self> {
        let words: Vec<_> = env::args_os().skip(1).collect();
        let place = |name: &str| {
            let at = words.iter().position(|word| word == name);
            let value = at.and_then(|at| words.get(at + 1));
            value.map(PathBuf::from).ok_or_else(|| format!("`{name}` is missing"))
        };
        Ok(Self {
            node: place("--node")?,
            current: place("--current")?,
            before_2: place("--before-2")?,
            work: place("--work")?,
        })
    }
}
