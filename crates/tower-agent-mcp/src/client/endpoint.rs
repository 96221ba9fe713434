use std::{fmt, io, pin::Pin, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Child, Http};

/// How a server is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Endpoint {
    /// A program of this machine.
    Child(Child),
    /// A URL.
    Http(Http),
    /// Any pair of byte streams.
    Streams(Streams),
}

impl From<Child> for Endpoint {
    fn from(child: Child) -> Self {
        Self::Child(child)
    }
}

impl From<Http> for Endpoint {
    fn from(http: Http) -> Self {
        Self::Http(http)
    }
}

impl From<Streams> for Endpoint {
    fn from(streams: Streams) -> Self {
        Self::Streams(streams)
    }
}

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Opening = Pin<Box<dyn Future<Output = io::Result<(Reader, Writer)>> + Send>>;

/// A server behind any pair of byte streams that carries a message a line: a socket, a pipe, a server in this process.
#[derive(Clone)]
pub struct Streams(Arc<dyn Fn() -> Opening + Send + Sync>);

impl Streams {
    /// Streams that a function opens, once for each connection.
    pub fn new<F, Fut, R, W>(open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self(Arc::new(move || {
            let opening = open();
            Box::pin(async move {
                let (read, write) = opening.await?;
                Ok((Box::new(read) as Reader, Box::new(write) as Writer))
            })
        }))
    }

    pub(crate) fn open(&self) -> Opening {
        (self.0)()
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}
