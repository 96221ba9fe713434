//! What a person sees on standard error: progress, and in the end a summary.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// How often the progress is shown at most.
const EVERY: Duration = Duration::from_millis(100);

pub(crate) struct Report {
    quiet: bool,
    /// Whether there is a terminal to show progress on, which shows nothing else meanwhile.
    live: bool,
    begun: Instant,
    shown: Option<Instant>,
    bytes: u64,
    found: BTreeMap<String, u64>,
    no_json: u64,
}

impl Report {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            live: !quiet && io::stderr().is_terminal() && !io::stdout().is_terminal(),
            begun: now(),
            shown: None,
            bytes: 0,
            found: BTreeMap::new(),
            no_json: 0,
        }
    }

    /// So many more bytes of the input are done.
    pub(crate) fn passed(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.live && self.shown.is_none_or(|shown| now() - shown >= EVERY) {
            self.shown = Some(now());
            print(&format!("\r\x1b[K{}", self.figures()));
        }
    }

    /// The rule with this id found something.
    pub(crate) fn found(&mut self, rule: &str) {
        match self.found.get_mut(rule) {
            Some(count) => *count += 1,
            None => {
                self.found.insert(rule.to_owned(), 1);
            }
        }
    }

    /// A line was no JSON.
    pub(crate) fn no_json(&mut self) {
        self.no_json += 1;
    }

    /// Takes the progress away.
    pub(crate) fn clear(&self) {
        if self.shown.is_some() {
            print("\r\x1b[K");
        }
    }

    /// What was found, the most frequent rule first.
    pub(crate) fn summary(&self) {
        if self.quiet {
            return;
        }
        let mut text = format!("redact: {}\n", self.figures());
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (rule, count) in found {
            text.push_str(&format!("{count:>9}  {rule}\n"));
        }
        match self.no_json {
            0 => {}
            1 => text.push_str("redact: warning: 1 line was no JSON and was masked as text\n"),
            lines => text.push_str(&format!(
                "redact: warning: {lines} lines were no JSON and were masked as text\n"
            )),
        }
        print(&text);
    }

    fn figures(&self) -> String {
        let megabytes = self.bytes as f64 / 1e6;
        let seconds = (now() - self.begun).as_secs_f64().max(1e-6);
        let findings: u64 = self.found.values().sum();
        let s = if findings == 1 { "" } else { "s" };
        format!("{megabytes:.1} MB, {:.1} MB/s, {findings} finding{s}", megabytes / seconds)
    }
}

fn print(text: &str) {
    // That nobody reads the report is no reason to stop.
    let _ = io::stderr().write_all(text.as_bytes());
}

#[expect(clippy::disallowed_methods, reason = "what is shown is how long a person waited")]
fn now() -> Instant {
    Instant::now()
}
