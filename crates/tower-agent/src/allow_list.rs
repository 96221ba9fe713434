//! Says by name which tools may run, and hides the others from the model.
//!
//! [`AllowListLayer`] lets only the listed tools run, [`DenyListLayer`] all but the listed ones. Names are [`Names`]: exact and
//! case-sensitive, or globs. An empty allow list refuses everything.
//!
//! ```
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{AllowListLayer, Error, ToolCall, ToolOutput};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let mut tools = ServiceBuilder::new()
//!     .layer(AllowListLayer::new(["read_file", "github.list_*"])?)
//!     .service(service_fn(|call: ToolCall| async move { Ok::<_, Error>(ToolOutput::text("done")) }));
//!
//! let output = tools.ready().await?.call(ToolCall::new("github.list_issues", "{}")).await?;
//! assert!(output.outcome.is_success());
//!
//! let output = tools.ready().await?.call(ToolCall::new("shell", "{}")).await?;
//! assert!(output.outcome.is_denied());
//! # Ok(())
//! # }
//! ```
//!
//! The same layer also stands around a model, where it takes the refused tools out of the request, so that the model
//! does not ask for them in the first place. Clones share one list:
//!
//! ```
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_agent::{DenyListLayer, Error, Message, ModelRequest, ModelResponse, Reply, ToolSpec};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_agent::BoxError> {
//! let no_shell = DenyListLayer::new(["shell", "*_admin"])?;
//! let mut model = ServiceBuilder::new()
//!     .layer(no_shell.clone()) // and `.layer(no_shell)` around the tools
//!     .service(service_fn(|request: ModelRequest| async move {
//!         let seen: Vec<_> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
//!         Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(seen.join(" ")))))
//!     }));
//!
//! let mut request = ModelRequest::new("demo", vec![Message::user("hello")]);
//! for name in ["read_file", "shell", "delete_user_admin"] {
//!     request.tools.push(ToolSpec::new(name, ""));
//! }
//! let reply = model.ready().await?.call(request).await?.body.collect().await?;
//! assert_eq!(reply.message.text(), "read_file");
//! # Ok(())
//! # }
//! ```
//!
//! # Placement
//!
//! Around a tool set, below the observers (trace, metrics, audit), so that they see what was refused, and above
//! everything that may run something. Around a model, anywhere. The check at call time stays even where the model never saw
//! the tool: models make names up.
//!
//! # What a refusal looks like
//!
//! An output with [`Outcome::Denied`](crate::Outcome::Denied), the code `not_allowed` and a text that quotes the tool. In the text, all
//! but plain ASCII is escaped, so that a name that only looks like another one is seen for what it is.
//!
//! # Errors
//!
//! The layers raise none and look at none.
//!
//! # Cancellation
//!
//! Nothing is held: dropping the future drops the inner one.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    Denial, ModelRequest, ModelResponse, Names, NamesError, Operation, ToolCall, ToolChoice,
    ToolOutput,
};

