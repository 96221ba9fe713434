//! Letting a client that was refused finish what it is sending.
//!
//! To one that cannot, a connection that closes is a broken pipe, and it never reads why it was refused. Who refuses
//! is of no matter here: a route, a layer around it, or axum where no route fits.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{Request, header::EXPECT};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::{sync::oneshot, time::timeout};

/// Whoever sends more, or more slowly, may see the broken pipe.
const MOST: usize = 16 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// A request's body, which comes back if it is dropped before its end.
pub(super) struct Lingering {
    body: Option<Incoming>,
    dropped: Option<oneshot::Sender<Incoming>>,
}

/// Where the rest of a body comes back.
pub(super) struct Rest(oneshot::Receiver<Incoming>);

pub(super) fn split(request: Request<Incoming>) -> (Request<Lingering>, Rest) {
    let (dropped, rest) = oneshot::channel();
    // Who asks first whether to send at all has sent nothing, and should not be told to.
    let dropped = Some(dropped).filter(|_| !request.headers().contains_key(EXPECT));
    (request.map(|body| Lingering { body: Some(body), dropped }), Rest(rest))
}

impl Rest {
    /// Takes in what nobody wanted, for a while. Does nothing where the body was read, or is still being read.
    pub(super) async fn take_in(mut self) {
        if let Ok(body) = self.0.try_recv() {
            let mut body = Limited::new(body, MOST);
            let all = async { while let Some(Ok(_)) = body.frame().await {} };
            let _ = timeout(PATIENCE, all).await;
        }
    }
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let Some((rest, dropped)) = rest.zip(self.dropped.take()) {
            // Where the connection is gone, so is the client.
            let _ = dropped.send(rest);
        }
    }
}
