use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{mpsc, oneshot};
use tower_agent_core::{Error, ErrorKind, ToolCall, ToolOutput, ToolSpec};
use tower_service::Service;

use crate::panics::panic_with;

type Answer = Result<ToolOutput, Error>;

/// A tool whose calls a test answers one by one, and the handle with which it does.
///
/// ```
/// use tower_agent_core::{ToolCall, ToolOutput, ToolSpec};
/// use tower_agent_test::mock_tool;
/// use tower_service::Service;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (mut tool, mut handle) = mock_tool(ToolSpec::new("search", "Finds pages."));
/// let answer = tool.call(ToolCall::new("search", r#"{"query": "tower"}"#));
///
/// let call = handle.next_call().await;
/// assert_eq!(call.arguments.value().unwrap()["query"], "tower");
/// call.respond(ToolOutput::text("3 pages"));
/// assert_eq!(answer.await.unwrap().joined_text(), "3 pages");
/// # }
/// ```
pub fn mock_tool(spec: impl Into<Arc<ToolSpec>>) -> (MockTool, ToolHandle) {
    let (send, receive) = mpsc::unbounded_channel();
    (MockTool { spec: spec.into(), calls: send }, ToolHandle { calls: receive })
}

/// The tool of [`mock_tool`]; clones share the handle.
#[derive(Clone, Debug)]
pub struct MockTool {
    spec: Arc<ToolSpec>,
    calls: mpsc::UnboundedSender<PendingCall>,
}

/// Receives the calls of a [`MockTool`].
#[derive(Debug)]
pub struct ToolHandle {
    calls: mpsc::UnboundedReceiver<PendingCall>,
}

/// A call that waits for its answer; reads as the [`ToolCall`] itself.
#[derive(Debug)]
#[must_use = "a call that is dropped unanswered fails"]
pub struct PendingCall {
    call: ToolCall,
    answer: oneshot::Sender<Answer>,
}

impl MockTool {
    /// What the tool says of itself.
    #[must_use]
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }
}

impl ToolHandle {
    /// Waits for the next call.
    ///
    /// # Panics
    /// When no call can come any more because every clone of the tool is gone.
    pub async fn next_call(&mut self) -> PendingCall {
        match self.calls.recv().await {
            Some(call) => call,
            None => panic_with("the tool is gone and no call is left"),
        }
    }

    /// The next call, if it has come already.
    pub fn try_next_call(&mut self) -> Option<PendingCall> {
        self.calls.try_recv().ok()
    }

    /// Checks that no call waits for an answer.
    ///
    /// # Panics
    /// When one does.
    #[track_caller]
    pub fn assert_idle(&mut self) {
        let waiting = self.try_next_call();
        assert!(waiting.is_none(), "an unexpected call: {waiting:?}");
    }
}

impl PendingCall {
    /// The call.
    #[must_use]
    pub fn request(&self) -> &ToolCall {
        &self.call
    }

    /// Answers the call. It does not matter when the caller has given up.
    pub fn respond(self, output: ToolOutput) {
        let _ = self.answer.send(Ok(output));
    }

    /// Fails the call.
    pub fn fail(self, error: Error) {
        let _ = self.answer.send(Err(error));
    }

    /// Whether the caller has given up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.answer.is_closed()
    }

    /// Waits until the caller gives up.
    pub async fn cancelled(&mut self) {
        self.answer.closed().await;
    }
}

impl std::ops::Deref for PendingCall {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        &self.call
    }
}

impl Service<ToolCall> for MockTool {
    type Response = ToolOutput;
    type Error = Error;
    type Future = MockFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> MockFuture {
        let (answer, wait) = oneshot::channel();
        // When the handle is gone, the answer's sender is dropped here, and the call fails.
        let _ = self.calls.send(PendingCall { call, answer });
        MockFuture(wait)
    }
}

/// The answer of a [`MockTool`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct MockFuture(oneshot::Receiver<Answer>);

impl Future for MockFuture {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        Pin::new(&mut self.0).poll(cx).map(|answer| {
            answer.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Unavailable, "the test did not answer the call"))
            })
        })
    }
}
