use std::io::Read;

use super::{Folder, Refused, counted, list::size};

/// The largest file that is read; a larger one can still be searched.
const LARGEST: u64 = 1_000_000;
/// How far a file is looked at to find out that it is not text.
const SNIFFED: usize = 8_192;

/// Which lines of a file, from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) first: Option<usize>,
    pub(crate) count: Option<usize>,
}

impl Folder {
    /// The text of a file, or some lines of it.
    pub(crate) fn read(&self, path: &str, lines: Lines) -> Result<String, Refused> {
        let (file, length) = self.open_file(path)?;
        if length > LARGEST {
            return Err(too_large(path, length));
        }
        let mut bytes = Vec::new();
        // The file may have grown since its length was read.
        file.take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Refused::from_io(path, &error))?;
        if bytes.len() as u64 > LARGEST {
            return Err(too_large(path, bytes.len() as u64));
        }
        if bytes.iter().take(SNIFFED).any(|byte| *byte == 0) {
            return Err(Refused(format!(
                "{path} is a binary file ({}); it cannot be read as text.",
                size(length)
            )));
        }
        lines.of(path, &decode(bytes))
    }
}

impl Lines {
    fn of(self, path: &str, text: &str) -> Result<String, Refused> {
        if text.is_empty() {
            return Ok(format!("{path} is empty."));
        }
        if self.first.is_none() && self.count.is_none() {
            return Ok(text.to_owned());
        }
        let skipped = self.first.unwrap_or(1).saturating_sub(1);
        let chosen =
            text.split_inclusive('\n').skip(skipped).take(self.count.unwrap_or(usize::MAX));
        let chosen: String = chosen.collect();
        if chosen.is_empty() {
            let all = counted(text.lines().count(), "line", "lines");
            return Err(Refused(format!(
                "{path} has {all}; the lines asked for are not among them."
            )));
        }
        Ok(chosen)
    }
}

fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(error.as_bytes());
        format!("{text}\n[Some bytes are not UTF-8; they are shown as \u{fffd}.]")
    })
}

fn too_large(path: &str, length: u64) -> Refused {
    let (length, limit) = (size(length), size(LARGEST));
    Refused(format!(
        "{path} is too large to read ({length}; the limit is {limit}). Find the lines that matter with search_files."
    ))
}
