use std::{
    io::{self, Read},
    path::Path,
};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Lossy};
use ignore::{Walk, WalkBuilder};
use tokio_util::sync::CancellationToken;

use super::{Folder, Refused, counted, relative};

/// More hits than a reader can use.
const MOST_HITS: usize = 50;
/// What is shown of a line, in characters.
const SHOWN: usize = 200;
/// The longest line that is searched, in bytes; a file with a longer one is skipped and counted.
const LONGEST_LINE: usize = 1_000_000;
/// What a pattern may cost once compiled, in bytes.
const LARGEST_PATTERN: usize = 1_000_000;

/// What to search for, and where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) pattern: String,
    pub(crate) path: String,
    pub(crate) regex: bool,
}

#[derive(Default)]
struct Hits {
    lines: Vec<String>,
    files: usize,
    skipped: usize,
}

impl Folder {
    /// The lines that match, in the order of their paths. What `.gitignore` excludes, what is binary, and what a
    /// symlink points to is not searched.
    pub(crate) fn search(
        &self,
        query: &Query,
        stop: &CancellationToken,
    ) -> Result<String, Refused> {
        let matcher = matcher(query)?;
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LONGEST_LINE))
            .build();
        let mut hits = Hits::default();
        for path in self.files(&query.path)? {
            if stop.is_cancelled() || hits.is_full() {
                break;
            }
            self.search_file(&path, &matcher, &mut searcher, stop, &mut hits);
        }
        Ok(hits.report(&query.pattern))
    }

    /// The files below a path. The walk only proposes names: whatever it finds is opened through the folder's handle.
    fn files(&self, path: &str) -> Result<impl Iterator<Item = String>, Refused> {
        let inside = self.0.dir.canonicalize(relative(path)?);
        let inside = inside.map_err(|error| Refused::from_io(path, &error))?;
        let root = self.0.path.clone();
        Ok(walk(&root.join(inside)).flatten().filter_map(move |entry| {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let name = entry.path().strip_prefix(&root).ok()?.to_str()?;
            is_file.then(|| name.to_owned())
        }))
    }

    fn search_file(
        &self,
        path: &str,
        matcher: &RegexMatcher,
        searcher: &mut Searcher,
        stop: &CancellationToken,
        hits: &mut Hits,
    ) {
        let Ok((file, _)) = self.open_file(path) else {
            hits.skipped += 1;
            return;
        };
        let before = hits.lines.len();
        let sink = Lossy(|number, line| {
            hits.lines.push(format!("{path}:{number}: {}", around_match(line, matcher)));
            Ok(!hits.is_full())
        });
        let searched = searcher.search_reader(matcher, Stoppable { file, stop }, sink);
        hits.skipped += usize::from(searched.is_err());
        hits.files += usize::from(hits.lines.len() > before);
    }
}

fn matcher(query: &Query) -> Result<RegexMatcher, Refused> {
    if query.pattern.is_empty() {
        return Err(Refused::new("The pattern is empty; nothing was searched."));
    }
    RegexMatcherBuilder::new()
        .fixed_strings(!query.regex)
        .case_smart(true)
        .line_terminator(Some(b'\n'))
        .size_limit(LARGEST_PATTERN)
        .build(&query.pattern)
        .map_err(|error| {
            Refused(format!("The pattern cannot be used ({error}); nothing was searched."))
        })
}

/// Ignore files count, but only those within the folder: what lies above it is none of a tool's business.
fn walk(start: &Path) -> Walk {
    WalkBuilder::new(start)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build()
}

/// A long line is shown around its match.
fn around_match(line: &str, matcher: &RegexMatcher) -> String {
    let line = line.trim_end();
    let found = matcher.find(line.as_bytes()).ok().flatten().map_or(0, |found| found.start());
    let before = line.char_indices().take_while(|(at, _)| *at < found).count();
    let skipped = before.saturating_sub(SHOWN / 4);
    let shown: String = line.chars().skip(skipped).take(SHOWN).collect();
    let cut_off = line.chars().nth(skipped + SHOWN).is_some();
    let (head, tail) = (if skipped > 0 { "…" } else { "" }, if cut_off { "…" } else { "" });
    format!("{head}{}{tail}", shown.trim_start())
}

impl Hits {
    fn is_full(&self) -> bool {
        self.lines.len() >= MOST_HITS
    }

    fn report(self, pattern: &str) -> String {
        let lines = counted(self.lines.len(), "line", "lines");
        let files = counted(self.files, "file", "files");
        let mut text = match self.lines.len() {
            0 => format!("No line matches {pattern:?}."),
            _ => format!("{lines} in {files} match {pattern:?}:\n{}", self.lines.join("\n")),
        };
        if self.is_full() {
            text.push_str(&format!(
                "\n[Stopped after {lines}: a narrower pattern or path finds the rest.]"
            ));
        }
        if self.skipped > 0 {
            let files = counted(self.skipped, "file", "files");
            text.push_str(&format!("\n[{files} could not be searched.]"));
        }
        text
    }
}

/// A file that ends with an error once nobody waits for the search.
struct Stoppable<'a> {
    file: cap_std::fs::File,
    stop: &'a CancellationToken,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
