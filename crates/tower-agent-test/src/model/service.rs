use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tower_agent_core::{CallId, Error, ErrorKind, Json, ModelRequest, ModelResponse, Str};
use tower_service::Service;

use super::Turn;

/// A model that follows a script, turn by turn, and remembers every request.
///
/// Clones follow the same script. Past its end every call is an error, unless
/// [`repeat_last`](Self::repeat_last) says otherwise; [`ModelHandle::assert_used_up`] finds such calls even
/// where a layer hid the error.
///
/// ```
/// use tower_agent_core::{Message, ModelRequest};
/// use tower_agent_test::{ScriptedModel, Turn};
/// use tower_service::Service;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent_core::Error> {
/// let mut model = ScriptedModel::new([Turn::text("hi"), Turn::text("bye").in_pieces(1)]);
/// let handle = model.handle();
///
/// let request = ModelRequest::new("demo", vec![Message::user("hello")]);
/// assert_eq!(model.call(request.clone()).await?.body.collect().await?.message.text(), "hi");
/// assert!(model.call(request.clone()).await?.body.is_stream());
/// assert!(model.call(request).await.is_err());
///
/// assert_eq!(handle.calls(), 3);
/// assert_eq!(handle.requests()[0].messages[0].text(), "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
}

/// What a test reads about a [`ScriptedModel`] and its requests.
#[derive(Clone, Debug)]
pub struct ModelHandle {
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    turns: VecDeque<Turn>,
    repeat_last: bool,
    requests: Vec<ModelRequest>,
    beyond: usize,
}

impl Script {
    fn next(&mut self, request: &ModelRequest) -> Turn {
        self.requests.push(request.clone());
        if self.repeat_last && self.turns.len() == 1 {
            return self.turns.front().cloned().unwrap_or_else(Turn::hang);
        }
        self.turns.pop_front().unwrap_or_else(|| {
            self.beyond += 1;
            let text = format!("the script has no turn for call {}", self.requests.len());
            Turn::error(Error::new(ErrorKind::Other, text))
        })
    }
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedModel {
    /// A model that answers with these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let script = Script { turns: turns.into_iter().collect(), ..Script::default() };
        Self { script: Arc::new(Mutex::new(script)) }
    }

    /// A model that answers one text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::new([Turn::text(text)])
    }

    /// A model that asks for one tool.
    pub fn tool_call(
        id: impl Into<CallId>,
        name: impl Into<Str>,
        arguments: impl Into<Json>,
    ) -> Self {
        Self::new([Turn::tool_call(id, name, arguments)])
    }

    /// A model whose every answer depends on the request.
    pub fn respond(respond: impl Fn(&ModelRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self::new([Turn::respond(respond)]).repeat_last()
    }

    /// Adds a turn.
    pub fn then(self, turn: Turn) -> Self {
        lock(&self.script).turns.push_back(turn);
        self
    }

    /// Answers with the last turn again and again.
    pub fn repeat_last(self) -> Self {
        lock(&self.script).repeat_last = true;
        self
    }

    /// What a test reads.
    #[must_use]
    pub fn handle(&self) -> ModelHandle {
        ModelHandle { script: Arc::clone(&self.script) }
    }
}

impl ModelHandle {
    /// Every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.script).requests.clone()
    }

    /// The latest request.
    #[must_use]
    pub fn last_request(&self) -> Option<ModelRequest> {
        lock(&self.script).requests.last().cloned()
    }

    /// How many requests there were.
    #[must_use]
    pub fn calls(&self) -> usize {
        lock(&self.script).requests.len()
    }

    /// How many turns the script still has; a turn that is repeated stays one.
    #[must_use]
    pub fn turns_left(&self) -> usize {
        lock(&self.script).turns.len()
    }

    /// Adds a turn to the script.
    pub fn push(&self, turn: Turn) {
        lock(&self.script).turns.push_back(turn);
    }

    /// Checks that the script was played to its end and not beyond.
    ///
    /// # Panics
    /// When turns are left (but for one that is repeated), or when there were more calls than turns.
    #[track_caller]
    pub fn assert_used_up(&self) {
        let (beyond, left) = {
            let script = lock(&self.script);
            (script.beyond, script.turns.len() - usize::from(script.repeat_last))
        };
        assert_eq!(beyond, 0, "calls beyond the end of the script");
        assert_eq!(left, 0, "turns of the script that nobody asked for");
    }
}

impl Service<ModelRequest> for ScriptedModel {
    type Response = ModelResponse;
    type Error = Error;
    type Future = ScriptFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: ModelRequest) -> ScriptFuture {
        let turn = lock(&self.script).next(&request);
        ScriptFuture(Box::pin(turn.play(request)))
    }
}

/// The answer of a [`ScriptedModel`].
#[must_use = "futures do nothing unless polled"]
pub struct ScriptFuture(Pin<Box<dyn Future<Output = Result<ModelResponse, Error>> + Send>>);

impl Future for ScriptFuture {
    type Output = Result<ModelResponse, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ScriptFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptFuture(..)")
    }
}