macro_rules! name_list {
    ($layer:ident, $service:ident, $label:literal, $listed:literal, $what:literal) => {
        #[doc = concat!("Lets ", $what, " tools run; see the [module](self).")]
        #[derive(Clone, Debug)]
        pub struct $layer {
            names: Arc<Names>,
        }

        #[doc = concat!("What [`", stringify!($layer), "`] makes of a service.")]
        #[derive(Clone, Debug)]
        pub struct $service<S> {
            inner: S,
            names: Arc<Names>,
        }

        impl $layer {
            /// A list of exact names and globs.
            ///
            /// # Errors
            /// When a glob is malformed; the error names it.
            pub fn new<N: AsRef<str>>(
                names: impl IntoIterator<Item = N>,
            ) -> Result<Self, NamesError> {
                Names::new(names).map(Self::from)
            }

            /// A list of exact names, whatever characters they have.
            pub fn exact<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
                Names::exact(names).into()
            }

            /// Whether a tool of this name may run.
            #[must_use]
            pub fn permits(&self, name: &str) -> bool {
                self.names.contains(name) == $listed
            }
        }

        impl From<Names> for $layer {
            fn from(names: Names) -> Self {
                Self { names: Arc::new(names) }
            }
        }

        impl<S> Layer<S> for $layer {
            type Service = $service<S>;

            fn layer(&self, inner: S) -> $service<S> {
                $service { inner, names: Arc::clone(&self.names) }
            }
        }

        impl<S> $service<S> {
            /// Puts a list around a service.
            pub fn new(inner: S, names: Names) -> Self {
                Self { inner, names: Arc::new(names) }
            }

            /// The layer of a list.
            #[must_use]
            pub fn layer(names: Names) -> $layer {
                names.into()
            }

            inner_accessors!();

            fn permits(&self, name: &str) -> bool {
                self.names.contains(name) == $listed
            }
        }

        impl<S: Service<ToolCall, Response = ToolOutput>> Service<ToolCall> for $service<S> {
            type Response = ToolOutput;
            type Error = S::Error;
            type Future = ResponseFuture<S::Future>;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
                self.inner.poll_ready(cx)
            }

            fn call(&mut self, call: ToolCall) -> Self::Future {
                if self.permits(&call.name) {
                    return ResponseFuture::inner(self.inner.call(call));
                }
                ResponseFuture::denied(call.denied(refusal(&call.name).by($label)))
            }
        }

        impl<S: Service<ModelRequest, Response = ModelResponse>> Service<ModelRequest>
            for $service<S>
        {
            type Response = ModelResponse;
            type Error = S::Error;
            type Future = S::Future;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
                self.inner.poll_ready(cx)
            }

            fn call(&mut self, mut request: ModelRequest) -> S::Future {
                hide(&mut request, |name| self.permits(name));
                self.inner.call(request)
            }
        }
    };
}

name_list!(AllowListLayer, AllowList, "allow_list", true, "only the listed");
name_list!(DenyListLayer, DenyList, "deny_list", false, "all but the listed");

fn refusal(name: &str) -> Denial {
    let text = format!(
        "The tool {} is not available in this deployment; the call did not run. Do not call it again. Use the tools that you were given.",
        Quoted(name)
    );
    Denial::new(text).code("not_allowed")
}

/// Takes the refused tools out of a request, and a choice that can no longer be met.
fn hide(request: &mut ModelRequest, permits: impl Fn(&str) -> bool) {
    request.tools.retain(|spec| permits(&spec.name));
    let impossible = match &request.tool_choice {
        Some(ToolChoice::Tool(name)) => !permits(name),
        Some(ToolChoice::Required) => request.tools.is_empty(),
        _ => false,
    };
    if impossible {
        request.tool_choice = None;
    }
}

/// A name as it stands in a text, with every character visible.
struct Quoted<'a>(&'a str);

impl Quoted<'_> {
    /// Names are at most 128 characters long in MCP; what is longer was made up.
    const SHOWN: usize = 128;
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        f.write_str("\"")?;
        for character in characters.by_ref().take(Self::SHOWN) {
            write!(f, "{}", character.escape_default())?;
        }
        f.write_str(if characters.next().is_some() { "..\"" } else { "\"" })
    }
}

pin_project! {
    /// The inner answer, or a refusal that is known at once.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F> {
        Inner { #[pin] future: F },
        Denied { output: Option<Box<ToolOutput>> },
    }
}

impl<F> ResponseFuture<F> {
    fn inner(future: F) -> Self {
        Self { state: State::Inner { future } }
    }

    fn denied(output: ToolOutput) -> Self {
        Self { state: State::Denied { output: Some(Box::new(output)) } }
    }
}

impl<F: Future<Output = Result<ToolOutput, E>>, E> Future for ResponseFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.project().state.project() {
            StateProjection::Inner { future } => future.poll(cx),
            StateProjection::Denied { output } => match output.take() {
                Some(output) => Poll::Ready(Ok(*output)),
                None => Poll::Pending,
            },
        }
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
