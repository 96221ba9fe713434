//! One folder of real files, and nothing outside it.
//!
//! Every file is opened through a handle of the folder (`cap-std`), so the operating system resolves each path below
//! that handle: `..`, absolute paths and symlinks that lead out are refused at the moment of opening. There is no
//! check that a rename between check and use could outrun. A hard link is not a path: what somebody links into the
//! folder is in the folder.

use std::{fmt, io, path::Path, path::PathBuf, sync::Arc};

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use tokio_util::sync::CancellationToken;

mod list;
mod read;
mod search;

pub(crate) use self::{read::Lines, search::Query};

/// A folder that tools may look into. Clones share one handle.
#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: Dir,
    path: PathBuf,
}

/// Why a tool did not do what was asked, in words for the model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Refused(String);

impl Folder {
    /// Opens the folder that everything else stays within.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self(Arc::new(Inner { dir, path })))
    }

    /// Runs file work off the threads that serve requests.
    ///
    /// When the future is dropped, `stop` is cancelled. A thread cannot be stopped from outside, so work that may take
    /// long looks at it; the rest ends within one system call.
    pub(crate) async fn blocking<T, W>(&self, work: W) -> Result<T, Refused>
    where
        T: Send + 'static,
        W: FnOnce(&Self, &CancellationToken) -> Result<T, Refused> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let _cancel_on_drop = stop.clone().drop_guard();
        let folder = self.clone();
        match tokio::task::spawn_blocking(move || work(&folder, &stop)).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(Refused::new("The server is shutting down; nothing was done.")),
        }
    }

    /// Deletes a file.
    pub(crate) fn delete(&self, path: &str) -> Result<String, Refused> {
        let inside = relative(path)?;
        self.0.dir.remove_file(inside).map_err(|error| Refused::from_io(path, &error))?;
        Ok(format!("Deleted {path}."))
    }

    /// Opens an ordinary file for reading. A pipe in the folder must not block a thread for good, so the open waits for
    /// nothing and only then looks at what it opened.
    fn open_file(&self, path: &str) -> Result<(File, u64), Refused> {
        let inside = relative(path)?;
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true);
        let file = self.0.dir.open_with(inside, &options);
        let file = file.map_err(|error| Refused::from_io(path, &error))?;
        let about = file.metadata().map_err(|error| Refused::from_io(path, &error))?;
        if about.is_dir() {
            return Err(Refused(format!("{path} is a folder; list_files shows what is in it.")));
        }
        if !about.is_file() {
            return Err(Refused(format!("{path} is not an ordinary file; it was not read.")));
        }
        Ok((file, about.len()))
    }
}

/// The path as one below the folder; empty means the folder itself.
fn relative(path: &str) -> Result<&Path, Refused> {
    let trimmed = path.trim();
    if trimmed.contains('\0') {
        return Err(Refused::new("A path cannot contain a NUL character; nothing was opened."));
    }
    let inside = Path::new(if trimmed.is_empty() { "." } else { trimmed });
    if inside.is_absolute() || inside.has_root() {
        return Err(Refused(format!(
            "{path} is an absolute path; nothing was opened. Paths start in the folder, like docs/overview.md."
        )));
    }
    Ok(inside)
}

impl Refused {
    fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn from_io(path: &str, error: &io::Error) -> Self {
        // A path that leaves the folder is refused by cap-std, not by the operating system.
        let leaves =
            error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        if leaves {
            return Self(format!(
                "{path} leads out of the folder; nothing was opened. Stay within it."
            ));
        }
        Self(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("{path} does not exist; list_files shows what does.")
            }
            io::ErrorKind::PermissionDenied => format!("{path} may not be opened."),
            io::ErrorKind::NotADirectory => format!("{path} is not a folder."),
            io::ErrorKind::IsADirectory => format!("{path} is a folder."),
            kind => format!("{path} could not be opened: {kind}."),
        })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// `1 file`, `2 files`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
