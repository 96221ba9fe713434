//! A tool that repeats its arguments, and counts how often it ran. A test binary gets it by
//! `#[path = "support/echo.rs"] mod echo;`.

use std::{
    future::{Ready, ready},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use tower::Service;
use tower_agent::{Error, ErrorKind, ToolCall, ToolOutput};

/// Repeats its arguments; a call of `fail` fails and one of `crash` panics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Echo(Arc<AtomicU32>);

impl Echo {
    pub(crate) fn runs(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

impl Service<ToolCall> for Echo {
    type Response = ToolOutput;
    type Error = Error;
    type Future = Ready<Result<ToolOutput, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        self.0.fetch_add(1, SeqCst);
        ready(match call.name.as_str() {
            "fail" => Err(Error::new(ErrorKind::Tool, "no such file").with_source(NoSuchFile)),
            "crash" => crash(),
            _ => Ok(ToolOutput::text(call.arguments.as_str())),
        })
    }
}

/// What only the tool itself can have said.
#[derive(Debug)]
pub(crate) struct NoSuchFile;

impl std::fmt::Display for NoSuchFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no such file")
    }
}

impl std::error::Error for NoSuchFile {}

/// Panics without a word on the console.
pub(crate) fn crash<T>() -> T {
    std::panic::resume_unwind(Box::new("boom"))
}
