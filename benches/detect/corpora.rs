//! Text to search: what the local registry holds of crates, and logs that are made up. The same at each run on the same
//! machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The names of the corpora.
pub(crate) const CORPORA: [&str; 3] = ["code", "docs", "logs"];

/// Bytes of one file at most, so that none is most of a corpus.
const OF_FILE: usize = 20_000;

/// A corpus by its name.
pub(crate) fn corpus(name: &str, len: usize) -> Vec<u8> {
    match name {
        "code" => files("rs", len),
        "docs" => files("md", len),
        _ => logs(len),
    }
}

/// Files with an extension from the crates whose names begin in the second half of the alphabet. The words' anchors were
/// chosen by what the first half holds.
fn files(extension: &str, len: usize) -> Vec<u8> {
    let mut found = Vec::new();
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    for package in home
        .iter()
        .flat_map(|home| folders(&home.join("registry/src")))
        .flat_map(|source| folders(&source))
    {
        if package.file_name().is_some_and(|name| name.as_encoded_bytes() >= b"n".as_slice()) {
            walk(&package, extension, &mut found);
        }
    }
    found.sort();
    assert!(
        !found.is_empty(),
        "the local registry holds no `.{extension}` file; build the workspace first"
    );
    let mut random = Random(7);
    let mut text = Vec::with_capacity(len + OF_FILE);
    while text.len() < len {
        let file = fs::read(&found[random.below(found.len() as u64) as usize]).unwrap_or_default();
        text.extend_from_slice(&file[..file.len().min(OF_FILE)]);
        text.push(b'\n');
    }
    text.truncate(len);
    text
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, extension, found);
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
}

/// Lines of JSON as a server writes them.
fn logs(len: usize) -> Vec<u8> {
    const LEVELS: [&str; 4] = ["info", "warn", "debug", "error"];
    const PATHS: [&str; 6] =
        ["/api/v1/users", "/api/v1/orders", "/health", "/static/app.js", "/search", "/metrics"];
    const MESSAGES: [&str; 8] = [
        "request completed",
        "connection accepted",
        "cache entry refreshed",
        "retrying after a timeout",
        "job enqueued",
        "migration applied",
        "user signed in",
        "index rebuilt",
    ];
    let mut random = Random(1);
    let mut text = String::with_capacity(len + 512);
    while text.len() < len {
        let r = &mut random;
        text += &format!(
            "{{\"timestamp\":\"2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z\",\"level\":\"{}\",\"target\":\"server::http\",",
            r.below(12) + 1,
            r.below(28) + 1,
            r.below(24),
            r.below(60),
            r.below(60),
            r.below(1000),
            r.pick(&LEVELS),
        );
        text += &format!(
            "\"message\":\"{}\",\"request_id\":\"{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}\",\"path\":\"{}/{}\",",
            r.pick(&MESSAGES),
            r.below(1 << 32),
            r.below(1 << 16),
            r.below(1 << 12),
            r.below(1 << 12),
            r.below(1 << 48),
            r.pick(&PATHS),
            r.below(100_000),
        );
        text += &format!(
            "\"status\":{},\"duration_ms\":{},\"bytes\":{},\"peer\":\"worker-{}:{}\"}}\n",
            r.pick(&["200", "201", "404", "500"]),
            r.below(3000),
            r.below(100_000),
            r.below(256),
            r.below(60_000),
        );
    }
    text.truncate(len);
    text.into_bytes()
}

/// Marsaglia's shifts: as random as a log needs.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len() as u64) as usize]
    }
}
