//! Notices when a file changes.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tokio::{
    fs,
    time::{Interval, MissedTickBehavior, interval},
};

/// How often the file is looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// What of a file shows that it changed: its time, its length and, where it was replaced, which file it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    id: u64,
}

/// A file that is looked at now and then.
#[derive(Debug)]
pub(crate) struct Watch {
    path: PathBuf,
    seen: Option<Stamp>,
    looks: Interval,
}

impl Watch {
    pub(crate) fn new(path: &Path) -> Self {
        let mut looks = interval(INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { path: path.to_owned(), seen: stamp(std::fs::metadata(path)), looks }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the file is another one than the last time. A file that is away for a while is not another one.
    pub(crate) async fn changed(&mut self) {
        loop {
            self.looks.tick().await;
            let now = stamp(fs::metadata(&self.path).await);
            if now.is_some() && now != self.seen {
                self.seen = now;
                return;
            }
        }
    }
}

fn stamp(metadata: std::io::Result<std::fs::Metadata>) -> Option<Stamp> {
    let metadata = metadata.ok()?;
    Some(Stamp { modified: metadata.modified().ok(), length: metadata.len(), id: id(&metadata) })
}

#[cfg(unix)]
fn id(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
const fn id(_: &std::fs::Metadata) -> u64 {
    0
}
