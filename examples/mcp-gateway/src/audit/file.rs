use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

/// How many lines may wait for the disk.
const QUEUE: usize = 4096;
/// How long the end of the program waits for the disk.
const FAREWELL: Duration = Duration::from_secs(2);

/// A file that lines are appended to, by a thread of its own, so that a slow disk holds no call up.
///
/// What cannot be written (the disk is full, or more lines wait than may) is lost, and counted: standard error tells when it
/// begins, and a line `{"lost": N}` stands where the lines are missing, once the file can be written again. A file that was moved
/// away is made anew.
#[derive(Debug)]
pub(crate) struct AuditFile {
    queue: Option<Queue>,
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Queue {
    lines: SyncSender<String>,
    ended: Mutex<Receiver<()>>,
}

struct Writer {
    path: PathBuf,
    file: File,
    lost: Arc<AtomicU64>,
    /// Whether the last line may have been written in part.
    is_torn: bool,
}

impl AuditFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let lost = Arc::new(AtomicU64::new(0));
        let mut writer = Writer {
            path: path.to_owned(),
            file: append(path)?,
            lost: Arc::clone(&lost),
            is_torn: false,
        };
        let (lines, waiting) = sync_channel::<String>(QUEUE);
        let (end, ended) = sync_channel(0);
        thread::Builder::new().name("audit".to_owned()).spawn(move || {
            for line in waiting {
                writer.take(&line);
            }
            drop(end);
        })?;
        Ok(Self { queue: Some(Queue { lines, ended: Mutex::new(ended) }), lost })
    }

    pub(super) fn nowhere() -> Self {
        Self { queue: None, lost: Arc::default() }
    }

    /// Hands a line on and returns at once.
    pub(super) fn write(&self, line: String) {
        let Some(queue) = &self.queue else { return };
        if queue.lines.try_send(line).is_err() && self.lost.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::error!("the audit file is too slow; lines are lost");
        }
    }
}

impl Drop for AuditFile {
    fn drop(&mut self) {
        let Some(Queue { lines, ended }) = self.queue.take() else { return };
        drop(lines);
        let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(FAREWELL) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the last lines of the audit file could not be written in time");
        }
    }
}

impl Writer {
    fn take(&mut self, line: &str) {
        if let Err(error) = self.append(line)
            && self.lost.fetch_add(1, Ordering::Relaxed) == 0
        {
            let file = self.path.display();
            tracing::error!(%file, %error, "the audit file cannot be written; lines are lost");
        }
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if is_another(&self.file, &self.path) {
            self.file = append(&self.path)?;
            self.is_torn = false;
        }
        let lost = self.lost.load(Ordering::Relaxed);
        let mut text = String::with_capacity(line.len() + 1);
        if self.is_torn {
            text.push('\n');
        }
        if lost > 0 {
            text.push_str(&format!("{{\"lost\":{lost}}}\n"));
        }
        text.push_str(line);
        text.push('\n');
        self.is_torn = true;
        self.file.write_all(text.as_bytes())?;
        self.is_torn = false;
        self.lost.fetch_sub(lost, Ordering::Relaxed);
        Ok(())
    }
}

/// Opens a file at its end. A new one is for its owner alone.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether a path leads to another file now, or to none.
#[cfg(unix)]
fn is_another(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => id(open) != id(there),
        (Ok(_), Err(error)) => error.kind() == io::ErrorKind::NotFound,
        (Err(_), _) => false,
    }
}

#[cfg(not(unix))]
const fn is_another(_: &File, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::AuditFile;

    #[test]
    fn lines_are_appended_and_a_file_that_was_moved_away_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("audit.jsonl"), folder.path().join("old"));
        fs::write(&path, "before\n").unwrap();
        let audit = AuditFile::open(&path).unwrap();
        audit.write("one".to_owned());
        drop(audit);
        assert_eq!(fs::read_to_string(&path).unwrap(), "before\none\n");

        let audit = AuditFile::open(&path).unwrap();
        fs::rename(&path, &moved).unwrap();
        audit.write("two".to_owned());
        drop(audit);
        assert_eq!(fs::read_to_string(&moved).unwrap(), "before\none\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        drop(AuditFile::open(&path).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    /// `/dev/full` is a disk that is full.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_holds_nobody_up_and_what_is_lost_is_counted() {
        use std::{path::PathBuf, sync::Arc};

        let lost = Arc::default();
        let full = fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
        let path = PathBuf::from("/dev/full");
        let mut writer =
            super::Writer { path, file: full, lost: Arc::clone(&lost), is_torn: false };
        writer.take("one");
        writer.take("two");
        assert_eq!(lost.load(std::sync::atomic::Ordering::Relaxed), 2);

        let folder = tempfile::tempdir().unwrap();
        writer.path = folder.path().join("audit.jsonl");
        writer.take("three");
        assert_eq!(fs::read_to_string(&writer.path).unwrap(), "{\"lost\":2}\nthree\n");
        assert_eq!(lost.load(std::sync::atomic::Ordering::Relaxed), 0);
    }
}
