//! What is logged while a test runs. A test binary gets it by `#[path = "support/log.rs"] mod log;`, and every test of such
//! a binary logs: one without a subscriber can keep `tracing` from asking the others' at all.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{Level, subscriber::DefaultGuard};

/// What was logged.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

static TURN: Mutex<()> = Mutex::new(());

/// Until this is dropped, the thread logs.
pub(crate) struct Logging {
    _default: DefaultGuard,
    _turn: MutexGuard<'static, ()>,
}

impl Lines {
    /// Logs what this thread does from a level on. One test at a time: a place that logs for the first time while another
    /// test brings its subscriber can be taken for one that nobody listens to.
    pub(crate) fn from(level: Level) -> (Self, Logging) {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(level)
            .with_ansi(false)
            .without_time()
            .finish();
        let default = tracing::subscriber::set_default(subscriber);
        (lines, Logging { _default: default, _turn: turn })
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).lines().map(|line| format!("{}\n", line.trim())).collect()
    }
}
