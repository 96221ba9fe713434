use super::{Folder, Refused, counted, relative};

/// More entries than a reader can use.
const MOST: usize = 200;
/// A folder larger than this is not sorted as a whole, so that it cannot fill the memory.
const MOST_READ: usize = 20_000;

impl Folder {
    /// What is in a folder: subfolders first, one entry a line.
    pub(crate) fn list(&self, path: &str) -> Result<String, Refused> {
        let inside = relative(path)?;
        let entries =
            self.0.dir.read_dir(inside).map_err(|error| Refused::from_io(path, &error))?;
        let mut entries: Vec<_> =
            entries.take(MOST_READ).flatten().map(|entry| Line::new(&entry)).collect();
        entries.sort();
        let name = if path.trim().is_empty() { "." } else { path.trim() };
        if entries.is_empty() {
            return Ok(format!("{name} is empty."));
        }
        let total = entries.len();
        let mut text = format!("{} in {name}:", counted(total, "entry", "entries"));
        for entry in entries.iter().take(MOST) {
            text.push('\n');
            text.push_str(&entry.text);
        }
        if total > MOST {
            text.push_str(&format!("\n[{} more are not shown]", total - MOST));
        }
        Ok(text)
    }
}

#[derive(Eq, PartialEq, Ord, PartialOrd)]
struct Line {
    is_file: bool,
    text: String,
}

impl Line {
    fn new(entry: &cap_std::fs::DirEntry) -> Self {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The metadata is that of a link itself, so that a listing tells nothing of what is outside.
        let Ok(about) = entry.metadata() else {
            return Self { is_file: true, text: name };
        };
        if about.is_dir() {
            return Self { is_file: false, text: format!("{name}/") };
        }
        let kind = if about.is_symlink() {
            "link".to_owned()
        } else if about.is_file() {
            size(about.len())
        } else {
            "special file".to_owned()
        };
        Self { is_file: true, text: format!("{name} ({kind})") }
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
