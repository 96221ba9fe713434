//! The model services against an upstream that fails on purpose and judges its clients: llmock.
//!
//! `tower-agent-upstreams --url URL`: where llmock listens. `faults.toml` has what is tried.

mod call;
mod cut;
mod fault;
mod llmock;
mod retry;
mod trial;

use std::{env, error::Error, ops::AddAssign, process::ExitCode, sync::Arc};

use tokio::task::JoinSet;
use tower_agent_core::Str;

use fault::Table;
use llmock::Llmock;
use trial::DIALECTS;

type Result<T = (), E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("upstreams: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result {
    let (url, table) = (Str::from(url()?), Arc::new(fault::table()?));
    // A task for each form of each dialect, as most of the time is waiting.
    let mut tasks = JoinSet::new();
    for dialect in DIALECTS {
        for stream in [false, true] {
            tasks.spawn(try_all(url.clone(), Arc::clone(&table), dialect, stream));
        }
    }
    let mut story = Story::default();
    while let Some(told) = tasks.join_next().await {
        story += told??;
    }
    story.end()
}

/// Tries all faults on one form of one dialect.
async fn try_all(
    url: Str,
    table: Arc<Table>,
    dialect: &'static str,
    stream: bool,
) -> Result<Story> {
    let form = if stream { "streamed" } else { "whole" };
    let llmock = Llmock::at(format!("{url}/{dialect}-{form}"))?;
    let mut story = Story::default();
    let title = |name: &str| format!("{dialect}, {form}: {name}");
    for fault in table.faults.iter().filter(|fault| fault.concerns(dialect, stream)) {
        story.note(&title(&fault.name), trial::run(&llmock, fault, dialect, stream).await);
    }
    for call in &table.calls {
        story.note(&title(&call.name), call::run(&llmock, call, dialect, stream).await);
    }
    for cut in table.cuts.iter().filter(|_| stream) {
        story.note(&title(&cut.name), cut::run(&llmock, cut, dialect).await);
    }
    Ok(story)
}

/// How many checks there were, and how many of them went wrong.
#[derive(Default)]
struct Story {
    checks: usize,
    failures: usize,
}

impl Story {
    fn note(&mut self, name: &str, result: Result) {
        self.checks += 1;
        match result {
            Ok(()) => println!("ok      {name}"),
            Err(error) => {
                self.failures += 1;
                println!("FAILED  {name}: {error}");
            }
        }
    }

    fn end(self) -> Result {
        println!("{} checks, {} failed", self.checks, self.failures);
        let is_fine = self.checks > 0 && self.failures == 0;
        if is_fine { Ok(()) } else { Err("not all faults came out as the table says".into()) }
    }
}

impl AddAssign for Story {
    fn add_assign(&mut self, other: Self) {
        self.checks += other.checks;
        self.failures += other.failures;
    }
}

fn url() -> Result<String> {
    let words: Vec<_> = env::args().skip(1).collect();
    match &*words {
        [name, url] if name == "--url" => Ok(url.clone()),
        _ => Err("usage: tower-agent-upstreams --url URL".into()),
    }
}
