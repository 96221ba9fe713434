//! What a child writes to standard error.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::ChildStderr,
    task::JoinSet,
};
use tower_agent_core::Str;

/// How many lines are kept for the report of the child's end.
const LAST_WORDS: usize = 8;
/// A line without an end is cut, so that it cannot fill the memory.
const LONGEST_LINE: u64 = 16 << 10;
/// What the child started may hold the stream open.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads the stream for as long as this lives.
pub(crate) struct Stderr {
    last: Arc<Mutex<VecDeque<String>>>,
    reader: JoinSet<()>,
}

impl Stderr {
    pub(crate) fn new(server: Str, stream: ChildStderr) -> Self {
        let last = Arc::default();
        let mut reader = JoinSet::new();
        reader.spawn(listen(server, stream, Arc::clone(&last)));
        Self { last, reader }
    }

    /// The last lines of a child that ended.
    pub(crate) async fn last_words(mut self) -> Option<String> {
        let rest = async { while self.reader.join_next().await.is_some() {} };
        if tokio::time::timeout(PATIENCE, rest).await.is_err() {
            tracing::debug!("something holds on to the standard error of a server that ended");
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = last.drain(..).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

async fn listen(server: Str, stream: ChildStderr, last: Arc<Mutex<VecDeque<String>>>) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    let mut more = true;
    while more {
        line.clear();
        let read = (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
        more = read.is_ok_and(|read| read > 0);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            tracing::info!(target: "tower_agent_mcp::stderr", server = %server, "{text}");
            keep(&last, text);
        }
    }
}

fn keep(last: &Mutex<VecDeque<String>>, line: &str) {
    let mut lines = last.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.len() == LAST_WORDS {
        lines.pop_front();
    }
    lines.push_back(line.to_owned());
}
