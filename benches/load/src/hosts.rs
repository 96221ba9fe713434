//! The servers that are measured, each on one thread.

use std::{
    future::{Future, Ready, ready},
    io::{self, Write},
    time::Duration,
};

use axum::{Router, routing::get};
use futures_util::stream;
use tokio::{net::TcpListener, runtime::Builder, time::sleep};
use tower::{Service, ServiceBuilder, service_fn};
use tower_agent::{
    Agent, AllowListLayer, CatchPanicLayer, ConcurrencyLimitLayer, Error, LogLayer, Message,
    MetricsLayer, ModelRequest, ModelResponse, Part, Reply, ReportErrorsLayer, Role, RunEvent,
    RunRequest, RunResponse, TimeoutLayer, Tool, ToolCallPart, ToolOutput, ToolSet, ToolSetBuilder,
    ToolSpec, TruncateLayer,
};
use tower_agent_axum::{RunStore, run_router, serve};

/// How many events are kept of a stream that can be read on.
pub(crate) const EVENTS: usize = 32;

/// Who answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Host {
    /// axum alone, which says hello.
    Axum,
    /// An agent without layers.
    Bare,
    /// The same agent in ten layers.
    Layers,
    /// The same again, whose runs can be read on.
    Resumable,
    /// An agent that says something ten times a second, for ever.
    Ticking,
    /// The same, whose runs can be read on.
    TickingResumable,
}

impl Host {
    pub(crate) const ALL: [Self; 6] = [
        Self::Axum,
        Self::Bare,
        Self::Layers,
        Self::Resumable,
        Self::Ticking,
        Self::TickingResumable,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::Bare => "bare",
            Self::Layers => "layers",
            Self::Resumable => "resumable",
            Self::Ticking => "ticking",
            Self::TickingResumable => "ticking-resumable",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }

    fn app(self) -> Router {
        let store = || RunStore::new().max_runs(100_000).max_runs_per_user(100_000);
        match self {
            Self::Axum => Router::new().route("/", get(async || "Hello, World!")),
            Self::Bare => run_router(bare()).into(),
            Self::Layers => run_router(layers()).into(),
            Self::Resumable => run_router(layers()).resumable(store()).into(),
            Self::Ticking => run_router(ticking()).into(),
            // So few that their room is full before the memory is looked at.
            Self::TickingResumable => {
                run_router(ticking()).resumable(store().events_per_run(EVENTS)).into()
            }
        }
    }
}

/// Serves until the process is killed, and says where.
pub(crate) fn run(host: Host) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        io::stdout().flush()?;
        match host {
            Host::Axum => axum::serve(listener, host.app()).await,
            _ => serve(listener, host.app()).await,
        }
    })
}

/// One call of a tool, then the answer.
fn script(request: &ModelRequest) -> Ready<Result<ModelResponse, Error>> {
    let asked = request.messages.iter().any(|message| *message.role() == Role::Tool);
    let part = if asked {
        Part::text("It says hello.")
    } else {
        Part::ToolCall(ToolCallPart::new("call_1", "read_file", r#"{"path":"hello.txt"}"#))
    };
    ready(Ok(ModelResponse::full(Reply::new(Message::new(Role::Assistant, vec![part])))))
}

fn tools() -> ToolSetBuilder {
    let spec = ToolSpec::new("read_file", "Reads a file");
    ToolSet::builder().tool(Tool::raw(spec, |_| ready(ToolOutput::text("Hello!"))))
}

fn bare() -> Agent<
    impl Service<ModelRequest, Response = ModelResponse, Error = Error, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static,
> {
    let tools = tools().build().expect("the set is sound");
    Agent::builder("demo", service_fn(|request| script(&request))).tools(tools).build()
}

/// As a host would have them: four around the tools, three around the model, three around the run.
fn layers() -> impl Service<RunRequest, Response = RunResponse, Error = Error, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    let (metrics, minute) = (MetricsLayer::new(), Duration::from_secs(60));
    let around_tools = ServiceBuilder::new()
        .layer(metrics.clone())
        .layer(AllowListLayer::new(["read_file"]).expect("a name is no bad glob"))
        .layer(TruncateLayer::default())
        .layer(ReportErrorsLayer::new());
    let tools = tools().layer(around_tools).build();
    let model = ServiceBuilder::new()
        .layer(metrics.clone())
        .layer(TimeoutLayer::new(minute))
        .layer(ConcurrencyLimitLayer::new(1000))
        .service(service_fn(|request| script(&request)));
    let agent = Agent::builder("demo", model).tools(tools.expect("the set is sound")).build();
    ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(metrics)
        .layer(CatchPanicLayer::new())
        .service(agent)
}

fn ticking() -> impl Service<RunRequest, Response = RunResponse, Error = Error, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    service_fn(|_: RunRequest| {
        let events = stream::unfold(1, |turn: u32| async move {
            if turn > 1 {
                sleep(Duration::from_millis(100)).await;
            }
            let message =
                Message::assistant("Some words, as many as a model says in a tenth of a second.");
            Some((Ok(RunEvent::Message { turn, message }), turn.wrapping_add(1)))
        });
        ready_run(RunResponse::new(events))
    })
}

fn ready_run(run: RunResponse) -> impl Future<Output = Result<RunResponse, Error>> + Send {
    ready(Ok(run))
}
