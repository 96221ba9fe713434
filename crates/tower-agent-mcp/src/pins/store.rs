use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use tower_agent_core::{BoxError, Json, Str};

/// The pins of one server, by the names of its tools.
pub type PinnedTools = BTreeMap<Str, Pin>;

/// A definition as it was first seen, or last accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pin {
    /// SHA-256 of the canonical definition, in hexadecimal digits.
    pub digest: String,
    /// The definition, to show what changed.
    pub definition: Json,
}

impl Pin {
    /// The pin of a definition.
    #[must_use]
    pub fn new(definition: Json) -> Self {
        let digest = definition.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { digest, definition }
    }
}

/// Where pins are kept. Its methods may block.
pub trait PinStore: Send + Sync + 'static {
    /// The pins of a server; none if it was never seen.
    ///
    /// # Errors
    /// When they cannot be read. The server is then not connected, for what is pinned would be unknown.
    fn load(&self, server: &str) -> Result<PinnedTools, BoxError>;

    /// Adds pins to those of a server, in the place of those with the same names.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn put(&self, server: &str, pins: &PinnedTools) -> Result<(), BoxError>;
}

/// Pins that last as long as this.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, PinnedTools>>);

impl PinStore for MemoryStore {
    fn load(&self, server: &str) -> Result<PinnedTools, BoxError> {
        let servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(servers.get(server).cloned().unwrap_or_default())
    }

    fn put(&self, server: &str, pins: &PinnedTools) -> Result<(), BoxError> {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.entry(server.to_owned()).or_default().extend(pins.clone());
        Ok(())
    }
}

/// Pins in a JSON file. Writers take turns by a lock on a file beside it, and replace it in one step.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    servers: BTreeMap<String, PinnedTools>,
}

impl FileStore {
    /// Pins in the file of a path; its directory must be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn read(&self) -> Result<Contents, BoxError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::default()),
            Err(error) => return Err(about(&self.path, &error)),
        };
        serde_json::from_slice(&text).map_err(|error| about(&self.path, &error))
    }

    fn write(&self, contents: &Contents) -> Result<(), BoxError> {
        let mut text = serde_json::to_vec_pretty(contents)?;
        text.push(b'\n');
        let new = beside(&self.path, "new");
        let write = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            io::Write::write_all(&mut file, &text)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|error| about(&self.path, &error))
    }
}

impl PinStore for FileStore {
    fn load(&self, server: &str) -> Result<PinnedTools, BoxError> {
        Ok(self.read()?.servers.remove(server).unwrap_or_default())
    }

    fn put(&self, server: &str, pins: &PinnedTools) -> Result<(), BoxError> {
        let path = beside(&self.path, "lock");
        let lock = File::create(&path).map_err(|error| about(&path, &error))?;
        // It opens again when it is closed, whatever happens.
        lock.lock().map_err(|error| about(&path, &error))?;
        let mut contents = self.read()?;
        contents.servers.entry(server.to_owned()).or_default().extend(pins.clone());
        self.write(&contents)
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

fn about(path: &Path, error: &dyn std::error::Error) -> BoxError {
    format!("the pins in `{}`: {error}", path.display()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(name: &str, text: &str) -> PinnedTools {
        [(name.into(), Pin::new(Json::from_text(text)))].into()
    }

    #[test]
    fn a_file_keeps_what_was_put_there_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pins.json");
        let store = FileStore::new(&path);
        assert_eq!(store.load("a").unwrap(), PinnedTools::new());
        store.put("a", &pins("x", "{}")).unwrap();
        FileStore::new(&path).put("a", &pins("y", r#"{"n": 1}"#)).unwrap();
        FileStore::new(&path).put("b", &pins("x", "{}")).unwrap();
        let names: Vec<_> = store.load("a").unwrap().into_keys().collect();
        assert_eq!(names, ["x", "y"]);
        assert!(!beside(&path, "new").exists());
    }

    #[test]
    fn writers_that_meet_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pins.json");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    FileStore::new(path).put("a", &pins(&format!("t{number}"), "{}")).unwrap();
                });
            }
        });
        assert_eq!(FileStore::new(&path).load("a").unwrap().len(), 8);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pins.json");
        fs::write(&path, "{\"servers\": ").unwrap();
        let store = FileStore::new(&path);
        for error in [store.load("a").unwrap_err(), store.put("a", &pins("x", "{}")).unwrap_err()] {
            assert!(error.to_string().contains("pins.json`: EOF while parsing"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"servers\": ");
    }

    #[test]
    fn a_digest_is_of_what_a_definition_says() {
        let one = Pin::new(Json::from_text(r#"{"a": 1, "b": 2}"#));
        assert_eq!(one.digest, Pin::new(Json::from_text(r#"{"b":2,"a":1}"#)).digest);
        assert_ne!(one.digest, Pin::new(Json::from_text(r#"{"a": 1, "b": 3}"#)).digest);
        assert_eq!(one.digest.len(), 64);
    }
}
